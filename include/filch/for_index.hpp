// for_index: a loop that splits only when a worker waits for work.
#pragma once

#include <filch/default_scheduler.hpp>
#include <filch/detail/body.hpp>
#include <filch/detail/lengths.hpp>
#include <filch/detail/pieces.hpp>

#include <concepts>
#include <type_traits>

namespace filch::inline FILCH_ABI {
namespace detail {

/// Calls f with each index. Position 0 is the index `begin`. f gets a copy of the index, which it may take by
/// reference and write.
template <class Index, class Fn> struct index_piece {
  using position_type = position_of_index<Index>;
  Index begin;
  body_of<Fn, Index&> f;

  void run(position_type first, position_type last) const {
    Index i = detail::iteration_after(begin, first);
    FILCH_UNROLL
    for (auto left = static_cast<std::size_t>(last - first); left != 0; --left, ++i) {
      Index own = i;
      static_cast<void>(f(own));
    }
  }
  index_piece split(position_type, position_type) const { return *this; }
  void merge(index_piece&) const noexcept {}
};

template <class Sched, loop_index Index, class Fn, class Stop>
void for_index(Stop& stop, Index first, Index last, Fn& f) {
  if (!(first < last)) return;
  index_piece<Index, Fn> piece{first, {f}};
  detail::run_pieces<Sched>(0, detail::iterations_in(first, last), piece, stop);
}

}  // namespace detail

/// Calls f(i) for every i of [first, last), in ascending order within each piece. The pieces may run in parallel, so
/// several workers may call f at once.
///
/// There is no grain size. A plain loop runs in stretches of at most 64 iterations, and of about a microsecond if a
/// stretch has more than one. Between stretches it looks
/// whether a worker waits for work. If one does, and half of the rest is worth a steal by what iterations of Fn cost
/// before, the rest is split in half.
///
/// Bounds are integers of up to 128 bits. The index has the type of `last`, as in `for (Last i = first; i < last;
/// ++i)`: `for_index(0, v.size(), f)`. f gets an index of its own, which it may take by reference. Its result is
/// dropped. A small f that is trivially copyable and callable as const is copied; any other f is called in place.
///
/// If f throws, stretches and pieces that have not begun do not begin. After all that have begun have ended, the
/// exception of the lowest index that threw leaves. Which other iterations ran is unspecified. An empty or reversed
/// range does nothing. Outside all pools it enters the default pool. Continues where `join` may. Cost: a load and a
/// compare for each stretch, and a clock read for each microsecond or more (docs/decisions/0011-loops.md). Paper:
/// A. Tzannes et al., Lazy binary-splitting: a run-time adaptive work-stealing scheduler, PPoPP 2010, which splits
/// late.
template <scheduler Sched = default_scheduler, detail::loop_index Index, class Fn>
void for_index(Index first, Index last, Fn&& f) {
  detail::never_stopped never;
  detail::for_index<Sched>(never, first, last, f);
}
/// The same for bounds of two types.
template <scheduler Sched = default_scheduler, detail::loop_index First, detail::loop_index Last, class Fn>
  requires(!std::same_as<First, Last>)
void for_index(First first, Last last, Fn&& f) {
  detail::never_stopped never;
  detail::for_index<Sched>(never, static_cast<Last>(first), last, f);
}

/// The same until a stop is requested of `token`, which each worker reads before each stretch. Stretches that have
/// not begun do not begin then. Returns true if every iteration ran, false if a stretch did not begin.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, detail::loop_index Index, class Fn>
bool for_index(Token const& token, Index first, Index last, Fn&& f) {
  detail::stop_request stop(token);
  detail::for_index<Sched>(stop, first, last, f);
  return !stop.was_seen();
}
/// The same for bounds of two types.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, detail::loop_index First,
          detail::loop_index Last, class Fn>
  requires(!std::same_as<First, Last>)
bool for_index(Token const& token, First first, Last last, Fn&& f) {
  detail::stop_request stop(token);
  detail::for_index<Sched>(stop, static_cast<Last>(first), last, f);
  return !stop.was_seen();
}

}  // namespace filch::inline FILCH_ABI

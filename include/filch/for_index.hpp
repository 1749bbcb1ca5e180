// for_index: a loop that splits only when a worker waits for work.
#pragma once

#include <filch/default_scheduler.hpp>
#include <filch/detail/loop_engine.hpp>

#include <concepts>
#include <type_traits>

namespace filch::inline FILCH_ABI {
namespace detail {

/// May each piece of a loop call a copy of f? No pointer refers to the copy, so its captures stay in registers
/// although the body writes through pointers.
template <class Fn, class Index> consteval bool body_is_copied() {
  if constexpr (std::is_object_v<Fn>) {
    return is_small_and_trivial<Fn>(64, 16) && std::is_trivially_copy_constructible_v<Fn> &&
           std::is_invocable_v<Fn const&, Index&>;
  } else {
    return false;
  }
}

/// f as the body of a loop. f gets a copy of the index, which it may take by reference and write.
template <class Fn, class Index> struct index_body {
  std::conditional_t<body_is_copied<Fn, Index>(), Fn, Fn&> f;
  FILCH_INLINE void operator()(Index index) const { static_cast<void>(f(index)); }
};

}  // namespace detail

/// Calls f(i) for every i of [first, last), in ascending order within each piece. The pieces may run in parallel, so
/// several workers may call f at once.
///
/// There is no grain size. A plain loop runs in stretches of at most 64 iterations, and of about a microsecond if a
/// stretch has more than one. Between stretches it looks whether a worker waits for work. If one does, and half of
/// the rest is worth a steal by what iterations of Fn cost before, the rest is split in half.
///
/// Both bounds have one type, an integer's: `for_index(std::size_t{0}, v.size(), f)`. f gets an index of its own,
/// which it may take by reference. Its result is dropped. A small f that is trivially copyable and callable as const
/// is copied for each piece; any other f is called in place.
///
/// If f throws, the rest of its piece is skipped and the other pieces run to their end. Then the exception of the
/// lowest piece leaves. An empty or reversed range does nothing. Outside all pools it enters the default pool.
/// Continues where `join` may. Cost: a load and a compare for each stretch, and a clock read for each microsecond or
/// more (docs/decisions/0011-loops.md). Paper: A. Tzannes et al., Lazy binary-splitting: a run-time adaptive
/// work-stealing scheduler, PPoPP 2010, which splits late.
template <scheduler Sched = default_scheduler, std::integral Index, class Fn>
  requires(!std::same_as<Index, bool>)
void for_index(Index first, Index last, Fn&& f) {
  if (!(first < last)) return;
  using body = detail::index_body<std::remove_reference_t<Fn>, Index>;
  detail::inside_pool<Sched>([&] { detail::split_on_demand<Sched>(first, last, body{f}); });
}

}  // namespace filch::inline FILCH_ABI

// The loop engine: the one place that splits loops. for_index and every algorithm run on it. loop_pace.hpp says how
// far a loop runs between two looks.
//
// A loop runs over positions [first, last). A piece is the state of a contiguous part of it: the user's function and,
// in a reduction, the value of the part so far. A piece runs in stretches. After each stretch it asks the scheduler
// whether a worker waits for work. If one does, and the rest is worth a steal, the piece gives the upper half of the
// rest away: `split` makes the state of the upper half, a join runs both halves, `merge` combines them.
//
// A loop that nobody splits reads no shared word but the scheduler's. The first split makes a loop_end, which tells
// the pieces of this loop where to end early.
#pragma once

#include <filch/detail/loop_pace.hpp>
#include <filch/detail/stopping.hpp>
#include <filch/scheduler.hpp>

#include <atomic>
#include <concepts>
#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <new>
#include <type_traits>

namespace filch::inline FILCH_ABI::detail {

/// The state of a part of a loop.
///  - `run(first, last)` runs one stretch: 1 to 64 positions that follow those it ran before. It returns void, or
///  false
///    to end this piece. Then all pieces above this one end, too; all pieces of the loop if `Piece::k_ends_all`.
///    A small trivially copyable piece is copied around its stretches, so that its state is in registers: it keeps no
///    pointer to itself.
///  - `split(middle, last)` returns the state of a new piece that will run [middle, last). It is called between two
///    stretches on the worker that runs this piece, which keeps the positions below middle.
///  - `merge(upper)` appends `upper`, which ran the positions right above this piece's. It is called once for each
///    split, after both have ended, unless one of them threw or the loop was stopped by its token. If the loop ends
///    early, `upper` may have run in part, or not at all.
///  - `abandon(upper)`, if there is one, is called in place of merge after the loop was stopped by its token.
template <class Piece>
concept loop_piece = requires(Piece& piece, std::size_t position) {
  piece.run(position, position);
  { piece.split(position, position) } -> std::same_as<Piece>;
  piece.merge(piece);
};

/// Where the pieces of one loop end before their last position. Made by the first split.
class loop_end {
 public:
  /// Is there no need to run `position` and those above it?
  bool is_before(std::size_t position) const noexcept {
    // relaxed: a hint that saves work. Results and exceptions travel with the joins.
    return end_.load(std::memory_order_relaxed) <= position;
  }
  /// Positions above `position` need not run.
  void lower_to(std::size_t position) noexcept {
    std::size_t end = end_.load(std::memory_order_relaxed);
    // relaxed: as above.
    while (position < end && !end_.compare_exchange_weak(end, position, std::memory_order_relaxed)) {
    }
  }

 private:
  std::atomic<std::size_t> end_{std::numeric_limits<std::size_t>::max()};
};

/// Measuring and checking tools hang on this. The engine calls it where pieces begin and end.
struct piece_observer {
  /// A piece of [first, last) begins or has ended on this thread. A piece that throws has no end.
  void (*begins)(std::size_t first, std::size_t last) noexcept;
  void (*ends)(std::size_t first, std::size_t last) noexcept;
  /// Is each piece split into pieces of one iteration?
  bool splits_all;
};

/// The observer of this process, or null. Set it while no loop runs.
inline constinit std::atomic<piece_observer const*> observer_of_pieces{nullptr};

FILCH_COLD inline void piece_begins(piece_observer const& observer, std::size_t first, std::size_t last) noexcept {
  if (observer.begins != nullptr) observer.begins(first, last);
}
FILCH_COLD inline void piece_ends(piece_observer const& observer, std::size_t first, std::size_t last) noexcept {
  if (observer.ends != nullptr) observer.ends(first, last);
}

/// Runs one stretch. False: the piece ends.
template <class Piece> FILCH_INLINE bool run_stretch(Piece& piece, std::size_t first, std::size_t last) {
  if constexpr (std::is_void_v<decltype(piece.run(first, last))>) {
    piece.run(first, last);
    return true;
  } else {
    return piece.run(first, last);
  }
}

template <class Piece> consteval bool ends_all_pieces() {
  if constexpr (requires { Piece::k_ends_all; }) {
    return Piece::k_ends_all;
  } else {
    return false;
  }
}

template <class Piece> consteval std::size_t positions_of_turn() {
  if constexpr (requires { Piece::k_turn; }) {
    return Piece::k_turn;
  } else {
    return 1;
  }
}

template <class Piece>
inline constexpr bool piece_runs_as_copy =
    std::is_trivially_copyable_v<Piece> && std::is_trivially_copy_constructible_v<Piece> && sizeof(Piece) <= 128 &&
    alignof(Piece) <= 16;

/// Runs stretches until a worker waits for work and the rest, of two or more positions, is worth splitting. Returns
/// the first position that has not run; `last` if the piece has ended. A function of its own without joins, so that
/// the compiler has all registers for the piece. `end` is null if the loop has not been split.
template <class Sched, class Piece, class Stop>
[[gnu::noinline]] std::size_t run_until_wanted(std::size_t const begin, std::size_t const last, Piece& given,
                                               Stop& stop, loop_end* const end) {
  std::conditional_t<piece_runs_as_copy<Piece>, Piece, Piece&> piece = given;
  loop_history& history = history_of<Piece>;
  loop_pace pace(history, detail::positions_of_turn<Piece>());
  std::size_t first = begin;
  bool is_over = false;
  do {
    if (stop.is_requested() || (end != nullptr && end->is_before(first))) {
      is_over = true;
      break;
    }
    std::size_t const longest = pace.stretch();
    std::size_t const next = last - first <= longest ? last : first + longest;
    if (!detail::run_stretch(piece, first, next)) {
      if (end != nullptr) end->lower_to(detail::ends_all_pieces<Piece>() ? 0 : first);
      is_over = true;
      break;
    }
    first = next;
    if (first == last) break;
    pace.stretch_ran();
    if ((!looks_are_dear<Sched> || pace.is_time_to_look()) && Sched::wanted()) [[unlikely]] {
      if (last - first > 1 && pace.is_worth_splitting(ticks_worth_splitting<Sched>, last - first)) break;
    }
  } while (true);
  if constexpr (piece_runs_as_copy<Piece>) ::new (static_cast<void*>(std::addressof(given))) Piece(piece);
  if (first != begin) {
    history.ran(first - begin, static_cast<std::uint64_t>(loop_ticks() - pace.began()), pace.slow_ticks());
  }
  return is_over ? last : first;
}

template <class Sched, class Piece, class Stop>
void run_piece(std::size_t first, std::size_t last, Piece& piece, Stop& stop, loop_end* end);

/// Gives the upper half of [first, last) away, and runs the lower half.
template <class Sched, class Piece, class Stop>
FILCH_OUTLINE void split_piece(std::size_t const first, std::size_t const last, Piece& piece, Stop& stop,
                               loop_end& end) {
  std::size_t const middle = first + (last - first) / 2;
  Piece upper = piece.split(middle, last);
  Sched::join([first, middle, &piece, &stop, &end] { detail::run_piece<Sched>(first, middle, piece, stop, &end); },
              [middle, last, &upper, &stop, &end] { detail::run_piece<Sched>(middle, last, upper, stop, &end); });
  if (!stop.was_seen()) {
    piece.merge(upper);
  } else if constexpr (requires { piece.abandon(upper); }) {
    piece.abandon(upper);
  }
}

/// Runs [first, last), which is not empty. If a worker waits, splits also before the first position, which alone may
/// be long.
template <class Sched, class Piece, class Stop>
void run_piece_alone(std::size_t first, std::size_t const last, Piece& piece, Stop& stop, loop_end* const end,
                     bool const splits_all) {
  std::size_t const all = last - first;
  bool const is_shared_first =
      all > 1 &&
      (splits_all || (Sched::wanted() && history_of<Piece>.cost().is_at_least(ticks_worth_splitting<Sched>, all)));
  if (!is_shared_first) first = detail::run_until_wanted<Sched>(first, last, piece, stop, end);
  if (first == last) return;
  if (end != nullptr) return detail::split_piece<Sched>(first, last, piece, stop, *end);
  loop_end first_end;
  detail::split_piece<Sched>(first, last, piece, stop, first_end);
}

/// One piece from its beginning to its end. All pieces begin and end here.
template <class Sched, class Piece, class Stop>
void run_piece(std::size_t const first, std::size_t const last, Piece& piece, Stop& stop, loop_end* const end) {
  if (end != nullptr && end->is_before(first)) return;
  // acquire: the observer's functions see what was written before it was set.
  piece_observer const* const observer = observer_of_pieces.load(std::memory_order_acquire);
  if (observer != nullptr) [[unlikely]]
    detail::piece_begins(*observer, first, last);
  bool const splits_all = observer != nullptr && observer->splits_all;
  try {
    detail::run_piece_alone<Sched>(first, last, piece, stop, end, splits_all);
  } catch (...) {
    if (end != nullptr) end->lower_to(0);
    throw;
  }
  if (observer != nullptr) [[unlikely]]
    detail::piece_ends(*observer, first, last);
}

/// Runs the positions [first, last) of a loop, perhaps in parallel. Afterwards `piece` is the state of all of them.
/// Outside all pools enters the default pool.
///
/// If a position throws, stretches and pieces that have not begun do not begin. The exception of the lowest of the
/// positions that threw leaves. The same is true of `split` and `merge`.
template <class Sched, loop_piece Piece, class Stop>
void run_pieces(std::size_t first, std::size_t last, Piece& piece, Stop& stop) {
  if (first >= last) return;
  detail::inside_pool<Sched>([&] { detail::run_piece<Sched>(first, last, piece, stop, nullptr); });
}
template <class Sched, loop_piece Piece> void run_pieces(std::size_t first, std::size_t last, Piece& piece) {
  never_stopped never;
  detail::run_pieces<Sched>(first, last, piece, never);
}

}  // namespace filch::inline FILCH_ABI::detail

// The loop engine: the one place that splits loops. for_index and every algorithm run on it. loop_pace.hpp says how
// far a loop runs between two looks, and loop_worth.hpp whether its rest is worth a steal.
//
// A loop runs over positions [first, last). A piece is the state of a contiguous part of it: the user's function and,
// in a reduction, the value of the part so far. A piece runs in stretches. After a stretch it asks the scheduler
// whether a worker waits for work, unless the answer would not matter. If one does, and the rest is worth a steal,
// the piece gives the upper half of the rest away: `split` makes the state of the upper half, a join runs both
// halves, `merge` combines them.
//
// An unsplit loop reads no shared word but the scheduler's. The first split makes a loop_end, which tells the pieces
// of this loop where to end early.
#pragma once

#include <filch/detail/loop_block.hpp>
#include <filch/detail/loop_end.hpp>
#include <filch/detail/loop_pace.hpp>
#include <filch/detail/loop_worth.hpp>
#include <filch/detail/standard.hpp>
#include <filch/detail/stopping.hpp>
#include <filch/scheduler.hpp>

#include <algorithm>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <new>
#include <type_traits>

namespace filch::inline FILCH_ABI::detail {

template <class Piece>
concept piece_with_runner =
    requires(Piece& piece, position_of<Piece> position) { piece.ran(piece.runner(position), position); };

/// The object that runs the stretches of a piece from `first` on: its runner, a copy of the piece, or the piece.
template <class Piece>
FILCH_INLINE decltype(auto) runner_of(Piece& piece, [[maybe_unused]] position_of<Piece> first) {
  if constexpr (piece_with_runner<Piece>) {
    return piece.runner(first);
  } else if constexpr (is_cheap_to_copy<Piece>) {
    return Piece(piece);
  } else {
    return (piece);
  }
}
/// The runner has run up to `last`, and will not be used any more.
template <class Piece, class Runner>
FILCH_INLINE void keep_runner(Piece& piece, Runner const& runner, [[maybe_unused]] position_of<Piece> last) {
  if constexpr (piece_with_runner<Piece>) {
    piece.ran(runner, last);
  } else if constexpr (is_cheap_to_copy<Piece>) {
    ::new (static_cast<void*>(std::addressof(piece))) Piece(runner);
  }
}

/// The state of a part of a loop.
///  - `run(first, last)` runs one stretch, the positions that follow those it ran before: 1 to 64, or up to
///    64 * Piece::k_turn if there is a k_turn, or one of its source Piece::in. Loops without functions of the user
///    have one. With a `k_long_stretches`, up to 16,384 where vector instructions run them: functions that return a
///    value likely do nothing else. It returns void, or false to end this piece. Then all pieces above this one end,
///    too; all pieces of the loop if `Piece::k_ends_all`. A small trivially copyable piece is copied around its
///    stretches, so that its state is in registers: it keeps no pointer to itself. Any other piece may have
///    `runner(first)`, which returns an object with `run` that runs the stretches from `first` on in its place, and
///    `ran(runner, last)`, which takes the state back at `last`, unless a stretch threw. Small runners are copied,
///    too. If the runner has `lead()`, and it is less than a stretch, a block is one stretch of so many positions, so
///    that later stretches begin where rows do.
///  - `split(middle, last)` returns the state of a new piece that will run [middle, last). It is called between two
///    stretches on the worker that runs this piece, which keeps the positions below middle.
///  - `merge(upper)` appends `upper`, which ran the positions right above this piece's. It is called once for each
///    split, after both have ended, unless one of them threw or the loop was stopped by its token. If the loop ends
///    early, `upper` may have run in part, or not at all.
///  - `abandon(upper)`, if there is one, is called in place of merge after the loop was stopped by its token.
///  - `split_ticks(ran, left)`, if there is one, returns the clock ticks that a split costs beside the steal, most of
///    them in merge: `ran` positions have run since the last split, `left` are left. Such a piece is not copied
///    around its stretches.
///
/// A piece may have `run_stretches(first, last, stop, end, plan)` in place of `run`. It calls run_until_wanted
/// for another piece, whose type it alone knows. So loops with many bodies share the rest of the engine, and compile
/// in a third of the time.
template <class Piece>
concept piece_with_stretches =
    requires(Piece& piece, position_of<Piece> position, never_stopped& stop, loop_end* end) {
      { piece.run_stretches(position, position, stop, end, loop_plan{}) } -> std::same_as<position_of<Piece>>;
    };
template <class Piece>
concept piece_with_run = requires(Piece& piece, position_of<Piece> position) {
  detail::runner_of(piece, position).run(position, position);
};
template <class Piece>
concept loop_piece =
    (piece_with_run<Piece> || piece_with_stretches<Piece>) && requires(Piece& piece, position_of<Piece> position) {
      { piece.split(position, position) } -> std::same_as<Piece>;
      piece.merge(piece);
    };

/// Measuring and checking tools hang on this. The engine calls it where pieces begin and end.
struct piece_observer {
  /// A piece of [first, last) begins or has ended on this thread. A piece that throws has no end. Positions are those
  /// that `in_word` makes of them.
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

/// Does the scheduler ask for pieces of one iteration? It checks programs for races.
template <class Sched> inline constexpr bool splits_all_pieces = requires { Sched::k_is_checked; };

/// Runs stretches until a worker waits for work and the rest, of two or more positions, is worth splitting. Returns
/// the first position that has not run; `last` if the piece has ended. A function of its own without joins, so that
/// the compiler has all registers for the piece. `end` is null if the loop has not been split.
///
/// The stretches of a block have one length, so compilers prepare their loop once for each block.
template <class Sched, class Piece, class Stop>
[[gnu::noinline]] position_of<Piece> run_until_wanted(position_of<Piece> const begin, position_of<Piece> const last,
                                                      Piece& piece, Stop& stop, loop_end* const end,
                                                      loop_plan const plan) {
  if constexpr (splits_all_pieces<Sched>) {
    if ((end != nullptr && end->is_before(begin)) || stop.is_requested()) return last;
    auto&& only = detail::runner_of(piece, begin);
    bool const goes_on = detail::run_stretch(only, begin, last);
    if (!goes_on && end != nullptr) end->lower_to(detail::ends_all_pieces<Piece>() ? position_of<Piece>{0} : begin);
    detail::keep_runner(piece, only, last);
    return last;
  }
  static_assert(!(piece_dear_to_split<Piece> && is_cheap_to_copy<Piece>),
                "split_ticks would see the state before its stretches ran: a copy of it runs");
  loop_history& history = detail::history_for(piece);
  loop_pace pace(history, detail::positions_of_turn<Piece>(), detail::most_turns_of_stretch<Piece>(), plan);
  auto&& runner = detail::runner_of(piece, begin);
  position_of<Piece> first = begin;
  block_ended ended = block_ended::whole;
  do {
    position_of<Piece> const block = first;
    std::size_t const left = detail::in_word(last - first);
    std::size_t stretch = std::min(pace.stretch(), left);
    position_of<Piece> block_last = first + pace.block_of(left);
    std::size_t const lead = detail::lead_of(runner, first, pace.stretch());
    if (lead < stretch) block_last = first + (stretch = lead);
    bool const is_due = pace.is_time_to_look();
    ended = detail::run_any_block<Sched, Piece>(first, block_last, stretch, runner, stop, end, is_due);
    if (ended == block_ended::over || first == last) break;
    pace.ran(static_cast<std::size_t>(first - block));
    std::size_t const ran = detail::in_word(first - begin);
    std::size_t const rest = detail::in_word(last - first);
    if (ended == block_ended::wanted || detail::is_wanted_at_end<Sched>(pace, piece, ran, rest)) {
      bool const is_worth = rest > 1 && detail::is_worth_splitting<Sched>(pace, piece, ran, rest);
      if (is_worth && (end != nullptr || !pace.stays_alone(history, detail::in_word(last - begin)))) break;
    }
  } while (true);
  detail::keep_runner(piece, runner, first);
  bool const is_over = ended == block_ended::over;
  if (first != begin) {
    auto const ticks = static_cast<std::uint64_t>(loop_ticks() - pace.began());
    history.ran(detail::in_word(first - begin), ticks, pace.slow_ticks());
    if constexpr (paces_wakeups<Sched>) {
      if (pace.ran_alone() && (is_over || first == last) && Sched::wanted()) Sched::ran_alone(ticks);
    }
    if (pace.planned_alone() != 0) [[unlikely]] {
      loop_trial& trial = history.trial_of(detail::in_word(last - begin));
      if (ticks > pace.planned_alone()) {
        trial.was_too_long();
      } else if (!is_over) {
        trial.was_alone(ticks);
      }
    }
  }
  return is_over ? last : first;
}

template <class Sched, class Piece, class Stop>
void run_piece(position_of<Piece> first, position_of<Piece> last, Piece& piece, Stop& stop, loop_end* end);

/// Gives the upper half of [first, last) away, and runs the lower half. Returns whether another worker ran it.
template <class Sched, class Piece, class Stop>
FILCH_OUTLINE bool split_piece(position_of<Piece> const first, position_of<Piece> const last, Piece& piece,
                               Stop& stop, loop_end& end) {
  position_of<Piece> const middle = first + (last - first) / 2;
  Piece upper = piece.split(middle, last);
  bool is_stolen = false;
  unsigned const me = Sched::worker_index();
  Sched::join([first, middle, &piece, &stop, &end] { detail::run_piece<Sched>(first, middle, piece, stop, &end); },
              [middle, last, &upper, &stop, &end, me, &is_stolen] {
                is_stolen = Sched::worker_index() != me;
                detail::run_piece<Sched>(middle, last, upper, stop, &end);
              });
  // After an exception in another piece a merge might do all that is left.
  if (!stop.was_seen() && !end.has_failed()) {
    piece.merge(upper);
  } else if constexpr (requires { piece.abandon(upper); }) {
    piece.abandon(upper);
  }
  return is_stolen;
}

/// The same for a whole loop, of `all` positions, that was not split before. Measures how long it takes.
template <class Sched, class Piece, class Stop>
void split_loop(position_of<Piece> const first, position_of<Piece> const last, Piece& piece, Stop& stop,
                std::size_t all) {
  loop_end end;
  std::int64_t const began = loop_ticks();
  bool const is_stolen = detail::split_piece<Sched>(first, last, piece, stop, end);
  if (end.is_lowered() || stop.was_seen()) return;
  auto const ticks = static_cast<std::uint64_t>(loop_ticks() - began);
  detail::history_for(piece).trial_of(all).was_split(detail::in_word(last - first), ticks, is_stolen);
}

/// Runs [first, last), which is not empty. If a worker waits, splits also before the first position, which alone may
/// be long.
template <class Sched, class Piece, class Stop>
void run_piece_alone(position_of<Piece> first, position_of<Piece> const last, Piece& piece, Stop& stop,
                     loop_end* const end, bool const splits_all) {
  std::size_t const all = detail::in_word(last - first);
  whole_loop shared = whole_loop::is_not_wanted;
  loop_plan plan;
  if (splits_all) {
    if (all > 1) shared = whole_loop::is_split;
  } else if (all > 1) {
    shared = detail::look_at_whole<Sched>(piece, all);
    plan.wakes_nobody = shared == whole_loop::is_worth_no_wakeup;
    bool const may_be_split = shared != whole_loop::is_not_wanted;
    if (end == nullptr && may_be_split) plan.ticks_alone = detail::history_for(piece).ticks_alone(all);
  }
  if (shared != whole_loop::is_split || plan.ticks_alone != 0) {
    if constexpr (piece_with_stretches<Piece>) {
      first = piece.run_stretches(first, last, stop, end, plan);
    } else {
      first = detail::run_until_wanted<Sched>(first, last, piece, stop, end, plan);
    }
  }
  if (first == last) return;
  if (end != nullptr) {
    detail::split_piece<Sched>(first, last, piece, stop, *end);
  } else {
    detail::split_loop<Sched>(first, last, piece, stop, all);
  }
}

/// One piece from its beginning to its end. All pieces begin and end here.
template <class Sched, class Piece, class Stop>
void run_piece(position_of<Piece> const first, position_of<Piece> const last, Piece& piece, Stop& stop,
               loop_end* const end) {
  if (end != nullptr && end->is_before(first)) return;
  if constexpr (splits_all_pieces<Sched>) {
    if (stop.is_requested()) return;  // else a stopped loop would fork for each position that is left
  }
  // acquire: the observer's functions see what was written before it was set.
  piece_observer const* const observer = observer_of_pieces.load(std::memory_order_acquire);
  if (observer != nullptr) [[unlikely]]
    detail::piece_begins(*observer, detail::in_word(first), detail::in_word(last));
  bool const splits_all = splits_all_pieces<Sched> || (observer != nullptr && observer->splits_all);
  try {
    detail::run_piece_alone<Sched>(first, last, piece, stop, end, splits_all);
  } catch (...) {
    if (end != nullptr) end->fail();
    throw;
  }
  if (observer != nullptr) [[unlikely]]
    detail::piece_ends(*observer, detail::in_word(first), detail::in_word(last));
}

/// Runs the positions [first, last) of a loop, perhaps in parallel. Afterwards `piece` is the state of all of them.
/// Outside all pools enters the default pool.
///
/// If a position throws, stretches and pieces that have not begun do not begin. The exception of the lowest of the
/// positions that threw leaves. The same is true of `split` and `merge`.
template <class Sched, loop_piece Piece, class Stop>
void run_pieces(position_of<Piece> first, position_of<Piece> last, Piece& piece, Stop& stop) {
  if (first >= last) return;
  detail::inside_pool<Sched>([&] { detail::run_piece<Sched>(first, last, piece, stop, nullptr); });
}
template <class Sched, loop_piece Piece>
void run_pieces(position_of<Piece> first, position_of<Piece> last, Piece& piece) {
  never_stopped never;
  detail::run_pieces<Sched>(first, last, piece, never);
}

}  // namespace filch::inline FILCH_ABI::detail

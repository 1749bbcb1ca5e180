// How a piece of a loop runs a block: its stretches, without a clock read between them. pieces.hpp says what a piece
// is.
#pragma once

#include <filch/detail/loop_end.hpp>
#include <filch/detail/loop_pace.hpp>
#include <filch/detail/loop_worth.hpp>
#include <filch/detail/result.hpp>
#include <filch/detail/standard.hpp>

#include <cstddef>
#include <new>
#include <type_traits>

namespace filch::inline FILCH_ABI::detail {

template <class Piece> struct position_of_piece {
  using type = std::size_t;
};
template <class Piece>
  requires requires { typename Piece::position_type; }
struct position_of_piece<Piece> {
  using type = typename Piece::position_type;
};
/// The type of a loop's positions: Piece::position_type if there is one. It is unsigned, and no narrower than
/// std::size_t.
template <class Piece> using position_of = typename position_of_piece<Piece>::type;

/// Is a copy of it as good, and has it room in registers?
template <class Type>
inline constexpr bool is_cheap_to_copy =
    is_small_and_trivial<Type>(128, 16) && std::is_trivially_copy_constructible_v<Type>;

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
  } else if constexpr (requires { decltype(Piece::in)::k_turn; }) {
    return decltype(Piece::in)::k_turn;
  } else {
    return 1;
  }
}

/// The turns of the longest stretch.
template <class Piece> consteval std::size_t most_turns_of_stretch() {
  constexpr std::size_t k_turn = detail::positions_of_turn<Piece>();
  if constexpr (requires { Piece::k_long_stretches; }) {
    return std::max(loop_pace::k_longest, loop_pace::k_longest_of_vectors / k_turn);
  } else {
    return loop_pace::k_longest;
  }
}

/// Runs one stretch. False: the piece ends.
template <class Piece>
FILCH_INLINE bool run_stretch(Piece& piece, position_of<Piece> first, position_of<Piece> last) {
  if constexpr (std::is_void_v<decltype(piece.run(first, last))>) {
    piece.run(first, last);
    return true;
  } else {
    return piece.run(first, last);
  }
}

/// Clang makes better code for a stretch whose length it knows. Stretches of the usual length have code of their own
/// there.
#if defined(__clang__)
inline constexpr bool k_knows_usual_length = true;
#else
inline constexpr bool k_knows_usual_length = false;
#endif

/// Calls run with a copy of the runner, which has room in registers, and takes the state back; with the runner itself
/// if a copy is not as good.
template <class Runner, class Run> FILCH_INLINE auto with_copy_of(Runner& runner, Run const& run) {
  if constexpr (is_cheap_to_copy<Runner>) {
    Runner own(runner);
    auto const result = run(own);
    ::new (static_cast<void*>(std::addressof(runner))) Runner(own);
    return result;
  } else {
    return run(runner);
  }
}

/// Runs one stretch, in a function that calls the user's function at one place, or compilers may not inline it. Where
/// this function itself is inlined, `length` may be known.
template <class Runner, class Position>
bool run_stretch_apart(Runner& runner, Position const first, std::size_t const length) {
  return detail::with_copy_of(runner, [&](Runner& own) { return detail::run_stretch(own, first, first + length); });
}

/// The length of a stretch from `first` on after which stretches of length `usual` begin where rows of a grid do, or
/// else at multiples of `usual`: if the user's array begins on a cache line, none of its vectors lies on two lines.
template <class Runner, class Position>
FILCH_INLINE std::size_t lead_of(Runner const& runner, Position const first, std::size_t const usual) {
  if constexpr (requires { runner.lead(); }) {
    return runner.lead();
  } else {
    return usual - (static_cast<std::size_t>(first) & (usual - 1));
  }
}

enum class block_ended { whole, wanted, over };

/// Runs stretches of one length from `first` to `last`. `wanted`: a worker waits for work. `over`: the piece ends.
template <class Sched, class Piece, class Runner, class Stop, class Length>
FILCH_INLINE block_ended run_block(position_of<Piece>& first, position_of<Piece> const last, Length const stretch,
                                   Runner& runner, Stop& stop, loop_end* const end, bool const is_due) {
  do {
    if ((end != nullptr && end->is_before(first)) || stop.is_requested()) return block_ended::over;
    bool goes_on = false;
    if constexpr (k_knows_usual_length) {
      goes_on = detail::run_stretch_apart(runner, first, stretch);
    } else {
      goes_on = detail::run_stretch(runner, first, first + stretch);
    }
    if (!goes_on) {
      if (end != nullptr) end->lower_to(detail::ends_all_pieces<Piece>() ? position_of<Piece>{0} : first);
      return block_ended::over;
    }
    first += stretch;
    if (first == last) return block_ended::whole;
  } while (!detail::is_wanted_by<Sched>(is_due));
  return block_ended::wanted;
}

template <class Piece>
using usual_length = std::integral_constant<std::size_t, loop_pace::k_longest * positions_of_turn<Piece>()>;

/// The same for stretches of the usual length. A function of its own: the state of the loop's pace takes no registers
/// here.
template <class Sched, class Piece, class Runner, class Stop>
FILCH_OUTLINE block_ended run_usual_block(position_of<Piece>& first, position_of<Piece> const last, Runner& runner,
                                          Stop& stop, loop_end* const end, bool const is_due) {
  position_of<Piece> at = first;
  block_ended const ended = detail::with_copy_of(runner, [&](Runner& own) {
    return detail::run_block<Sched, Piece>(at, last, usual_length<Piece>(), own, stop, end, is_due);
  });
  first = at;
  return ended;
}

/// The same for stretches of any length.
template <class Sched, class Piece, class Runner, class Stop>
FILCH_INLINE block_ended run_any_block(position_of<Piece>& first, position_of<Piece> const last,
                                       std::size_t const stretch, Runner& runner, Stop& stop, loop_end* const end,
                                       bool const is_due) {
  if constexpr (k_knows_usual_length) {
    if (stretch == usual_length<Piece>()) {
      return detail::run_usual_block<Sched, Piece>(first, last, runner, stop, end, is_due);
    }
  }
  return detail::run_block<Sched, Piece>(first, last, stretch, runner, stop, end, is_due);
}

}  // namespace filch::inline FILCH_ABI::detail

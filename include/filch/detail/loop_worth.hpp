// Whether a worker waits for work, and whether the rest of a loop is worth a steal. The loop engine (pieces.hpp) asks
// before the first position and at the end of blocks. docs/decisions/0011-loops.md has the measurements.
#pragma once

#include <filch/detail/loop_pace.hpp>
#include <filch/detail/platform.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace filch::inline FILCH_ABI::detail {

/// The costs of earlier loops: those of the piece's type, unless it has a `history()`.
template <class Piece> loop_history& history_for([[maybe_unused]] Piece const& piece) noexcept {
  if constexpr (requires { piece.history(); }) {
    return piece.history();
  } else {
    return history_of<Piece>;
  }
}

/// Is a look due, and does a worker wait for work? Calls wanted() in any case, unless that is dear.
template <class Sched> FILCH_INLINE bool is_wanted_by(bool is_due) noexcept {
  if constexpr (looks_are_dear<Sched>) return is_due && Sched::wanted();
  bool const is_wanted = Sched::wanted();
  return is_wanted && is_due;
}

template <class Piece>
concept piece_dear_to_split = requires(Piece const& piece, std::size_t n) { piece.split_ticks(n, n); };

/// In ticks: if the rest takes at least so many, its half for the thief is worth the steal and the split.
template <piece_dear_to_split Piece>
std::uint64_t ticks_worth_splitting_of(Piece const& piece, std::size_t ran, std::size_t left) noexcept {
  constexpr std::uint64_t k_most = std::uint64_t{1} << 40;  // a product with a number of iterations fits
  return k_ticks_worth_splitting + 2 * std::min(static_cast<std::uint64_t>(piece.split_ticks(ran, left)), k_most);
}

/// Is the half of `left` positions worth a steal, by what positions cost so far?
template <class Piece>
bool is_worth_steal(loop_pace& pace, [[maybe_unused]] Piece const& piece, [[maybe_unused]] std::size_t ran,
                    std::size_t left) noexcept {
  if constexpr (piece_dear_to_split<Piece>) {
    return pace.takes(detail::ticks_worth_splitting_of(piece, ran, left), left);
  } else {
    return pace.is_worth_splitting(k_ticks_worth_splitting, left);
  }
}

/// A worker waits for work. Is the rest of `left` positions worth splitting?
template <class Sched, class Piece>
FILCH_INLINE bool is_worth_splitting(loop_pace& pace, Piece const& piece, std::size_t ran,
                                     std::size_t left) noexcept {
  pace.read_clock_if_due();
  bool is_worth = detail::is_worth_steal(pace, piece, ran, left);
  if constexpr (paces_wakeups<Sched>) is_worth = is_worth && pace.is_worth_waking<Sched>(left);
  return is_worth && !pace.stays_alone();
}

/// At the end of a block: does a worker wait for work? Where looks are dear, the answer is no without a look if the
/// cost of the block says that the rest is not worth a steal.
template <class Sched, class Piece>
bool is_wanted_at_end(loop_pace& pace, Piece const& piece, std::size_t ran, std::size_t left) noexcept {
  bool const is_known_before = looks_are_dear<Sched> && pace.has_read_clock();
  if (is_known_before && (left < 2 || !detail::is_worth_steal(pace, piece, ran, left))) return false;
  return detail::is_wanted_by<Sched>(pace.is_time_to_look());
}

/// Is the half of a loop or piece of `all` positions worth a steal, by what earlier ones cost?
template <class Piece> bool is_worth_steal_first(Piece const& piece, std::size_t all) noexcept {
  loop_history const& history = detail::history_for(piece);
  if constexpr (piece_dear_to_split<Piece>) {
    return history.measured().is_at_least(detail::ticks_worth_splitting_of(piece, 0, all), all);
  } else {
    return history.cost().is_at_least(k_ticks_worth_splitting, all);
  }
}

/// Before the first position: does a worker wait for work? One that searches may have no request here yet, and would
/// wait for a long first position. Loops whose iterations are or may be long are split then, too.
template <class Sched, class Piece> bool is_wanted_first([[maybe_unused]] Piece const& piece) noexcept {
  if (Sched::wanted()) return true;
  if constexpr (requires { Sched::somebody_looks(); }) {
    return !detail::history_for(piece).measured().is_known_and_short() && Sched::somebody_looks();
  } else {
    return false;
  }
}

enum class whole_loop { is_not_wanted, is_cheap, is_worth_no_wakeup, is_split };

/// Before the first position: does a worker wait for work, and is the loop or piece of `all` positions worth
/// splitting? Where looks are dear, a cheap one does not look.
template <class Sched, class Piece> whole_loop look_at_whole(Piece const& piece, std::size_t all) noexcept {
  if (!looks_are_dear<Sched> && !detail::is_wanted_first<Sched>(piece)) return whole_loop::is_not_wanted;
  if (!detail::is_worth_steal_first(piece, all)) return whole_loop::is_cheap;
  if (looks_are_dear<Sched> && !detail::is_wanted_first<Sched>(piece)) return whole_loop::is_not_wanted;
  if constexpr (paces_wakeups<Sched>) {
    loop_cost const cost = detail::history_for(piece).measured();
    if (cost.is_known_and_short() && !Sched::pays_to_wake(cost.of_more(all))) return whole_loop::is_worth_no_wakeup;
  }
  return whole_loop::is_split;
}

}  // namespace filch::inline FILCH_ABI::detail

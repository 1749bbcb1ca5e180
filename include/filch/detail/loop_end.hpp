// Where a loop ends early (pieces.hpp).
#pragma once

#include <filch/detail/platform.hpp>

#include <atomic>
#include <cstddef>
#include <limits>

namespace filch::inline FILCH_ABI::detail {

/// A position, or a number of positions, in a word. A greater one becomes the greatest that a position can be.
inline constexpr std::size_t k_greatest_position = std::numeric_limits<std::size_t>::max() - 1;
template <class Position> constexpr std::size_t in_word(Position position) noexcept {
  if constexpr (sizeof(Position) <= sizeof(std::size_t)) {
    return position;
  } else {
    return position < k_greatest_position ? static_cast<std::size_t>(position) : k_greatest_position;
  }
}

/// The lowest of the positions that the pieces of a loop report.
class lowest_position {
 public:
  explicit lowest_position(std::size_t none) noexcept : at_(none) {}
  // relaxed: a hint while the loop runs. Results and exceptions travel with the joins, and so does the final
  // position.
  std::size_t at() const noexcept { return at_.load(std::memory_order_relaxed); }
  void lower_to(std::size_t position) noexcept {
    std::size_t at = at_.load(std::memory_order_relaxed);
    // relaxed: as above.
    while (position < at && !at_.compare_exchange_weak(at, position, std::memory_order_relaxed)) {
    }
  }

 private:
  std::atomic<std::size_t> at_;
};

/// Where the pieces of one loop end before their last position. Made by the first split.
class loop_end {
 public:
  /// Is there no need to run `position` and those above it?
  template <class Position> bool is_before(Position position) const noexcept {
    return end_.at() <= detail::in_word(position);
  }
  /// An exception left a piece: no position need run, and no result is used.
  void fail() noexcept {
    end_.lower_to(0);
    failed_.lower_to(0);
  }
  /// A hint, while other pieces run.
  bool has_failed() const noexcept { return failed_.at() == 0; }
  /// Has a piece ended early?
  bool is_lowered() const noexcept { return end_.at() != k_none; }
  /// Positions above `given` need not run.
  template <class Position> void lower_to(Position given) noexcept {
    std::size_t const position = detail::in_word(given);
    if (position == given) end_.lower_to(position);  // else it does not fit in a word: more runs than is needed
  }

 private:
  static constexpr std::size_t k_none = std::numeric_limits<std::size_t>::max();
  lowest_position end_{k_none};
  lowest_position failed_{1};
};

}  // namespace filch::inline FILCH_ABI::detail

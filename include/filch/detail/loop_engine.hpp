// The loop engine: the one place that splits on demand. A loop runs in stretches, looks between them whether a worker
// waits for work, and then gives half of what is left away.
//
//   stretch   iterations between two looks at wanted()
//   pace      how long stretches are, and how many of them lie between two looks at the clock
#pragma once

#include <filch/detail/result.hpp>

#include <chrono>
#include <concepts>
#include <cstddef>
#include <type_traits>

namespace filch::inline FILCH_ABI::detail {

/// How many iterations run between two looks, and how many looks between two clock reads. What an iteration costs is
/// known of those that ran only: the pace begins with one iteration, and after a slow block it begins anew.
class loop_pace {
 public:
  /// Iterations to the next look.
  std::size_t stretch() const noexcept { return stretch_; }
  /// Of so many stretches the next block consists; the clock is read at its end.
  std::size_t stretches() const noexcept { return stretches_; }

  /// A block of stretches() has run.
  void block_ran() noexcept {
    clock::time_point const now = clock::now();
    // The first block begins before the first look at the clock: it is one iteration, and says nothing.
    if (began_) set(now - last_);
    began_ = true;
    last_ = now;
  }

 private:
  using clock = std::chrono::steady_clock;
  // A waiting worker gets its half after one stretch, and a look costs a nanosecond.
  static constexpr std::size_t k_longest = 64;
  static constexpr std::size_t k_growth = 4;
  static constexpr std::size_t k_most_stretches = 128;
  // A clock read takes 20 to 30 ns, here and below in a block's time.
  static constexpr auto k_short_stretch = std::chrono::nanoseconds(150);
  static constexpr auto k_long_stretch = std::chrono::nanoseconds(1000);
  static constexpr auto k_short_block = std::chrono::microseconds(2);
  static constexpr auto k_slow_block = std::chrono::microseconds(20);

  void set(clock::duration block) noexcept {
    if (block > k_slow_block) {
      stretch_ = stretches_ = 1;
    } else if (stretch_ > 1 && block > k_long_stretch * stretches_) {
      stretch_ /= 2;
    } else if (stretch_ < k_longest && block < k_short_stretch * stretches_) {
      stretch_ *= k_growth;
    } else if (block < k_short_block) {
      if (stretches_ < k_most_stretches) stretches_ *= 2;
    } else if (block > 2 * k_short_block && stretches_ > 1) {
      stretches_ /= 2;
    }
  }

  std::size_t stretch_ = 1;
  std::size_t stretches_ = 1;
  bool began_ = false;
  clock::time_point last_;
};

template <std::integral I> FILCH_INLINE std::size_t iterations_in(I first, I last) noexcept {
  using U = std::make_unsigned_t<I>;
  return static_cast<std::size_t>(static_cast<U>(static_cast<U>(last) - static_cast<U>(first)));
}
template <std::integral I> FILCH_INLINE I iteration_after(I first, std::size_t n) noexcept {
  using U = std::make_unsigned_t<I>;
  return static_cast<I>(static_cast<U>(static_cast<U>(first) + static_cast<U>(n)));
}

/// Runs iterations from `first` on, until a worker waits for work and there are two or more left. Returns the first
/// one that has not run. A function of its own, without joins: the compiler has its registers for the body alone.
template <class S, std::integral I, class Body>
[[gnu::noinline]] I run_until_wanted(I first, I const last, Body body) {
  loop_pace pace;
  for (;;) {
    std::size_t const longest = pace.stretch();
    for (std::size_t stretches = pace.stretches(); stretches != 0; --stretches) {
      std::size_t const left = detail::iterations_in(first, last);
      I const end = left <= longest ? last : detail::iteration_after(first, longest);
      for (; first != end; ++first) body(first);
      if (first == last) return first;
      if (S::wanted() && detail::iterations_in(first, last) > 1) return first;
    }
    pace.block_ran();
  }
}

/// Runs body(i) for every i of [first, last), first < last. While a worker waits for work the second half of what is
/// left goes to it, also before the first iteration: it may be long. body is a copy for each piece.
template <class S, std::integral I, class Body> void split_on_demand(I first, I const last, Body const body) {
  bool const is_wanted = detail::iterations_in(first, last) > 1 && S::wanted();
  if (!is_wanted) first = detail::run_until_wanted<S>(first, last, body);
  if (first == last) return;
  I const middle = detail::iteration_after(first, detail::iterations_in(first, last) / 2);
  S::join([first, middle, &body] { detail::split_on_demand<S>(first, middle, body); },
          [middle, last, &body] { detail::split_on_demand<S>(middle, last, body); });
}

}  // namespace filch::inline FILCH_ABI::detail

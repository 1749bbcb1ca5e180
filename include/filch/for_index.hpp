// for_index: a loop that splits only when somebody waits for work.
#pragma once

#include <filch/default_scheduler.hpp>

#include <algorithm>
#include <chrono>
#include <concepts>

namespace filch::inline FILCH_ABI {
namespace detail {

/// How many iterations run between two looks at wanted(): as many as take some microseconds, so that a
/// cheap body still vectorises and an expensive one is split at once.
class loop_block {
 public:
  std::size_t size() const noexcept { return size_; }
  void finished() noexcept {
    auto const now = clock::now();
    if (now - last_ < k_too_short && size_ < k_largest) size_ *= 2;
    if (now - last_ > k_too_long && size_ > 1) size_ /= 2;
    last_ = now;
  }

 private:
  using clock = std::chrono::steady_clock;
  static constexpr auto k_too_short = std::chrono::microseconds(4);
  static constexpr auto k_too_long = std::chrono::microseconds(16);
  static constexpr std::size_t k_largest = std::size_t{1} << 20;
  std::size_t size_ = 1;
  clock::time_point last_ = clock::now();
};

template <class S, class I, class F> void for_index_inside(I first, I last, F& f, loop_block block) {
  while (first < last) {
    using U = std::make_unsigned_t<I>;
    auto const left = static_cast<std::size_t>(static_cast<U>(static_cast<U>(last) - static_cast<U>(first)));
    if (left > 1 && S::wanted()) {
      I const middle = static_cast<I>(first + static_cast<I>(left / 2));
      S::join([=, &f] { detail::for_index_inside<S>(first, middle, f, block); },
              [=, &f] { detail::for_index_inside<S>(middle, last, f, block); });
      return;
    }
    I const end = left <= block.size() ? last : static_cast<I>(first + static_cast<I>(block.size()));
    for (; first != end; ++first) f(first);
    block.finished();
  }
}

}  // namespace detail

/// Calls f(i) for every i of [first, last), in ascending order within each piece; the pieces may run in
/// parallel, so several workers may call f at once. There is no grain size: a plain loop runs in blocks of some
/// microseconds, and what is left is split in half only when a worker waits for work. Both bounds are of one type, an
/// integer's: `for_index(std::size_t{0}, v.size(), f)`.
///
/// If f throws, the rest of its piece is skipped, the other pieces run to their end, and then one of the
/// exceptions leaves: that of the lowest piece. An empty or reversed range does nothing. From outside a pool
/// it enters the default pool. Continues on the calling thread under `direct`, `channel` and `serial`, perhaps on
/// another one under `cactus` and `implicit`. Cost: a clock read and a compare a block. To split late is from A.
/// Tzannes et al., Lazy binary-splitting: a run-time adaptive work-stealing scheduler, PPoPP 2010.
template <scheduler S = default_scheduler, std::integral I, class F>
  requires(!std::same_as<I, bool>)
void for_index(I first, I last, F&& f) {
  if (!(first < last)) return;
  detail::inside_pool<S>([&] { detail::for_index_inside<S>(first, last, f, detail::loop_block{}); });
}

}  // namespace filch::inline FILCH_ABI

// A search for a number in memory, a block of 64 bytes at a time: compilers turn no loop with an early exit into
// vectors. find, contains, search and find_end run on it.
#pragma once

#include <filch/detail/platform.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace filch::inline FILCH_ABI::detail {

/// Numbers that every processor compares by vectors: SSE2 has no comparison of 64-bit integers.
template <class Type>
concept vector_number =
    std::is_arithmetic_v<Type> && !std::is_same_v<Type, bool> && (sizeof(Type) <= 4 || std::is_same_v<Type, double>);

template <class Type> struct lane_of {
  using type = std::make_unsigned_t<Type>;
};
template <class Type>
  requires std::is_floating_point_v<Type>
struct lane_of<Type> {
  using type = Type;
};

/// Where in memory a number may be.
template <vector_number Type> class number_blocks {
 public:
  FILCH_INLINE explicit number_blocks(Type wanted) noexcept : wanted_(lanes{} + static_cast<lane>(wanted)) {}

  /// The length of whole blocks, of the n numbers from `at` on, before the first block that has the number.
  FILCH_INLINE std::size_t skip_up(Type const* at, std::size_t n) const noexcept {
    std::size_t skipped = 0;
    while (n - skipped >= k_block && !is_in(at + skipped)) skipped += k_block;
    return skipped;
  }
  /// The same for the n numbers that end before `end`, from there down.
  FILCH_INLINE std::size_t skip_down(Type const* end, std::size_t n) const noexcept {
    std::size_t skipped = 0;
    while (n - skipped >= k_block && !is_in(end - skipped - k_block)) skipped += k_block;
    return skipped;
  }

 private:
  using lane = typename lane_of<Type>::type;
  typedef lane lanes __attribute__((vector_size(16)));
  typedef std::uint64_t words __attribute__((vector_size(16)));
  static constexpr std::size_t k_lanes = sizeof(lanes) / sizeof(lane);
  static constexpr std::size_t k_block = 4 * k_lanes;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wfloat-equal"
  FILCH_INLINE bool is_in(Type const* block) const noexcept {
    lanes part[4];
    std::memcpy(part, block, sizeof part);
    auto const hits = (part[0] == wanted_) | (part[1] == wanted_) | (part[2] == wanted_) | (part[3] == wanted_);
    words halves;
    static_assert(sizeof halves == sizeof hits);
    std::memcpy(&halves, &hits, sizeof halves);
    return (halves[0] | halves[1]) != 0;
  }
#pragma GCC diagnostic pop

  lanes wanted_;
};

}  // namespace filch::inline FILCH_ABI::detail

// A partition of numbers with AVX2, for the sorts that end in Highway's vqsort: without it, two workers would spend a
// quarter of their time on the first partition. Highway has no partition that can be called.
#pragma once

#include <filch/detail/ordering.hpp>
#include <filch/detail/platform.hpp>
#include <filch/detail/standard.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#if defined(FILCH_WITH_HIGHWAY) && defined(__x86_64__)
#include <immintrin.h>

#include <array>
#include <bit>
#include <cstring>
#endif

namespace filch::inline FILCH_ABI::detail {

/// Numbers for which there is a partition_of_numbers.
template <class Type> inline constexpr bool has_vector_partition = false;
template <class Type> struct two_stretches;
template <class Sched, class Stop, class Type, bool Descending, bool OrEqual> class partition_of_numbers;

#if !defined(FILCH_WITH_HIGHWAY) || !defined(__x86_64__)
inline bool can_partition_vectors() noexcept { return false; }
#else
/// Two stretches of numbers, [begin, left_end) and [right_begin, end). Or one, if left_end is right_begin.
template <class Type> struct two_stretches {
  Type* begin;
  Type* left_end;
  Type* right_begin;
  Type* end;

  static two_stretches one(Type* begin, Type* end) noexcept { return {begin, begin, begin, end}; }
  bool is_one() const noexcept { return left_end == right_begin; }
  std::size_t left() const noexcept { return static_cast<std::size_t>(left_end - begin); }
  std::size_t right() const noexcept { return static_cast<std::size_t>(end - right_begin); }
  std::size_t size() const noexcept { return left() + right(); }

  /// Swaps n numbers, those from position i on and those from position j on. No position is in both.
  void swap(std::size_t i, std::size_t j, std::size_t n) const noexcept {
    auto const here = [&](std::size_t at, std::size_t& run) {
      if (at >= left()) return right_begin + (at - left());
      run = std::min(run, left() - at);
      return begin + at;
    };
    while (n != 0) {
      std::size_t run = n;
      Type* const from = here(i, run);
      Type* const to = here(j, run);
      std::swap_ranges(from, from + run, to);
      i += run;
      j += run;
      n -= run;
    }
  }
};

#define FILCH_AVX2 [[gnu::target("avx2,popcnt")]]
#define FILCH_AVX2_INLINE [[gnu::target("avx2,popcnt"), gnu::always_inline, gnu::no_instrument_function]] inline

template <class Type>
  requires(std::is_arithmetic_v<Type> && (sizeof(Type) == 4 || sizeof(Type) == 8))
inline constexpr bool has_vector_partition<Type> = true;

/// For each set of lanes of 4 bytes: their numbers first, then the others'.
inline constexpr auto k_lanes_first = [] {
  std::array<std::uint64_t, 256> all{};
  for (std::size_t set = 0; set != all.size(); ++set) {
    unsigned at = 0;
    for (bool const is_first : {true, false}) {
      for (std::uint64_t lane = 0; lane != 8; ++lane)
        if (((set >> lane & 1) != 0) == is_first) all[set] |= lane << (8 * at++);
    }
  }
  return all;
}();
/// The same for lanes of 8 bytes.
inline constexpr auto k_wide_lanes_first = [] {
  std::array<std::uint64_t, 16> all{};
  for (std::size_t set = 0; set != all.size(); ++set) {
    std::size_t narrow = 0;
    for (std::size_t lane = 0; lane != 4; ++lane)
      if ((set >> lane & 1) != 0) narrow |= std::size_t{3} << (2 * lane);
    all[set] = k_lanes_first[narrow];
  }
  return all;
}();

/// A vector of numbers.
template <class Type, bool Descending> struct numbers_vector {
  static constexpr std::size_t k_lanes = 32 / sizeof(Type);

  __m256i value;

  FILCH_AVX2_INLINE static numbers_vector at(Type const* from) noexcept {
    return {_mm256_loadu_si256(reinterpret_cast<__m256i const*>(from))};
  }
  FILCH_AVX2_INLINE static numbers_vector of(Type x) noexcept {
    if constexpr (sizeof(Type) == 8) {
      return {_mm256_set1_epi64x(std::bit_cast<long long>(x))};
    } else {
      return {_mm256_set1_epi32(std::bit_cast<int>(x))};
    }
  }
  FILCH_AVX2_INLINE void write_to(Type* to) const noexcept {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), value);
  }
  /// The lanes whose numbers are before y's.
  FILCH_AVX2_INLINE unsigned before(numbers_vector y) const noexcept {
    if constexpr (std::is_same_v<Type, double>) {
      constexpr int k_how = Descending ? _CMP_GT_OQ : _CMP_LT_OQ;
      return lanes(_mm256_castpd_si256(_mm256_cmp_pd(doubles(), y.doubles(), k_how)));
    } else if constexpr (std::is_same_v<Type, float>) {
      constexpr int k_how = Descending ? _CMP_GT_OQ : _CMP_LT_OQ;
      return lanes(_mm256_castps_si256(_mm256_cmp_ps(floats(), y.floats(), k_how)));
    } else {
      __m256i const less = Descending ? y.with_sign() : with_sign();
      __m256i const greater = Descending ? with_sign() : y.with_sign();
      return lanes(sizeof(Type) == 8 ? _mm256_cmpgt_epi64(greater, less) : _mm256_cmpgt_epi32(greater, less));
    }
  }
  FILCH_AVX2_INLINE __m256i is_nan() const noexcept {
    if constexpr (std::is_same_v<Type, double>) {
      return _mm256_castpd_si256(_mm256_cmp_pd(doubles(), doubles(), _CMP_UNORD_Q));
    } else if constexpr (std::is_same_v<Type, float>) {
      return _mm256_castps_si256(_mm256_cmp_ps(floats(), floats(), _CMP_UNORD_Q));
    } else {
      return _mm256_setzero_si256();
    }
  }
  /// Its numbers in these lanes, then the others.
  FILCH_AVX2_INLINE numbers_vector first(unsigned these) const noexcept {
    std::uint64_t const order = sizeof(Type) == 8 ? k_wide_lanes_first[these] : k_lanes_first[these];
    __m256i const lanes = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(static_cast<long long>(order)));
    return {_mm256_permutevar8x32_epi32(value, lanes)};
  }

 private:
  FILCH_AVX2_INLINE __m256d doubles() const noexcept { return _mm256_castsi256_pd(value); }
  FILCH_AVX2_INLINE __m256 floats() const noexcept { return _mm256_castsi256_ps(value); }
  /// As a signed number of the same order.
  FILCH_AVX2_INLINE __m256i with_sign() const noexcept {
    if constexpr (std::is_signed_v<Type>) {
      return value;
    } else if constexpr (sizeof(Type) == 8) {
      return _mm256_xor_si256(value, _mm256_set1_epi64x(static_cast<long long>(1ULL << 63)));
    } else {
      return _mm256_xor_si256(value, _mm256_set1_epi32(static_cast<int>(1U << 31)));
    }
  }
  FILCH_AVX2_INLINE static unsigned lanes(__m256i mask) noexcept {
    return static_cast<unsigned>(sizeof(Type) == 8 ? _mm256_movemask_pd(_mm256_castsi256_pd(mask))
                                                   : _mm256_movemask_ps(_mm256_castsi256_ps(mask)));
  }
};

/// Partitions from both ends: numbers before the pivot, or, if OrEqual, not behind it, go to the begin, others to the
/// end. Stops after about `most` numbers, or where a stretch has too few. `s` is what is left between them. Returns
/// whether a NaN was among the others. Only where can_partition_vectors().
template <class Type, bool Descending, bool OrEqual>
FILCH_AVX2 FILCH_OUTLINE bool partition_vectors(two_stretches<Type>& s, Type pivot, std::size_t most) {
  using vector = numbers_vector<Type, Descending>;
  constexpr std::size_t k_vectors = 4;
  constexpr std::size_t k_step = k_vectors * vector::k_lanes;
  bool const is_one = s.is_one();
  // Numbers that are kept aside make room for one step on both sides. Each step reads on the side with less room, and
  // then both have enough.
  Type const* read_left = s.begin;
  Type const* read_right = s.end;
  auto const left_end = reinterpret_cast<std::uintptr_t>(is_one ? s.end : s.left_end);
  auto const right_begin = reinterpret_cast<std::uintptr_t>(is_one ? s.begin : s.right_begin);
  constexpr std::size_t k_step_bytes = k_step * sizeof(Type);
  auto const address = [](Type const* p) { return reinterpret_cast<std::uintptr_t>(p); };
  auto const has_step = [&] {
    return address(read_left) + k_step_bytes <= left_end && address(read_right) >= right_begin + k_step_bytes &&
           address(read_left) + k_step_bytes <= address(read_right);
  };
  if (s.size() < 4 * k_step || !has_step()) return false;
  Type aside[2 * k_step];
  std::memcpy(aside, read_left, k_step_bytes);
  std::memcpy(aside + k_step, read_right - k_step, k_step_bytes);
  Type* left = s.begin;
  Type* right = s.end;
  read_left += k_step;
  read_right -= k_step;
  vector const of_pivot = vector::of(pivot);
  __m256i nan = _mm256_setzero_si256();
  std::size_t steps = most / k_step + 1;
  for (; steps != 0 && has_step(); --steps) {
    bool const is_left = static_cast<std::size_t>(read_left - left) <= k_step;
    Type const* const from = is_left ? read_left : read_right - k_step;
    read_left += is_left ? k_step : 0;
    read_right -= is_left ? 0 : k_step;
    vector x[k_vectors];  // in registers, once the loops are unrolled
    unsigned taken[k_vectors];
    FILCH_UNROLL_FILTER
    for (std::size_t i = 0; i != k_vectors; ++i) x[i] = vector::at(from + i * vector::k_lanes);
    FILCH_UNROLL_FILTER
    for (std::size_t i = 0; i != k_vectors; ++i) {
      constexpr unsigned k_all = (1U << vector::k_lanes) - 1;
      taken[i] = OrEqual ? ~of_pivot.before(x[i]) & k_all : x[i].before(of_pivot);
      if constexpr (std::is_floating_point_v<Type>) nan = _mm256_or_si256(nan, x[i].is_nan());
    }
    FILCH_UNROLL_FILTER
    for (std::size_t i = 0; i != k_vectors; ++i) {
      vector const sorted = x[i].first(taken[i]);
      auto const count = static_cast<std::size_t>(_mm_popcnt_u32(taken[i]));
      sorted.write_to(left);
      sorted.write_to(right - vector::k_lanes);
      left += count;
      right -= vector::k_lanes - count;
    }
  }
  auto const room = static_cast<std::size_t>(read_left - left);
  std::memcpy(left, aside, room * sizeof(Type));
  std::memcpy(right - (2 * k_step - room), aside + room, (2 * k_step - room) * sizeof(Type));
  s.begin = left;
  s.end = right;
  if (is_one) s.left_end = s.right_begin = left;
  return _mm256_testz_si256(nan, nan) == 0;
}

#undef FILCH_AVX2
#undef FILCH_AVX2_INLINE

inline bool can_partition_vectors() noexcept {
  return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("popcnt") != 0;
}

/// A partition of numbers around a pivot. Gives half away if a worker waits: its numbers in the middle, so that the
/// two parts fit together almost without swaps.
template <class Sched, class Stop, class Type, bool Descending, bool OrEqual> class partition_of_numbers {
 public:
  struct result {
    std::size_t before;  // how many are on the left now
    bool has_nan;
  };

  partition_of_numbers(Stop& stop, Type pivot, bool splits_all)
      : stop_(stop), pivot_(pivot), splits_all_(splits_all) {}

  result partition(two_stretches<Type> s) const {
    std::size_t const part = splits_all_ ? 2 : k_between_looks;
    result r{};
    while (!stop_.is_requested()) {
      std::size_t const n = s.size();
      if (n > part && (splits_all_ || Sched::wanted())) return r + split(s);
      Type* const begin = s.begin;
      r.has_nan |= detail::partition_vectors<Type, Descending, OrEqual>(s, pivot_, k_between_looks);
      r.before += static_cast<std::size_t>(s.begin - begin);
      if (s.size() == n) return r + (s.is_one() ? partition_few(s.begin, s.end) : partition_each(s));
    }
    return r;
  }

 private:
  static constexpr std::size_t k_between_looks = 16'384;

  friend result operator+(result x, result y) noexcept { return {x.before + y.before, x.has_nan || y.has_nan}; }

  bool is_before(Type x) const noexcept {
    bool const is = (OrEqual ? Descending ? pivot_ > x : pivot_ < x : Descending ? x > pivot_ : x < pivot_);
    return is != OrEqual;
  }
  result partition_few(Type* i, Type* end) const noexcept {
    Type* const begin = i;
    bool has_nan = false;
    while (i != end) {
      if constexpr (std::is_floating_point_v<Type>) has_nan |= *i != *i;
      is_before(*i) ? static_cast<void>(++i) : std::swap(*i, *--end);
    }
    return {static_cast<std::size_t>(i - begin), has_nan};
  }
  /// Both stretches, one after the other.
  result partition_each(two_stretches<Type> const& s) const {
    result const left = partition(two_stretches<Type>::one(s.begin, s.left_end));
    result const right = partition(two_stretches<Type>::one(s.right_begin, s.end));
    bring_together(s, left.before, s.left(), right.before, s.right());
    return left + right;
  }
  result split(two_stretches<Type> s) const {
    if (s.is_one()) s.left_end = s.right_begin = s.begin + s.size() / 2;
    std::size_t const left = s.left() / 2;
    std::size_t const right = s.right() / 2;
    two_stretches<Type> const outer{s.begin, s.begin + left, s.end - right, s.end};
    two_stretches<Type> const inner{outer.left_end, s.left_end, s.right_begin, outer.right_begin};
    result of_outer{};
    result of_inner{};
    auto const half = [this](result& r, two_stretches<Type> const& part) {
      return [this, &r, part] { r = partition(part); };
    };
    detail::join_two<Sched>(half(of_outer, outer), half(of_inner, inner));
    bring_together(s, of_outer.before, left, of_inner.before, inner.size());
    return of_outer + of_inner;
  }
  /// Two parts of `s` are partitioned: `in` of the `inner` numbers from position `left` on are before the pivot, and
  /// the first `out` of the others.
  static void bring_together(two_stretches<Type> const& s, std::size_t out, std::size_t left, std::size_t in,
                             std::size_t inner) noexcept {
    if (out < left) {
      std::size_t const moved = std::min(left - out, in);
      s.swap(out, left + in - moved, moved);
    } else {
      std::size_t const moved = std::min(out - left, inner - in);
      s.swap(left + in, inner + out - moved, moved);
    }
  }

  Stop& stop_;
  Type pivot_;
  bool splits_all_;
};
#endif

}  // namespace filch::inline FILCH_ABI::detail

// A stable counting sort of one digit: elements go to the part of another range that their digit says. Blocks of
// elements are counted side by side, and then moved side by side.
#pragma once

#include <filch/detail/mergesort.hpp>
#include <filch/detail/standard.hpp>
#include <filch/for_index.hpp>

#include <array>
#include <bit>
#include <cstdint>
#include <new>
#include <stdexcept>

namespace filch::inline FILCH_ABI::detail {

inline constexpr unsigned k_digit_bits = 8;
inline constexpr std::size_t k_digits = std::size_t{1} << k_digit_bits;
using digit_counts = std::array<std::size_t, k_digits>;

[[noreturn]] FILCH_COLD inline void throw_changed_key() {
  throw std::invalid_argument("filch: a key was not the same when it was read again");
}

/// Where the elements of a digit go: from `to` to `end`.
struct digit_places {
  digit_counts to;
  digit_counts end;
  /// A key that changes writes to no place of another one.
  FILCH_INLINE std::size_t next(std::size_t digit) {
    if (to[digit] == end[digit]) [[unlikely]]
      detail::throw_changed_key();
    return to[digit]++;
  }
};

/// The digits of [first, last): digit_of(position), below k_digits.
template <class DigitOf> digit_counts counts_of(std::size_t first, std::size_t last, DigitOf const& digit_of) {
  digit_counts counts{};
  for (; first != last; ++first) ++counts[digit_of(first)];
  return counts;
}
/// The places of one block, which begin at `begin`. The counts of digits become their first places.
inline digit_places places_of(digit_counts& counts, std::size_t begin) noexcept {
  digit_places places;
  for (std::size_t digit = 0; digit != k_digits; ++digit) {
    places.to[digit] = begin;
    begin += std::exchange(counts[digit], begin);
    places.end[digit] = begin;
  }
  return places;
}

/// Counts n positions, and calls move(position, place) for each one. Returns the first place of each digit. False: no
/// memory, and nothing was moved. Throws std::invalid_argument if digit_of does not return the same again.
template <class Sched, class Stop, class DigitOf, class Move>
bool scatter(Stop& stop, std::size_t n, DigitOf const& digit_of, Move const& move, digit_counts& first_places) {
  constexpr std::size_t k_block = 65'536;
  std::size_t const block = detail::splits_all() ? 64 : k_block;
  std::size_t const blocks = (n + block - 1) / block;
  owned<digit_places[]> const places(new (std::nothrow) digit_places[blocks]);
  if (!static_cast<bool>(places)) return false;
  auto const for_each_block = [&](auto const& body) {
    auto each = [&](std::size_t i) { body(places[i], i * block, std::min(n, (i + 1) * block)); };
    detail::for_index<Sched>(stop, std::size_t{0}, blocks, each);
  };
  for_each_block([&](digit_places& of, std::size_t first, std::size_t last) {
    of.end = detail::counts_of(first, last, digit_of);
  });
  if (stop.was_seen()) return true;
  std::size_t at = 0;
  for (std::size_t digit = 0; digit != k_digits; ++digit) {
    first_places[digit] = at;
    for (std::size_t i = 0; i != blocks; ++i) {
      places[i].to[digit] = at;
      at = places[i].end[digit] += at;
    }
  }
  for_each_block([&](digit_places& of, std::size_t first, std::size_t last) {
    digit_places own = of;
    for (; first != last; ++first) move(first, own.next(digit_of(first)));
  });
  return true;
}

}  // namespace filch::inline FILCH_ABI::detail

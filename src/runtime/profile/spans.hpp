// The longest path up to now, under several assumptions at once. record.hpp adds segments to it, and takes the longer
// of two paths at each join.
#pragma once

#include "runtime/profile/clocks.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace filch::runtime::profile {

/// So many places have a path of their own.
inline constexpr unsigned k_own_paths = 12;

/// Copied at each fork: small, and in one piece with those of the places that are in use.
struct spans {
  struct of_place {
    cycles faster;  // the span, were the place's segments twice as fast
    cycles share;   // of the place's segments in `span`
  };

  cycles span = 0;
  std::array<cycles, k_burdens> burdened{};  // the span with each task on the path stolen
  std::uint64_t segments = 0;                // on the path of `span`
  std::uint64_t used = 0;                    // of `places`: the others are on no path yet
  std::array<of_place, k_own_paths> places;

  spans() noexcept {}  // which leaves `places` alone
  spans(spans const& other) noexcept { *this = other; }
  spans& operator=(spans const& other) noexcept {
    span = other.span;
    burdened = other.burdened;
    segments = other.segments;
    used = other.used;
    for (std::uint64_t i = 0; i < used; ++i) places[i] = other.places[i];
    return *this;
  }

  /// A segment of the place `number`; of no such place if that is k_own_paths or more.
  void run(cycles c, unsigned number) noexcept {
    if (number < k_own_paths) {
      use(number + 1);
      places[number].faster -= c / 2;
      places[number].share += c;
    }
    span += c;
    ++segments;
    for (auto& each : burdened) each += c;
    for (std::uint64_t i = 0; i < used; ++i) places[i].faster += c;
  }
  /// A task begins that a thief may run.
  void task_begins() noexcept {
    for (unsigned i = 0; i < k_burdens; ++i) burdened[i] += calibrated.burdens[i];
  }
  /// This path and another one meet.
  void join(spans const& other) noexcept {
    use(other.used);
    bool const is_longer = other.span > span;
    for (std::uint64_t i = 0; i < used; ++i) {
      of_place const its = other.of(i);
      places[i].faster = std::max(places[i].faster, its.faster);
      if (is_longer) places[i].share = its.share;
    }
    for (unsigned i = 0; i < k_burdens; ++i) burdened[i] = std::max(burdened[i], other.burdened[i]);
    if (!is_longer) return;
    span = other.span;
    segments = other.segments;
  }
  of_place of(std::uint64_t number) const noexcept { return number < used ? places[number] : of_place{span, 0}; }

 private:
  void use(std::uint64_t number) noexcept {
    for (; used < number; ++used) places[used] = {span, 0};
  }
};

}  // namespace filch::runtime::profile

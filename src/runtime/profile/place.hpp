// A source place of FILCH_PROFILE: the forks of one function and closure. A table of them for each thread.
#pragma once

#include "runtime/profile/spans.hpp"

#include <array>
#include <cstdint>

namespace filch::runtime::profile {

/// The function that runs the task in a thief: one for each closure type, so it names the place.
using code = void const*;

/// Loops inside of a place split while so many of its forks are open one in the other.
inline constexpr unsigned k_split_depth = 10;

struct place {
  code task = nullptr;
  unsigned number = 0;    // in its table
  unsigned depth = 0;     // forks of this place that are open one in the other; a scope's: tasks that run
  unsigned open = 0;      // the same without those right inside another one
  bool is_spawn = false;  // its tasks are a scope's
  std::uint64_t forks = 0;
  std::uint64_t small = 0;          // the smaller side took less than a microsecond
  cycles own = 0;                   // segments whose innermost fork is of this place
  cycles work = 0;                  // of its outermost forks, all inside included
  cycles span = 0;                  // of the same
  cycles burdened = 0;              // the same with Cilkscale's burden
  std::array<void*, 48> callers{};  // return addresses at the first fork; of an algorithm, the program's come late

  /// A join of two sides that took so long; the place's other open forks are around it. Before --depth.
  void note_sides(double longer_ns) noexcept {
    if (depth > k_split_depth) return;
    ++forks_at_[depth];
    if (longer_ns < k_short_ns) ++short_at_[depth];
  }
  /// Is a further split worth its cost? It takes some 80 ns, which would count as work.
  bool lets_loops_split() const noexcept {
    unsigned const next = depth + 1;
    return next <= k_split_depth && (forks_at_[next] < k_enough || 2 * short_at_[next] <= forks_at_[next]);
  }

 private:
  static constexpr double k_short_ns = 3'000;
  static constexpr std::uint32_t k_enough = 8;
  std::array<std::uint32_t, k_split_depth + 1> forks_at_{};  // by depth
  std::array<std::uint32_t, k_split_depth + 1> short_at_{};  // both sides were short
};

class place_table {
 public:
  static constexpr unsigned k_most = 256;
  place_table() noexcept { places_[k_most].number = k_most; }

  /// The place of this task. With k_most others, the one that stands for all further ones.
  place& of(code task) noexcept {
    place& recent = places_[recent_];
    if (recent.task == task) return recent;
    return find(task);
  }
  unsigned number() const noexcept { return used_; }
  bool has_others() const noexcept { return places_[k_most].forks != 0; }
  place const& operator[](unsigned i) const noexcept { return places_[i]; }
  /// Stands for all places past the table's end.
  place const& others() const noexcept { return places_[k_most]; }

 private:
  place& find(code task) noexcept;

  std::array<place, k_most + 1> places_{};
  std::array<std::uint16_t, 2 * k_most> index_{};  // by hash: number + 1, or 0
  unsigned used_ = 0;
  unsigned recent_ = 0;
};

}  // namespace filch::runtime::profile

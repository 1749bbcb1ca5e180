// Switches and sums for measurements and tests. They exist where the library is built with FILCH_PROBES, which CMake
// turns on with the tests and filch-bench. In a product all of this is constant, so no path of it has a switch.
#pragma once

#include <filch/detail/platform.hpp>

#include "runtime/account.hpp"
#include "schedulers/implicit/words.hpp"

#include <cstdint>

namespace filch::inline FILCH_ABI::detail::probes {

#if defined(FILCH_PROBES)

inline constexpr bool k_are_on = true;

/// One object a process. A test or a measurement sets it while no pool runs.
struct words {
  hint<bool> counts_cycles{false};        // the two sums grow
  hint<std::uint64_t> walk_cycles{0};     // time-stamp cycles in walks
  hint<std::uint64_t> victim_cycles{0};   // time-stamp cycles in offering and taking back, walks included
  hint<std::uint32_t> offers_at_most{0};  // offers for a request; 0: as many as usual
  hint<bool> victims_wait{false};         // after an offer the owner waits until a thief has taken it
  hint<bool> runs_pads{false};            // owners run all landing pads; those that can be read are read, too
  hint<std::uint64_t> misread_pads{0};    // pads for which the two results differed
};
FILCH_API words& all() noexcept;

inline bool runs_pads() noexcept { return all().runs_pads.get(); }
inline bool victims_wait() noexcept { return all().victims_wait.get(); }
inline std::uint32_t offers_at_most() noexcept { return all().offers_at_most.get(); }
inline void count_misread_pad() noexcept { all().misread_pads.add(1); }

/// Adds the cycles of its life to a sum.
class timed {
 public:
  explicit timed(hint<std::uint64_t> words::* sum) noexcept
      : sum_(sum), begin_(all().counts_cycles.get() ? runtime::time_stamp() : 0) {}
  timed(timed const&) = delete;
  timed& operator=(timed const&) = delete;
  ~timed() {
    if (begin_ != 0) (all().*sum_).add(static_cast<std::uint64_t>(runtime::time_stamp() - begin_));
  }

 private:
  hint<std::uint64_t> words::* sum_;
  runtime::cycles begin_;
};
struct timed_walk : timed {
  timed_walk() noexcept : timed(&words::walk_cycles) {}
};
struct timed_victim : timed {
  timed_victim() noexcept : timed(&words::victim_cycles) {}
};

#else

inline constexpr bool k_are_on = false;

constexpr bool runs_pads() noexcept { return false; }
constexpr bool victims_wait() noexcept { return false; }
constexpr std::uint32_t offers_at_most() noexcept { return 0; }
constexpr void count_misread_pad() noexcept {}
struct [[maybe_unused]] timed_walk {
  constexpr timed_walk() noexcept {}
};
struct [[maybe_unused]] timed_victim {
  constexpr timed_victim() noexcept {}
};

#endif

}  // namespace filch::inline FILCH_ABI::detail::probes

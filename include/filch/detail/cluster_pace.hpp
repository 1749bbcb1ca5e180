// How often a rank looks for messages: for src/cluster/rank_worker.cpp, and for the simulation of it (bench/scale).
// Why these intervals: docs/decisions/0009-cluster-looks.md.
#pragma once

#include <filch/detail/platform.hpp>

#include <algorithm>
#include <chrono>

namespace filch::inline FILCH_ABI::detail::pace {

/// A poll costs about a microsecond: a few per cent of this at most, and a thief does not wait long.
inline constexpr std::chrono::nanoseconds k_between_polls = std::chrono::microseconds(32);
/// While others ask, as a request comes by several ranks before it finds tasks; but each look costs a few per cent at
/// most there, too.
inline constexpr std::chrono::nanoseconds k_while_asked = std::chrono::microseconds(8);
inline constexpr int k_times_a_look = 16;
/// So many looks after a request are as near to each other.
inline constexpr unsigned k_looks_asked = 256;
/// Where processors are fewer than ranks, MPI gives the processor away in a poll that finds nothing; to have it back
/// costs some microseconds and what was in the caches.
inline constexpr std::chrono::nanoseconds k_between_turns = std::chrono::microseconds(256);
/// A poll or a yield took longer: somebody else had the processor.
inline constexpr std::chrono::nanoseconds k_own_processor = std::chrono::microseconds(20);
/// So long an idle rank yields before it sleeps.
inline constexpr std::chrono::nanoseconds k_awake = std::chrono::microseconds(200);

/// Of a share: how long its tasks should last until it looks again.
class gap {
 public:
  constexpr std::chrono::nanoseconds length() const noexcept { return length_; }
  /// A look took so long. `asked`: it found a request of another rank.
  constexpr void looked(std::chrono::nanoseconds took, bool asked) noexcept {
    looks_asked_ = asked ? k_looks_asked : looks_asked_ - (looks_asked_ > 0);
    if (took > k_own_processor) {
      length_ = k_between_turns;
    } else if (looks_asked_ > 0) {
      length_ = std::clamp(k_times_a_look * took, k_while_asked, k_between_polls);
    } else {
      length_ = k_between_polls;
    }
  }

 private:
  std::chrono::nanoseconds length_ = k_between_polls;
  unsigned looks_asked_ = 0;
};

/// So long a worker that was called away from its pool waits for an answer. The pool may come to need it.
inline constexpr std::chrono::nanoseconds k_helper_waits = std::chrono::milliseconds(2);
/// How long nobody is called away, after so many in a row were in vain.
constexpr std::chrono::nanoseconds between_helpers(unsigned in_vain) noexcept {
  constexpr unsigned k_doublings = 4;
  return std::chrono::milliseconds(1u << std::min(in_vain, k_doublings));
}

/// How long its sleep is, after so many.
constexpr std::chrono::nanoseconds sleep_after(unsigned sleeps) noexcept {
  constexpr unsigned k_alike = 16;
  constexpr unsigned k_doublings = 5;
  return std::chrono::microseconds(30u << std::min(sleeps / k_alike, k_doublings));
}

/// How long it does not ask for work, after so many requests that came back in vain before the last one.
constexpr std::chrono::nanoseconds silence_after(unsigned refusals) noexcept {
  constexpr unsigned k_doublings = 9;
  return std::chrono::microseconds(2u << std::min(refusals, k_doublings));
}

}  // namespace filch::inline FILCH_ABI::detail::pace

// How often a rank polls, for src/cluster/rank_worker.cpp and idle_pause.cpp and for the simulator (bench/scale).
// The reasons and measurements: docs/decisions/0009-cluster-looks.md.
#pragma once

#include <filch/detail/platform.hpp>

#include <algorithm>
#include <chrono>

namespace filch::inline FILCH_ABI::detail::pace {

/// A poll costs 45 to 130 ns (Open MPI, shared memory), less than a per cent of this. A thief waits no longer than
/// this for an answer.
inline constexpr std::chrono::nanoseconds k_between_polls = std::chrono::microseconds(32);
/// The interval while other ranks send requests: each request passes several ranks before it finds tasks. A poll may
/// cost a few per cent there.
inline constexpr std::chrono::nanoseconds k_while_requested = std::chrono::microseconds(8);
inline constexpr int k_times_a_poll = 16;
/// Polls after a request that keep the short interval.
inline constexpr unsigned k_polls_after_request = 256;
/// With fewer processors than ranks, MPI gives the processor away in a poll that finds nothing. To get it back costs
/// some microseconds and the contents of the caches.
inline constexpr std::chrono::nanoseconds k_between_turns = std::chrono::microseconds(256);
/// Longest poll or yield during which no other thread had the processor.
inline constexpr std::chrono::nanoseconds k_own_processor = std::chrono::microseconds(20);
/// How long an idle rank yields before it sleeps.
inline constexpr std::chrono::nanoseconds k_awake = std::chrono::microseconds(200);

/// A rank worker's interval between two polls.
class gap {
 public:
  constexpr std::chrono::nanoseconds length() const noexcept { return length_; }
  /// After a poll. `took`: its length. `requested`: it found another rank's request.
  constexpr void looked(std::chrono::nanoseconds took, bool requested) noexcept {
    requested_polls_ = requested ? k_polls_after_request : requested_polls_ - (requested_polls_ > 0);
    if (took > k_own_processor) {
      length_ = k_between_turns;
    } else if (requested_polls_ > 0) {
      length_ = std::clamp(k_times_a_poll * took, k_while_requested, k_between_polls);
    } else {
      length_ = k_between_polls;
    }
  }

 private:
  std::chrono::nanoseconds length_ = k_between_polls;
  unsigned requested_polls_ = 0;
};

/// How long a helper waits for an answer. The pool may need the worker meanwhile.
inline constexpr std::chrono::nanoseconds k_helper_waits = std::chrono::milliseconds(2);
/// How long the helper thread waits after `in_vain` calls in a row without effect.
constexpr std::chrono::nanoseconds between_helpers(unsigned in_vain) noexcept {
  constexpr unsigned k_doublings = 4;
  return std::chrono::milliseconds(1u << std::min(in_vain, k_doublings));
}

/// The length of an idle rank's next sleep, after `sleeps` of them.
constexpr std::chrono::nanoseconds sleep_after(unsigned sleeps) noexcept {
  constexpr unsigned k_alike = 16;
  constexpr unsigned k_doublings = 5;
  return std::chrono::microseconds(30u << std::min(sleeps / k_alike, k_doublings));
}

/// How long a rank sends no request after a refused one. `refusals`: refused requests before that one.
constexpr std::chrono::nanoseconds silence_after(unsigned refusals) noexcept {
  constexpr unsigned k_doublings = 9;
  return std::chrono::microseconds(2u << std::min(refusals, k_doublings));
}

}  // namespace filch::inline FILCH_ABI::detail::pace

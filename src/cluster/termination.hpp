// The endpoint's view of a run: which run it is, whether the rank is passive, and the waves that find the end (F.
// Mattern, Algorithms for distributed termination detection, 1987). Called by the endpoint, under its mutex.
// Protocol: protocol.md, "Termination".
#pragma once

#include "cluster/bounds.hpp"
#include "cluster/messenger.hpp"

#include <optional>

namespace filch::inline FILCH_ABI::detail {

class FILCH_API termination {
 public:
  termination(messenger& m, bounds& b) noexcept : messenger_(m), bounds_(b) {}

  void begin_run() noexcept;
  /// The number of runs that this rank began.
  std::uint64_t run() const noexcept { return runs_begun_; }
  bool run_has_ended() const noexcept { return runs_ended_ == runs_begun_; }

  // The rank is active while one of these holds, while tasks that arrived wait, or bounds are to be sent.

  void set_main_loop_works(bool works) noexcept { main_loop_works_ = works; }
  bool main_loop_works() const noexcept { return main_loop_works_; }
  void helper_begins() noexcept { ++helpers_; }
  void helper_ends() noexcept { --helpers_; }
  unsigned helpers() const noexcept { return helpers_; }

  /// The rank is passive: answers a wave that is here, or starts one at the root.
  void answer_wave();

  /// Message `probe`.
  void take_probe();
  /// Message `counts`.
  void take_counts(unpacker& u);
  /// Message `end`.
  void take_end() { end_run(); }

  runtime::broken_condition broken() const noexcept;

 private:
  static constexpr unsigned k_helpers_most = 1u << 16;

  void send_probes();
  void end_run();

  messenger& messenger_;
  bounds& bounds_;
  std::uint64_t runs_begun_ = 0;
  std::uint64_t runs_ended_ = 0;
  bool main_loop_works_ = false;  // its rank worker has tasks
  unsigned helpers_ = 0;          // rank workers with tasks that the main loop does not know
  bool wave_is_here_ = false;
  std::size_t wave_answers_ = 0;                  // children that answered
  message_counters wave_sum_;                     // the sum of their answers
  std::optional<std::uint64_t> received_before_;  // root: basic messages received, by the previous wave of this run
};

}  // namespace filch::inline FILCH_ABI::detail

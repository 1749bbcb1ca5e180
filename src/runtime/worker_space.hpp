// The memory of a worker: its stack and, above it, its scheduler's part.
#pragma once

#include <filch/pool_options.hpp>

#include "os/linux/memory.hpp"
#include "runtime/account.hpp"

#include <chrono>
#include <utility>

namespace filch::runtime {

/// One reservation: a guard, the stack, which grows down from middle(), and the scheduler's part, which grows up from
/// it. Both start in the middle of the same aligned mebibyte, for the processor's first-level cache
/// (docs/decisions/0002-worker-space.md).
class worker_space {
 public:
  worker_space() noexcept = default;
  /// On failure valid() is false and errno says why.
  worker_space(std::size_t stack_bytes, std::size_t upper_bytes) noexcept;

  bool valid() const noexcept { return all_.valid(); }
  std::byte* low() const noexcept { return all_.low(); }
  std::byte* middle() const noexcept { return middle_; }
  std::byte* high() const noexcept { return all_.high(); }
  std::size_t stack_bytes() const noexcept { return static_cast<std::size_t>(middle_ - all_.low()); }
  os::reservation const& reservation() const noexcept { return all_; }

  /// A call begins: its caller gives pages back when it leaves. Each call begins so, which builds with checks test.
  void begin_call() noexcept { call_began_ = time_stamp(); }
  /// The same for a call whose begin is unknown: it counts as long.
  void begin_long_call() noexcept { call_began_ = time_stamp() - k_between_questions; }

  /// The time at which the worker gives pages back. A worker that sleeps may come again; a caller that leaves may
  /// not.
  enum class when { sleeps, sleeps_in_join, leaves };
  struct [[nodiscard]] give_back_result {
    bool is_done = false;
    std::chrono::nanoseconds again_in{0};  // there are such pages, but the last time was only just; 0: there are none
  };
  /// For the worker that owns the space. Bytes below `stack_in_use` are unused (in a join: if the caller's frames
  /// lead to the stack's begin, as runtime::where_frames_lead says), and so are bytes from `upper_in_use` on (null:
  /// they are used). If more of either may be in memory than k_kept_bytes, the rest goes back to the system. This may
  /// cost a share of the time only: it does not happen again before many times as long have passed, unless a caller
  /// would leave k_most_left_bytes. A system call is made only if there is something to give back, at sleep, and now
  /// and then when a caller leaves: for stacks whose frames leave the inspected page as it was.
  give_back_result give_back(std::byte* stack_in_use, std::byte* upper_in_use, give_back_policy policy,
                             when now) noexcept;
  static constexpr std::size_t k_kept_bytes = std::size_t{256} << 10;
  static constexpr std::size_t k_most_left_bytes = std::size_t{4} << 20;

 private:
  friend struct team_checks;
  using clock = std::chrono::steady_clock;
  using pages = std::pair<std::byte*, std::byte*>;  // begin and end
  static constexpr std::size_t k_block = std::size_t{1} << 20;
  // To touch the pages again takes about four times as long as to give them back, so this is a twentieth of the time.
  static constexpr int k_rest = 100;
  // Some 200 microseconds of calls, in which k_most_left_bytes can hardly be touched. Asking the system takes two to
  // four microseconds, and longer while other threads map memory. So a thread does not ask again if it has had no
  // page fault since.
  static constexpr cycles k_between_questions = 500'000;
  // Seldom without a page fault: another thread may have locked all memory, which fills it.
  static constexpr unsigned k_questions_left_out = 64;

  pages unused_stack(std::byte* in_use, std::size_t kept) const noexcept;
  pages unused_upper(std::byte* in_use, std::size_t kept) const noexcept;
  bool must_ask(when now) noexcept;

  os::reservation all_;
  std::byte* middle_ = nullptr;
  // the worker's
  clock::time_point rests_until_{};
  cycles call_began_ = 0;                // 0: no call has begun
  cycles not_asked_for_ = 0;             // time of calls
  std::uint64_t faults_when_asked_ = 0;  // of the thread that asked; 0: there may be pages
  unsigned not_asked_ = 0;               // so often without a page fault
};

}  // namespace filch::runtime

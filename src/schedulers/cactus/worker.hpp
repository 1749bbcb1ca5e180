// A worker on cactus stacks, and its team. Words and edges: protocol.md beside this file.
#pragma once

#include <filch/cactus.hpp>

#include "runtime/strand_stack.hpp"
#include "runtime/team.hpp"

namespace filch::inline FILCH_ABI::detail {

class cactus_team;

/// Calls call(argument) as a worker that forks nothing: joins in it run in order, on this thread.
void cactus_stay(void (*call)(void*), void* argument);

/// Which of a worker's places are public: [tail, split). One word, so that every change is one exchange.
struct cactus_public {
  std::uint32_t tail;
  std::uint32_t split;

  static cactus_public of(std::uint64_t word) noexcept {
    return {static_cast<std::uint32_t>(word), static_cast<std::uint32_t>(word >> 32)};
  }
  std::uint64_t word() const noexcept { return std::uint64_t{split} << 32 | tail; }
};

/// What is to be done for a strand that has left its stack.
struct cactus_parting {
  enum { ended, suspends, resumes } what = ended;
  cactus_meeting* meeting = nullptr;  // suspends: adds `stolen` to it
  std::int64_t stolen = 0;
  runtime::strand_stack* next = nullptr;  // resumes: who goes on here
};

struct alignas(64) cactus_member : cactus_worker {
  cactus_member() noexcept : cactus_worker(cactus_kind::member, nullptr) {}

  // fixed after start
  cactus_team* team = nullptr;
  unsigned index = 0;
  cactus_task** base = nullptr;

  // owner
  alignas(64) std::uint32_t random = 0;
  unsigned taken_back_in_a_row = 0;        // public tasks since the last steal or request
  runtime::strand_stack* home = nullptr;   // where the worker looks for work
  runtime::strand_stack* stack = nullptr;  // of the strand that it runs
  runtime::strand_stack* spare = nullptr;
  cactus_task* next_task = nullptr;    // for a strand that begins
  void (*next_call)(void*) = nullptr;  // the same, of a caller from outside
  void* next_argument = nullptr;
  cactus_parting parting;
  std::uint64_t starts = 0;  // times that it began at its first place again

  // owner and thieves
  alignas(64) std::atomic<std::uint64_t> open{0};  // a cactus_public
  std::atomic<std::uint32_t> taken{0};             // places whose task a thief has read, of those below tail
};

class cactus_team final : public runtime::team {
 public:
  cactus_team(runtime::settings s, bool tolerate_missing_threads);
  ~cactus_team() override;

  // The owner's slow paths.
  void publish(cactus_member& w, std::uint32_t below) noexcept;
  bool take_back(cactus_member& w) noexcept;
  void start_over_if_far(cactus_member& w) noexcept;
  bool has_room(cactus_member& w) noexcept;
  /// Leaves the stack until `stolen` parts have arrived at the meeting. Continues on any thread.
  void wait_at(cactus_meeting& m, std::int64_t stolen) noexcept;

  // The way in and out.
  cactus_member* place_of_caller() const noexcept;
  void leave_for_other_pool(cactus_member& w) noexcept;
  /// The same pool once more, for a child of fork().
  std::unique_ptr<cactus_team> again() const { return std::make_unique<cactus_team>(asked_for(), true); }

  char const* scheduler_name() const noexcept override { return "cactus"; }

 private:
  void be_worker(unsigned me, void (*call)(void*), void* argument) override;
  void run_call(unsigned me, void (*call)(void*), void* argument) override;
  bool steal_and_run(unsigned me) override;
  void ask_everybody(unsigned me) noexcept override;
  bool sees_work(unsigned me) const noexcept override;
  std::uint64_t forks_of(unsigned) const noexcept override { return 0; }

  static void strand_main(void*) noexcept;
  static void ask(cactus_member& victim) noexcept;
  cactus_task* steal_from(cactus_member& victim, cactus_member& me) noexcept;
  static bool offers_task(cactus_member const& victim) noexcept;
  void pass_on(cactus_member& me) noexcept;
  void run_strand(cactus_member& w) noexcept;
  bool need_spare(cactus_member& w) noexcept;
  void task_is_public(cactus_member& w) noexcept;

  runtime::strand_stack_pool stacks_;
  std::vector<cactus_member*> members_;  // each at the start of its worker's space, its places behind it
  std::uint32_t places_ = 0;
};

}  // namespace filch::inline FILCH_ABI::detail

// A worker whose call stack is its deque, and the team of a pool. The team's methods are grouped by actor: the victim
// (offer.cpp, answer.cpp), the thief (steal.cpp, interrupt.cpp), the pool (pool.cpp). Protocol: protocol.md.
#pragma once

#include <filch/implicit.hpp>

#include "runtime/account.hpp"
#include "runtime/counters.hpp"
#include "runtime/exceptions_in_flight.hpp"
#include "runtime/fiber/team.hpp"
#include "schedulers/implicit/record.hpp"
#include "schedulers/implicit/unwind/walk.hpp"
#include "schedulers/implicit/words.hpp"

#include <algorithm>
#include <chrono>
#include <string>

namespace filch::inline FILCH_ABI::detail {

struct alignas(64) implicit_member : runtime::fiber_member {
  static constexpr std::uint64_t k_first_walk_cost = 512;
  static constexpr runtime::cycles k_longest_rest = 16'000;  // between looks at a victim that may not be requested

  implicit_member() noexcept : fiber_member(k_implicit_tag, k_not_requested, fiber_requested()) {}

  // owner writes, thieves read
  alignas(64) stack_word offers;           // the stack of the fiber that it runs
  thread_word thread;                      // OS thread id while it runs a fiber, else 0
  hint<runtime::cycles> put_off_until{0};  // time stamp before which thieves do not request; after edge implicit-6
  interrupt_pause pause;                   // until when thieves send no interrupt
  // thieves set, owner clears
  interrupt_mark interrupted;
  stale_pads_mark stale_pads;  // in `frames`
  // owner and thieves
  runtime::account account;

  // owner
  alignas(64) change_mark change;
  sized_call_frame_cache<1024> frames;
  pad_cache pads;
  oldest_join_frames found;
  runtime::exceptions_in_flight const* exceptions = nullptr;  // its thread's
  std::uint64_t walk_cost = k_first_walk_cost;                // 1024ths of a cycle for each byte of a stack
  runtime::cycles pays_since = 0;                             // first request that was put off, since the last walk
  runtime::counter walks;                                     // stats() reads it
  // thief
  implicit_member const* refused_by = nullptr;  // the last victim whose account forbade a request
  hint<runtime::cycles> looks_again_at{0};      // at that one; tests read it
  runtime::cycles rests_until = 0;              // all victims of this search refuse until then; 0: one does not

  /// The time stamp from which on thieves may request.
  runtime::cycles may_be_requested_at() const noexcept { return std::max(account.paid_at(), put_off_until.get()); }
  request_word request() noexcept { return request_word(*this); }
};

class implicit_team final : public runtime::fiber_team {
 public:
  implicit_team(runtime::settings s, implicit_options const& own, bool tolerate_missing_threads);
  implicit_options const& own_options() const noexcept { return own_; }
  ~implicit_team() override;

  // The victim: answer.cpp.
  /// Offers the oldest continuations that are not offered yet, unless that costs too much now.
  void publish(implicit_member& w) noexcept;
  /// The same at any cost: the worker is about to wait, perhaps for one of these.
  void publish_at_any_cost(implicit_member& w) noexcept;
  /// The same for the callers of a frame that continues with these registers.
  void publish_callers(implicit_member& w, frame_registers at) noexcept;
  /// The same in the handler of a signal that interrupted the worker there.
  void publish_interrupted(implicit_member& w, frame_registers const& there) noexcept;
  /// Nothing can be offered now, but may be later. Thieves send no interrupt meanwhile.
  void answer_later(implicit_member& w) noexcept;
  void serve_thieves(runtime::fiber_member& w) noexcept override;
  void offer_all(runtime::fiber_member& w) noexcept override;
  /// A stolen g is done, and the frame has waited so many cycles for it.
  void settle(implicit_record const& r, runtime::cycles waited) noexcept;
  /// The owner has taken an offer of its own: its last one, or a scope's oldest. edge implicit-4: while a worker
  /// sleeps, or is on its way, one is requested wherever nothing is offered.
  void took_own_offer(implicit_member& w) noexcept {
    if (should_ask_itself(w)) request_for_sleepers(w);
  }

  // The victim: offer.cpp.
  /// Takes back the newest of the stack's offers; false: it was stolen.
  bool take_back(implicit_member& w, implicit_stack& s) noexcept;

  bool somebody_sleeps(implicit_member const& w) noexcept { return anybody_sleeps(w.stack->root); }
  std::uint64_t barrier() const noexcept { return barrier_; }
  std::uint32_t places() const noexcept { return places_; }

  char const* scheduler_name() const noexcept override { return "implicit"; }
  /// For pool_of::stats.
  void add_to(implicit_stats& all) const noexcept;
  std::string own_figures() const override;

 private:
  // The pool.
  void make_place(unsigned place) noexcept override;
  void be_worker(unsigned me, void (*call)(void*), void* argument) override;
  void takes_up(runtime::fiber_member& w) noexcept override;
  void keep_interrupts_away(runtime::fiber_member& m) noexcept override;
  void admit_interrupts(runtime::fiber_member& m) noexcept override;
  void wait_for_interrupts(implicit_member& w) noexcept;
  void is_free(runtime::fiber_member& w) noexcept override;
  bool keeps_accounts() const noexcept override { return true; }

  // The thief.
  bool steal_and_run(unsigned me) override;
  fiber_task* steal_from(runtime::fiber_member& victim, runtime::fiber_member& me,
                         std::uint16_t& root) noexcept override;
  void const* code_of(fiber_task const& task) const noexcept override;
  void request_more(implicit_record const& r, implicit_member const& me, implicit_member& publisher,
                    std::uint16_t root) noexcept;
  void take_over_account(implicit_record& r, implicit_member& me, implicit_member& publisher) noexcept;
  runtime::fiber_offers offers_of(runtime::fiber_member const& victim) const noexcept override;
  void ask(runtime::fiber_member& victim) noexcept override;
  /// Requests, or returns in how many cycles it may.
  runtime::cycles request_if_due(implicit_member& victim) noexcept;
  void request_and_interrupt(implicit_member const& me, implicit_member& victim, std::uint16_t root) noexcept;
  static join_counter& run_and_request(fiber_task& task) noexcept;
  static join_counter& run_spawned(fiber_task& task) noexcept;
  static join_counter& run_nothing(fiber_task& task) noexcept;
  std::chrono::nanoseconds insist(unsigned me) noexcept override;
  /// Sends the victim an interrupt if it does not answer. Zero, or in how many cycles to come again.
  runtime::cycles interrupt(unsigned me, implicit_member& victim) noexcept;
  bool is_owed(unsigned worker) const noexcept override;

  // The victim: what an answer costs, answer.cpp.
  bool puts_off(implicit_member& w, frame_registers const& there) noexcept;
  void put_off(implicit_member& w, runtime::cycles due) noexcept;
  void request_for_sleepers(runtime::fiber_member& w) noexcept override;
  template <class Publish>
  void publish_and_charge(implicit_member& w, frame_registers const& there, Publish publish) noexcept;

  // The victim: offer.cpp.
  /// `complete`: something was offered, or nothing is left. `cut_short`: code without unwind information hides what
  /// the worker holds. It may come back from there, and not fork.
  enum class [[nodiscard]] walked { complete, cut_short };
  walked publish_from(implicit_member& w, join_frame_walk const& walk) noexcept;
  join_frame_walk walk_of(implicit_member& w, frame_registers const& begin, bool begins_after_call) noexcept;
  std::uint32_t make_oldest(implicit_member& w, implicit_stack& s, join_frame_walk const& walk,
                            bool& saw_all) noexcept;
  std::uint32_t make_share(implicit_stack& s, join_frame_walk const& from, std::size_t all) noexcept;
  void make_public(implicit_member& w, implicit_stack& s, std::uint32_t count) noexcept;

  implicit_options const own_;
  std::uint64_t barrier_ = 0;  // address of the barrier for stacks of this size
  std::uint32_t places_ = 0;   // records that a stack has room for
  bool interrupts_ = false;    // whether its workers are interrupted
};

/// The root of the callers that may take offers of the worker's fiber.
inline std::uint16_t root_of(implicit_member const& w) noexcept {
  return w.stack ? w.stack->root : runtime::k_any_root;
}

/// The stack of the worker's fiber.
inline stack_bounds bounds_of(implicit_member const& w) noexcept {
  return {reinterpret_cast<std::uint64_t>(w.stack->memory().low()),
          reinterpret_cast<std::uint64_t>(w.stack->memory().high())};
}

inline implicit_team& team_of(implicit_member& w) noexcept { return static_cast<implicit_team&>(*w.team); }
inline implicit_member& this_member() noexcept { return static_cast<implicit_member&>(runtime::this_member()); }

/// Once a process: lets thieves interrupt workers that do not fork. False: they can't.
bool answer_interrupts() noexcept;

}  // namespace filch::inline FILCH_ABI::detail

// A worker whose call stack is its deque, and its team. Words and edges: protocol.md beside this file.
#pragma once

#include <filch/implicit.hpp>

#include "runtime/account.hpp"
#include "runtime/exceptions_in_flight.hpp"
#include "runtime/fiber_team.hpp"
#include "schedulers/implicit/join_frames.hpp"

#include <unwind.h>

namespace filch::inline FILCH_ABI::detail {

/// What `poll` holds while no thief asks.
inline constexpr std::uint64_t k_not_requested = runtime::k_steals_are_forced ? k_requested + 1 : 0;

/// The registers with which an offered frame goes on. Laid out for src/arch/x86_64/continuation.S.
struct implicit_state {
  std::uint64_t rbx, rbp, r12, r13, r14, r15, rsp, rip;
  std::uint64_t rcx, rdx, rsi, rdi, r8, r9, r10;
  std::uint64_t offering_rsp;
};
static_assert(offsetof(implicit_state, rip) == 56 && offsetof(implicit_state, offering_rsp) == 120);

/// What the return barrier saves. Laid out for src/arch/x86_64/continuation.S.
struct implicit_returned {
  implicit_registers results;
  std::uint64_t rbx, rbp, r12, r13, r14, r15;
  std::uint64_t unused[4];
  std::uint64_t goes_on_at;  // just below the frame's stack pointer
};
static_assert(offsetof(implicit_returned, rbx) == 24 && offsetof(implicit_returned, goes_on_at) == 104 &&
              sizeof(implicit_returned) == 112);

struct alignas(64) implicit_record : implicit_offer {
  enum class kind : unsigned char { join, spawned, outside };

  kind what = kind::join;
  // Whether the rest of it is in `state`, or nobody has looked yet.
  bool has_landed = false;
  union {
    implicit_state state;  // how the frame goes on
    join_frame frame{};    // how it would come to its landing pad
  };
  std::uint64_t* return_slot = nullptr;         // join: where f's return address lies
  runtime::exceptions_in_flight exceptions{};   // of the fiber, from its resumption to the frame's
  _Unwind_Exception marker;                     // what the landing pad takes for the exception
  decltype(fiber_task::run) run_g = nullptr;    // join: in the thief
  struct implicit_member* publisher = nullptr;  // who that thief asks for more, or pays
  runtime::cycles lasted = 0;                   // join: its g, in the thief
  union {
    std::uint64_t hidden_return = 0;  // join: the address in whose place the barrier may stand
    fiber_task* task;                 // spawned: what to run
  };
  bool pays = false;                       // spawned: the publisher has little credit
  std::uint64_t rank = 0;                  // its place on the stack: the higher the older
  class implicit_frame* scope = nullptr;   // spawned: whose task
  struct implicit_stack* stack = nullptr;  // join: that it is a record of
};

/// Which of a stack's records are public: [tail, head), and the root of its fiber. One word, so that every change is
/// one exchange, and a thief takes nothing of another root than it saw.
struct implicit_public {
  static constexpr unsigned k_bits = 24;
  static constexpr std::uint32_t k_most = (1u << k_bits) - 1;

  std::uint32_t tail;
  std::uint32_t head;
  std::uint16_t root;

  static implicit_public of(std::uint64_t word) noexcept {
    return {static_cast<std::uint32_t>(word) & k_most, static_cast<std::uint32_t>(word >> k_bits) & k_most,
            static_cast<std::uint16_t>(word >> 2 * k_bits)};
  }
  std::uint64_t word() const noexcept {
    return std::uint64_t{root} << 2 * k_bits | std::uint64_t{head} << k_bits | tail;
  }
  implicit_public with_tail(std::uint32_t t) const noexcept { return {t, head, root}; }
  implicit_public with_head(std::uint32_t h) const noexcept { return {tail, h, root}; }
};

class implicit_frame;

/// The header of a stack: what was offered of it, the oldest first. All of it but `open` is its owner's, who is the
/// worker that runs the fiber.
struct implicit_stack {
  alignas(64) std::atomic<std::uint64_t> open;  // an implicit_public
  alignas(64) std::uint64_t hidden_return;      // the return address that the barrier took away
  implicit_record* known_end;                   // of the records that unwinders look at; see put_barrier()
  std::uint64_t* barrier_slot;                  // where the barrier stands; null: nowhere
  std::uint64_t barrier;                        // its address, for stacks of this size
  implicit_frame* newest_scope;                 // of those with tasks that wait
  implicit_frame* oldest_scope;
  std::uint64_t scopes;  // that were begun

  /// The records lie behind it, as many as there is room for.
  implicit_record& record(std::uint32_t i) noexcept { return reinterpret_cast<implicit_record*>(this + 1)[i]; }
  std::uint32_t number_of_records() const noexcept {
    return implicit_public::of(open.load(std::memory_order_relaxed)).head;
  }
  /// What is offered next must be newer than this record; null: anything goes.
  implicit_record* newest() noexcept {
    std::uint32_t const n = number_of_records();
    return n ? &record(n - 1) : nullptr;
  }
  /// Unwinders find the return address that the barrier took away by its place, in the records before `known_end`. So
  /// at each instruction where the barrier stands somewhere, or did when an unwinder that was interrupted came past,
  /// that frame's record is among these, and no other one of the same place that is behind it.
  void put_barrier(implicit_record& r) noexcept;
  void pop() noexcept;
  /// The newest records, all stolen and done with.
  void forget_stolen(std::uint32_t count) noexcept {
    // All that is older was stolen too, so nobody else changes the word.
    implicit_public const now = implicit_public::of(open.load(std::memory_order_relaxed));
    std::uint32_t const left = now.head - count;
    open.store(implicit_public{left, left, now.root}.word(), std::memory_order_release);
  }
};
// Laid out for src/arch/x86_64/continuation.S.
static_assert(offsetof(implicit_stack, hidden_return) == 64 && offsetof(implicit_stack, known_end) == 72);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"
static_assert(sizeof(implicit_record) == 384 && offsetof(implicit_record, return_slot) == 264 &&
              offsetof(implicit_record, hidden_return) == 344 && sizeof(implicit_record) > sizeof(implicit_stack));
#pragma GCC diagnostic pop

struct alignas(64) implicit_member : runtime::fiber_member {
  // Some 100 microseconds: where an exception is on its way, say.
  static constexpr runtime::cycles k_first_pause = runtime::cycles{1} << 18;
  static constexpr runtime::cycles k_longest_pause = runtime::cycles{1} << 29;
  static constexpr std::uint64_t k_first_walk_cost = 512;

  implicit_member() noexcept : fiber_member(fiber_kind::implicit, k_not_requested, fiber_requested()) {}

  // owner writes, thieves read
  alignas(64) std::atomic<implicit_stack*> offers{nullptr};  // of the fiber that it runs

  std::atomic<pid_t> thread{0};  // that it is; 0: none
  // thieves set, owner clears
  std::atomic<bool> is_interrupted{false};
  std::atomic<bool> has_stale_pads{false};  // in `frames`: a thief could not land
  // owner writes, thieves read
  // The time-stamp counter from which on it may be asked, or interrupted, again.
  std::atomic<runtime::cycles> put_off_until{0};
  std::atomic<runtime::cycles> refused_until{0};
  // owner and thieves
  runtime::account account;

  runtime::cycles may_be_asked_at() const noexcept {
    // relaxed: a hint, or after edge implicit-6.
    return std::max(account.paid_at(), put_off_until.load(std::memory_order_relaxed));
  }

  // owner
  /// The handler of an interrupt keeps its hands off: records, lists or the walk's memory are being changed.
  /// Written and read by one thread.
  alignas(64) std::atomic<bool> is_busy{false};
  sized_call_frame_cache<1024> frames;
  oldest_join_frames found;
  runtime::exceptions_in_flight const* exceptions = nullptr;  // of its thread
  std::atomic<runtime::cycles> pause{k_first_pause};          // after the next refusal; its handlers write it, too
  std::uint64_t walk_cost = k_first_walk_cost;                // in 1024ths of a cycle for each byte of a stack

  // edge implicit-5. relaxed, all: one thread and its signal handlers.
  void begin_change() noexcept {
    is_busy.store(true, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  void end_change() noexcept {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    is_busy.store(false, std::memory_order_relaxed);
  }
};

class implicit_team final : public runtime::fiber_team {
 public:
  implicit_team(runtime::settings s, bool tolerate_missing_threads);
  ~implicit_team() override;

  /// Offers the oldest of what the worker has and has not offered, if that does not cost too much now.
  void publish(implicit_member& w) noexcept;
  void publish_at_any_cost(implicit_member& w) noexcept;
  /// The same for the callers of a frame that goes on.
  void publish_callers(implicit_member& w, implicit_returned const& of) noexcept;
  /// The same, in the handler of a signal that interrupted the worker there.
  void publish_interrupted(implicit_member& w, frame_registers const& there) noexcept;
  /// Where nothing can be offered at this moment, but may be later: each time later.
  void refuse(implicit_member& w) noexcept;
  /// Takes back the newest of the stack's offers; false: it was stolen.
  bool take_back(implicit_member& w, implicit_stack& s) noexcept;
  /// Its owner has taken the last offer. edge implicit-4: while somebody sleeps, or is on the way, a request stands
  /// wherever nothing is offered.
  void took_last_offer(implicit_member& w) noexcept {
    if (should_ask_itself(w)) ask_itself(w);
  }
  /// A stolen g is done, and the frame has waited so long for it.
  void settle(implicit_record const& r, runtime::cycles waited) noexcept;

  bool somebody_sleeps(implicit_member const& w) noexcept { return anybody_sleeps(w.stack->root); }
  void serve_thieves(runtime::fiber_member& w) noexcept override;
  void offer_all(runtime::fiber_member& w) noexcept override;

  char const* scheduler_name() const noexcept override { return "implicit"; }

 private:
  void make_place(unsigned place) noexcept override;
  void be_worker(unsigned me, void (*call)(void*), void* argument) override;
  void waits_in_system(bool begins) noexcept override;
  fiber_task* steal_from(runtime::fiber_member& victim, runtime::fiber_member& me,
                         std::uint16_t& root) noexcept override;
  void ask(runtime::fiber_member& victim) noexcept override;
  static join_counter& run_and_ask(fiber_task& task) noexcept;
  static join_counter& run_spawned(fiber_task& task) noexcept;
  static join_counter& run_nothing(fiber_task& task) noexcept;
  /// Asks, or returns in how many cycles it may.
  runtime::cycles ask_if_due(implicit_member& victim) noexcept;
  runtime::fiber_offers offers_of(runtime::fiber_member const& victim) const noexcept override;
  void takes_up(runtime::fiber_member& w) noexcept override;
  void is_free(runtime::fiber_member& w) noexcept override;
  std::chrono::nanoseconds insist(unsigned me) noexcept override;
  /// Interrupts the victim if it holds back a request. Edge implicit-5. Zero, or in how many cycles to come again.
  runtime::cycles insist_on(implicit_member& victim) noexcept;
  bool is_owed(unsigned worker) const noexcept override;
  bool keeps_accounts() const noexcept override { return true; }
  void ask_for_sleepers(implicit_member const& me, implicit_member& victim, std::uint16_t root) noexcept;

  /// Over how many bytes of the stack a walk from there goes.
  static std::uint64_t length_of_walk(implicit_member const& w, frame_registers const& there) noexcept;
  /// What it will cost; 0: next to nothing.
  static runtime::cycles expected_cost(implicit_member const& w, std::uint64_t length) noexcept;
  /// True: thieves have cost the worker too much for that, and are told when to come again.
  bool puts_off(implicit_member& w, frame_registers const& there) noexcept;
  /// Takes the request away; whoever looks for work comes again at that time.
  void put_off(implicit_member& w, runtime::cycles due) noexcept;
  /// For those who sleep, or are on the way.
  void ask_itself(implicit_member& w) noexcept;
  template <class From> void publish_or_refuse(implicit_member& w, frame_registers const& there, From from) noexcept;
  [[nodiscard]] bool publish_from(implicit_member& w, join_frame_walk const& walk) noexcept;
  static void wait_for_thief(implicit_stack const& s) noexcept;
  void make_public(implicit_member& w, implicit_stack& s, std::uint32_t count) noexcept;
  std::uint32_t offer_oldest(implicit_member& w, implicit_stack& s, join_frame_walk const& walk,
                             bool& saw_all) noexcept;
  std::uint32_t offer_share(implicit_stack& s, join_frame_walk const& from, std::size_t all) noexcept;

  join_frame_walk walk_of(implicit_member& w, frame_registers const& begin, bool begins_after_call) noexcept;

  std::uint64_t barrier_ = 0;  // its address, for stacks of this size
  std::uint32_t places_ = 0;   // records of a stack
  bool interrupts_ = false;    // its workers are interrupted
};

/// Which callers may take what the worker's fiber offers.
inline std::uint16_t root_of(implicit_member const& w) noexcept {
  return w.stack ? w.stack->root : runtime::k_any_root;
}

/// Of the stack of its fiber.
inline stack_bounds bounds_of(implicit_member const& w) noexcept {
  return {reinterpret_cast<std::uint64_t>(w.stack->memory().low()),
          reinterpret_cast<std::uint64_t>(w.stack->memory().high())};
}

inline implicit_team& team_of(implicit_member& w) noexcept { return static_cast<implicit_team&>(*w.team); }
inline implicit_member& this_member() noexcept { return static_cast<implicit_member&>(runtime::this_member()); }

/// Once a process: lets thieves interrupt who does not look. False: they can't.
bool answer_interrupts() noexcept;

/// Finds out what the landing pad of an offered frame hands over, if nobody did before: what g is, and how the frame
/// goes on, which from here on is at its landing pad. By who took the offer. False, and nothing has happened: the
/// landing pad can't be read any more.
[[nodiscard]] bool land(implicit_record& r) noexcept;

}  // namespace filch::inline FILCH_ABI::detail

// The direct task stack: the words that an owner and its thieves share, and where they lie. Each word is a class;
// its methods are its transitions, and each names the caller: Owner or Thief. Forks and joins reach these words
// through direct_stack (filch/direct.hpp). Proof: src/schedulers/direct/protocol.md, which lists the edges below.
#pragma once

#include <filch/detail/task_stack.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace filch::inline FILCH_ABI::detail {

struct direct_task;

// ---- the state of a task -------------------------------------------------------------------------

enum class [[nodiscard]] direct_state : std::uintptr_t {
  empty = 0,     // no task here, or a thief has claimed it and has not decided yet
  task = 1,      // may be stolen or joined
  returned = 2,  // its thief is done: the payload holds the result
  threw = 3,     // its thief is done: the payload holds the exception
  waited = 4,    // stolen, and its owner sleeps until it is done
  taken = 5,     // its owner runs it while other tasks lie above it
  stolen = 8,    // and all greater values: stolen plus the thief's index
};
constexpr bool is_stolen(direct_state s) noexcept { return s >= direct_state::stolen; }
constexpr bool is_done(direct_state s) noexcept { return s == direct_state::returned || s == direct_state::threw; }
constexpr direct_state stolen_by(unsigned thief) noexcept {
  return static_cast<direct_state>(static_cast<std::uintptr_t>(direct_state::stolen) + thief);
}
/// The index of the thief in a state that is_stolen().
constexpr unsigned thief_in(direct_state s) noexcept {
  return static_cast<unsigned>(static_cast<std::uintptr_t>(s) - static_cast<std::uintptr_t>(direct_state::stolen));
}

enum class [[nodiscard]] direct_claim {
  claimed,  // the task is the thief's, for now
  no_task,  // there was no task
  lost,     // another thief, or the owner, was faster
};
enum class [[nodiscard]] direct_finish { owner_is_awake, owner_sleeps };
enum class [[nodiscard]] direct_wait { may_sleep, task_is_done };

/// The state of one descriptor. Zeroed memory is an empty one. A private descriptor is empty.
class direct_task_state {
 public:
  // Owner.

  /// At a fork in a public place: thieves may take the task.
  /// edge direct-1: release, the closure. seq_cst for idle-1: before the owner looks for sleepers.
  void offer() noexcept { store(direct_state::task, std::memory_order_seq_cst); }
  /// In publish(), before public_end passes the descriptor. edge direct-1: release, the closure.
  void publish() noexcept { store(direct_state::task, std::memory_order_release); }
  /// At the join of a public task: takes it, whatever its state is. Returns that state.
  /// edge direct-1, direct-2, entry-5: acquire, what a thief did that gave the task back, stole or finished it.
  direct_state take_back() noexcept {
    return static_cast<direct_state>(word_.exchange(value(direct_state::empty), std::memory_order_acq_rel));
  }
  /// While it waits for a thief, and before it runs one of the thief's tasks.
  /// edge direct-1, direct-2, entry-5: acquire, as take_back().
  direct_state peek() const noexcept { return load(std::memory_order_acquire); }
  /// Before it sleeps in a join: asks the thief for a wake-up.
  /// edge direct-6: release, the owner's announcement; pairs with finish(). The load is seq_cst, after the
  /// announcement: the state may be `waited` already, from an earlier sleep in the same join.
  direct_wait wait() noexcept {
    std::uintptr_t seen = word_.load(std::memory_order_seq_cst);
    for (;;) {
      if (is_done(static_cast<direct_state>(seen))) return direct_wait::task_is_done;
      if (seen == value(direct_state::waited)) return direct_wait::may_sleep;
      if (word_.compare_exchange_weak(seen, value(direct_state::waited), std::memory_order_acq_rel,
                                      std::memory_order_relaxed)) {
        return direct_wait::may_sleep;
      }
    }
  }
  /// After the join of a stolen task. relaxed: no thief looks at the descriptor until a later store makes it a task.
  void clear() noexcept { store(direct_state::empty, std::memory_order_relaxed); }
  /// In a scope, with other tasks above: takes the task unless a thief has it.
  /// edge direct-1: acquire, from a thief that gave the task back.
  [[nodiscard]] bool take() noexcept {
    std::uintptr_t expected = value(direct_state::task);
    return word_.compare_exchange_strong(expected, value(direct_state::taken), std::memory_order_acquire,
                                         std::memory_order_relaxed);
  }
  /// Has take() succeeded? relaxed: the owner's own store, and thieves leave a taken task alone.
  FILCH_INLINE bool is_taken() const noexcept { return load(std::memory_order_relaxed) == direct_state::taken; }
  /// Ends a task that the owner has run, as if a thief had. relaxed: for the owner's own join.
  void pass() noexcept { store(direct_state::returned, std::memory_order_relaxed); }

  // Thief.

  /// edge direct-1: acquire, from the store that made the task public: its closure is the thief's to read.
  direct_claim claim() noexcept {
    // relaxed: a look before the exclusive access, which decides.
    if (load(std::memory_order_relaxed) != direct_state::task) return direct_claim::no_task;
    std::uintptr_t expected = value(direct_state::task);
    return word_.compare_exchange_strong(expected, value(direct_state::empty), std::memory_order_acquire,
                                         std::memory_order_relaxed)
               ? direct_claim::claimed
               : direct_claim::lost;
  }
  /// Thief, after a claim whose re-check failed. Owner, for a taken task that it has emptied.
  /// edge direct-1: release, the task as it was. seq_cst for idle-1: it is a new offer, which a sleeper may have
  /// missed.
  void give_back() noexcept { store(direct_state::task, std::memory_order_seq_cst); }
  /// After a claim whose re-check passed. edge entry-5: release, the thief's place. The owner steals from it.
  void steal(unsigned thief) noexcept { store(stolen_by(thief), std::memory_order_release); }
  /// The outcome lies in the payload. The task may be gone afterwards.
  /// edge direct-2: release, the outcome. edge direct-6: acquire, the announcement of an owner that sleeps.
  direct_finish finish(bool returned) noexcept {
    auto const outcome = returned ? direct_state::returned : direct_state::threw;
    return word_.exchange(value(outcome), std::memory_order_seq_cst) == value(direct_state::waited)
               ? direct_finish::owner_sleeps
               : direct_finish::owner_is_awake;
  }
  /// Before it sleeps: is there a task? edge idle-1: seq_cst, after the announcement.
  bool is_offered() const noexcept { return load(std::memory_order_seq_cst) == direct_state::task; }

  /// Checks alone.
  direct_state unordered() const noexcept { return load(std::memory_order_relaxed); }

 private:
  static constexpr std::uintptr_t value(direct_state s) noexcept { return static_cast<std::uintptr_t>(s); }
  direct_state load(std::memory_order order) const noexcept { return static_cast<direct_state>(word_.load(order)); }
  void store(direct_state s, std::memory_order order) noexcept { word_.store(value(s), order); }

  std::atomic<std::uintptr_t> word_;
};

// ---- the words of a worker -----------------------------------------------------------------------

/// The word that the owner compares a place with at each fork and join. It equals public_end, or it is *requested*,
/// which is greater than every place: a thief wants the owner to make more tasks public.
class direct_split {
 public:
  constexpr explicit direct_split(direct_task* at) noexcept : word_(at) {}

  /// Owner: is t public, or is there a request? relaxed: the place is the owner's own store, and it may as well see
  /// a request at the next fork.
  FILCH_INLINE bool is_above(direct_task const* t) const noexcept {
    return t < word_.load(std::memory_order_relaxed);
  }
  /// Owner. relaxed: as above.
  bool is_requested() const noexcept { return word_.load(std::memory_order_relaxed) == requested(); }
  /// Owner: takes a request away. A later one is not lost: it overwrites this.
  /// edge direct-5: seq_cst, before the owner looks for sleepers.
  void answer(direct_task* public_end) noexcept {
    static_cast<void>(word_.exchange(public_end, std::memory_order_seq_cst));
  }
  /// Owner: follows public_end, and leaves a request alone. relaxed: the place is for the owner alone.
  void move(direct_task* from, direct_task* to) noexcept {
    word_.compare_exchange_strong(from, to, std::memory_order_relaxed, std::memory_order_relaxed);
  }
  /// Thief, and Owner for the benefit of others. A store only where there is no request, so that many thieves share
  /// the line. edge direct-5: seq_cst, both.
  void request() noexcept {
    if (word_.load(std::memory_order_seq_cst) == requested()) return;
    word_.store(requested(), std::memory_order_seq_cst);
  }

  /// Checks alone, on the owner's thread.
  bool is_at(direct_task const* t) const noexcept { return word_.load(std::memory_order_relaxed) == t; }

 private:
  static direct_task* requested() noexcept { return reinterpret_cast<direct_task*>(~std::uintptr_t{0}); }

  std::atomic<direct_task*> word_;
};

/// Tasks below it are public: their state names the worker that may run them. The owner alone writes it.
class direct_public_end {
 public:
  /// Owner. relaxed: its own store.
  direct_task* get() const noexcept { return word_.load(std::memory_order_relaxed); }
  /// Owner. edge direct-4: release, the states below. seq_cst for idle-1: before the owner looks for sleepers.
  void raise(direct_task* to) noexcept { word_.store(to, std::memory_order_seq_cst); }
  /// Owner, which holds `to`, with nothing above it. edge direct-4: release.
  void lower(direct_task* to) noexcept { word_.store(to, std::memory_order_release); }
  /// Owner, before others know the worker.
  void start_at(direct_task* base) noexcept { word_.store(base, std::memory_order_relaxed); }

  /// Thief. edge direct-4: acquire, so that it sees the states below as they were.
  direct_task* look() const noexcept { return word_.load(std::memory_order_acquire); }
  /// Thief: does t lie below it? relaxed: a hint, for the trip wire.
  bool may_be_above(direct_task const* t) const noexcept { return t < word_.load(std::memory_order_relaxed); }
  /// Thief, before it sleeps. edge idle-1: seq_cst, after the announcement.
  direct_task* look_in_order() const noexcept { return word_.load(std::memory_order_seq_cst); }

 private:
  std::atomic<direct_task*> word_{nullptr};
};

/// The next task to steal. The thread that holds that task writes the word, and no other: protocol.md, "Why `bot`
/// needs no lock".
class direct_bot {
 public:
  /// Owner: a figure, since thieves move it. relaxed: no step depends on it.
  std::uintptr_t distance_to(direct_task const* end) const noexcept;
  /// Owner, before others know the worker.
  void start_at(direct_task* base) noexcept { word_.store(base, std::memory_order_relaxed); }

  /// The holder of t: does it point to t? relaxed: if so, no other worker writes it.
  /// edge direct-3: the claim of t acquired the store before t became a task.
  bool is_at(direct_task const* t) const noexcept { return word_.load(std::memory_order_relaxed) == t; }
  /// Thief or Owner, the holder of the task that it points to: to the next one. Owner, after a stolen task: back.
  /// edge direct-3: the task that it points to moves with it. seq_cst for idle-1: the next task is offered.
  void move_to(direct_task* t) noexcept { word_.store(t, std::memory_order_seq_cst); }

  /// Thief: the place at which to claim; the re-check decides. Also checks. acquire: a thief's stores before it
  /// moved `bot`.
  direct_task* look() const noexcept { return word_.load(std::memory_order_acquire); }
  /// Thief, before it sleeps. edge idle-1: seq_cst, after the announcement.
  direct_task* look_in_order() const noexcept { return word_.load(std::memory_order_seq_cst); }

 private:
  std::atomic<direct_task*> word_{nullptr};
};

// ---- where they lie ------------------------------------------------------------------------------

/// Runs a stolen task in the thief and leaves its result or its exception in `outcome`. Returns whether there is a
/// result.
using direct_run = bool (*)(direct_task&, void* outcome) noexcept;

/// A descriptor: one stealable task.
struct alignas(k_cache_line) direct_task {
  direct_task_state state;
  direct_run run;                                 // owner, before the task is public
  alignas(16) std::byte payload[k_task_payload];  // owner, then the thief that claimed the task, then the owner
};
static_assert(sizeof(direct_task) == k_cache_line, "a descriptor is a cache line: one transfer a steal");

inline std::uintptr_t direct_bot::distance_to(direct_task const* end) const noexcept {
  return static_cast<std::uintptr_t>(end - word_.load(std::memory_order_relaxed));
}

/// The part of a worker that the fast path touches. src/schedulers/direct/checks.hpp has its invariants.
struct alignas(k_cache_line) direct_worker {
  // owner
  direct_task* top = nullptr;  // the next free descriptor
  direct_task* end = nullptr;  // the array ends here
  std::uint64_t forks = 0;     // number of forks, if FILCH_COUNT_FORKS
  unsigned lone_waits = 0;     // number of calls on the stack that let nothing else run on top of their waits

  // owner and thieves
  alignas(k_cache_line) direct_split split;
  direct_public_end public_end;
  direct_bot bot;

  explicit constexpr direct_worker(direct_task* initial_split) noexcept : split(initial_split) {}
};
static_assert(sizeof(direct_worker) == 2 * k_cache_line, "words that thieves read lie on a cache line of their own");

/// The calling thread's worker. Outside all pools: a worker without room, so that a fork's compare with the end of
/// the array finds threads that are no workers.
extern FILCH_API constinit thread_local direct_worker* direct_self __attribute__((tls_model("initial-exec")));

}  // namespace filch::inline FILCH_ABI::detail

// The direct task stack: types, and the fast path of a fork. The protocol is argued in
// src/schedulers/direct/protocol.md; the edge ids below are its.
//
//   task         a descriptor: one stealable sibling, stored in an array that its owner uses as a stack
//   private      a task above `public_end`: only its owner touches it, its state is empty
//   public       a task below `public_end`: its state word says who may run it
//   raised       `split` holds k_raised: a thief asks the owner to make more tasks public
#pragma once

#include <filch/detail/in_order.hpp>
#include <filch/detail/packet.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>

namespace filch::inline FILCH_ABI::detail {

inline constexpr std::size_t k_cache_line = 64;

struct direct_task;

/// Runs a stolen task in the thief and leaves its result or its exception in the descriptor.
/// Returns whether there is a result.
using direct_run = bool (*)(direct_task&) noexcept;

struct alignas(k_cache_line) direct_task {
  static constexpr std::size_t k_payload = 48;

  std::atomic<std::uintptr_t> state;         // public: owner and thieves; private: empty
  direct_run run;                            // owner, before the task is public
  alignas(16) std::byte payload[k_payload];  // owner, then the thief that claimed the task, then the owner
};
static_assert(sizeof(direct_task) == k_cache_line, "a descriptor is a cache line: one transfer a steal");

/// The part of a worker that the fast path touches. Equations: base <= bot <= public_end;
/// bot <= top <= end between the owner's steps; split == public_end or split == k_raised.
struct alignas(k_cache_line) direct_worker {
  // owner
  direct_task* top = nullptr;  // the next free descriptor
  direct_task* end = nullptr;  // the array ends here
  std::uint64_t forks = 0;     // where forks are counted

  // owner; thieves store k_raised only
  alignas(k_cache_line) std::atomic<direct_task*> split;
  // owner
  std::atomic<direct_task*> public_end{nullptr};
  // who holds the task that it points to: see protocol.md
  std::atomic<direct_task*> bot{nullptr};

  explicit constexpr direct_worker(direct_task* initial_split) noexcept : split(initial_split) {}
};

static_assert(sizeof(direct_worker) == 2 * k_cache_line, "what thieves read is apart from what the owner writes");

/// Greater than every descriptor's address: makes the owner's compare fail.
inline direct_task* direct_raised() noexcept { return reinterpret_cast<direct_task*>(~std::uintptr_t{0}); }

/// The calling thread's worker. Outside all pools: a worker that is raised and never changes, so that the
/// same compare that looks for requests finds threads that are no workers.
extern FILCH_API constinit thread_local direct_worker* direct_self __attribute__((tls_model("initial-exec")));

/// As long as it exists, joins run in order on the thread that made it: a worker without room for tasks.
struct direct_staying : direct_worker {
  direct_worker* outer;  // what the thread was before

  FILCH_API direct_staying() noexcept;
  FILCH_API ~direct_staying();
  direct_staying(direct_staying const&) = delete;
  direct_staying& operator=(direct_staying const&) = delete;
};

enum class [[nodiscard]] join_outcome { run_it, returned, threw };

/// After a push in a slow fork: makes the task public where its place is, or answers a request.
FILCH_API void direct_pushed_slow(direct_worker&, direct_task&) noexcept;
/// A join whose compare failed: answers a request, takes a public task back, or waits for its thief.
FILCH_API join_outcome direct_join_slow(direct_worker&, direct_task&) noexcept;
/// The calling worker's index in the innermost of direct's pools, or k_no_worker.
FILCH_API unsigned direct_worker_index() noexcept;
/// Runs call(argument) as a worker of the default pool. `call` must not throw.
FILCH_API void direct_enter_default(void (*call)(void*), void* argument);

// ---- what a descriptor holds -------------------------------------------------------------------

/// Closures that are copied into the descriptor: trivial temporaries that fit in two registers. All others stay
/// in the joining frame and the descriptor holds their address (docs/decisions/0004-large-closures.md).
template <class G> inline constexpr bool direct_by_value = travels_by_value<G>;

/// Results that travel back in the descriptor; all others are made on the heap by the thief.
template <class R>
inline constexpr bool direct_result_fits =
    sizeof(result_slot<R>) <= direct_task::k_payload && alignof(result_slot<R>) <= 16;

template <class T> T* payload_as(direct_task& t) noexcept { return std::launder(reinterpret_cast<T*>(t.payload)); }

template <class R, class Call> bool direct_keep_outcome(direct_task& t, Call&& call) noexcept {
  try {
    if constexpr (direct_result_fits<R>) {
      // The closure was taken out of the payload: its room is the result's now.
      (::new (static_cast<void*>(t.payload)) result_slot<R>)->make(std::forward<Call>(call));
    } else {
      auto slot = std::make_unique<result_slot<R>>();
      slot->make(std::forward<Call>(call));
      ::new (static_cast<void*>(t.payload)) result_slot<R>*(slot.release());
    }
    return true;
  } catch (...) {
    ::new (static_cast<void*>(t.payload)) std::exception_ptr(std::current_exception());
    return false;
  }
}

/// The wrapper of paper 5: what a thief calls. G is the type with which the closure was handed to join.
template <class G> bool direct_run_stolen(direct_task& t) noexcept {
  using R = result_of<G>;
  if constexpr (direct_by_value<G>) {
    G closure = *payload_as<G>(t);
    return direct_keep_outcome<R>(t, [&]() -> raw_result<G> { return std::invoke(std::move(closure)); });
  } else {
    auto* const closure = *payload_as<std::remove_reference_t<G>*>(t);
    return direct_keep_outcome<R>(t, [&]() -> raw_result<G> { return std::invoke(static_cast<G&&>(*closure)); });
  }
}

template <class G> FILCH_INLINE void direct_store(direct_task& t, std::remove_reference_t<G>& g) noexcept {
  t.run = &direct_run_stolen<G>;
  if constexpr (direct_by_value<G>) {
    ::new (static_cast<void*>(t.payload)) G(g);
  } else {
    ::new (static_cast<void*>(t.payload)) std::remove_reference_t<G>*(std::addressof(g));
  }
}

inline std::exception_ptr direct_take_exception(direct_task& t) noexcept {
  auto* const kept = payload_as<std::exception_ptr>(t);
  std::exception_ptr e = std::move(*kept);
  kept->~exception_ptr();
  return e;
}

/// Takes what a stolen task left in its descriptor: the result, or its exception, thrown.
template <class R> FILCH_COLD R direct_take(direct_task& t, join_outcome outcome) {
  if (outcome == join_outcome::threw) std::rethrow_exception(direct_take_exception(t));
  if constexpr (direct_result_fits<R>) {
    auto& slot = *payload_as<result_slot<R>>(t);
    drop_on_exit<R> guard{slot};
    return slot.take();
  } else {
    std::unique_ptr<result_slot<R>> slot(*payload_as<result_slot<R>*>(t));
    drop_on_exit<R> guard{*slot};
    return slot->take();
  }
}

// ---- the fork ----------------------------------------------------------------------------------

/// f threw: g still runs to its end, here or in its thief, and then f's exception leaves. `kept` holds it,
/// and is destroyed.
template <class G>
[[noreturn]] FILCH_COLD void direct_join_after_throw(direct_worker& w, direct_task& t, travels_as<G> g,
                                                     std::exception_ptr& kept) {
  std::exception_ptr of_f = std::move(kept);
  std::destroy_at(&kept);
  w.top = &t;
  join_outcome const outcome = direct_join_slow(w, t);
  try {
    if (outcome == join_outcome::run_it) {
      std::invoke(static_cast<G&&>(g));
    } else {
      static_cast<void>(direct_take<result_of<G>>(t, outcome));
    }
  } catch (...) {  // f's exception is the one that leaves
  }
  std::rethrow_exception(std::move(of_f));
}

template <class F, class G>
FILCH_INLINE std::pair<result_of<F>, result_of<G>> direct_run_and_join(direct_worker& w, direct_task& t,
                                                                       std::remove_reference_t<F>& f,
                                                                       std::remove_reference_t<G>& g) {
  using A = result_of<F>;
  using B = result_of<G>;
  result_slot<A> a;
  result_slot<std::exception_ptr> of_f;
  try {
    a.make(static_cast<F&&>(f));
  } catch (...) {
    // g runs outside the handler: in it, current_exception() is what it was around the join.
    of_f.make(std::current_exception);
    goto threw;
  }
  {
    drop_on_exit<A> guard{a};
    w.top = &t;
    // relaxed: whether t is public is known from this thread's own stores; a thief's is only a request.
    if (&t < w.split.load(std::memory_order_relaxed)) [[unlikely]] {
      join_outcome const outcome = direct_join_slow(w, t);
      if (outcome != join_outcome::run_it) return {a.take(), direct_take<B>(t, outcome)};
    }
    return {a.take(), call(static_cast<G&&>(g))};
  }
threw:
  direct_join_after_throw<G>(w, t, hand_on<G>(g), of_f.value);
}

template <class F, class G> std::pair<result_of<F>, result_of<G>> direct_fork_join(travels_as<F> f, travels_as<G> g);

/// The fork's compare failed: no worker, no room, a public place, or a request.
template <class F, class G>
FILCH_COLD std::pair<result_of<F>, result_of<G>> direct_fork_join_slow(direct_worker& w, direct_task* t,
                                                                       travels_as<F> f, travels_as<G> g) {
  if (w.end == nullptr) {  // no worker
    return call_through(&direct_enter_default,
                        [&] { return direct_fork_join<F, G>(static_cast<F&&>(f), static_cast<G&&>(g)); });
  }
  if (t == w.end) return join_in_order(static_cast<F&&>(f), static_cast<G&&>(g));
  direct_store<G>(*t, g);
  w.top = t + 1;
  direct_pushed_slow(w, *t);
  return direct_run_and_join<F, G>(w, *t, f, g);
}

/// The worker and the descriptor stay in registers across f: under this scheduler no code moves to another
/// thread.
template <class F, class G>
FILCH_INLINE std::pair<result_of<F>, result_of<G>> direct_fork_join_here(std::remove_reference_t<F>& f,
                                                                         std::remove_reference_t<G>& g) {
  direct_worker& w = *direct_self;
#if FILCH_COUNT_FORKS
  if (w.end) ++w.forks;
#endif
  direct_task* const t = w.top;
  // relaxed: as in direct_run_and_join.
  if (t < w.split.load(std::memory_order_relaxed) || t == w.end) [[unlikely]] {
    if constexpr (is_small_and_trivial<F>(128, 64)) {
      // A copy goes there: nobody has f's address then, and its captures stay in registers.
      F copy(f);
      return direct_fork_join_slow<F, G>(w, t, hand_on<F>(copy), hand_on<G>(g));
    } else {
      return direct_fork_join_slow<F, G>(w, t, hand_on<F>(f), hand_on<G>(g));
    }
  }
  direct_store<G>(*t, g);
  w.top = t + 1;
  return direct_run_and_join<F, G>(w, *t, f, g);
}

/// The same as a frame of its own; FILCH_OUTLINE says why.
template <class F, class G>
FILCH_OUTLINE std::pair<result_of<F>, result_of<G>> direct_fork_join(travels_as<F> f, travels_as<G> g) {
  return direct_fork_join_here<F, G>(f, g);
}

}  // namespace filch::inline FILCH_ABI::detail

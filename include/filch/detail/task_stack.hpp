// Forks on a task stack: what `direct` and `channel` share of the fast path. A worker owns an array of descriptors
// and uses it as a stack; a fork leaves g in the next descriptor, and the join takes it off again.
//
// A template parameter `Stack` names the scheduler's side of it:
//   Stack::task          a descriptor: `run`, `payload` and what else the scheduler needs
//   Stack::task::run     runs it, leaves its result or exception in a room (a thief's is the payload), and returns
//                        whether it is a result
//   Stack::worker        `top`, the next free descriptor; `end`, where the array ends; `forks`
//   Stack::self()        the calling thread's worker, by reference; one without room outside all pools
//   Stack::is_slow(w, t) one compare: does a fork or a join at t need one of the calls below?
//   Stack::pushed_slow(w, t), join_slow(w, t), enter_default(call, argument)
//   Stack::is_done(t)    has a thief finished it?
//   Stack::is_orphan(w)  is its pool the parent's, in a child of fork()?
//   Stack::take_slow(w, t)     t is in the middle of the stack: what runs it, if its owner may do so now; null: a
//                        thief has it
//   Stack::emptied(t)    t stays on the stack, and runs nothing: its owner is about to move the closure out of it
//   Stack::drop_emptied(w, b)  takes emptied tasks off the top that no thief has seen, down to b; returns the top
//   Stack::k_gets_several_back may a join that returns run_it have got older tasks back as well?
//   Stack::answer(w)      between forks and joins: gives those who ask some of the tasks on the stack
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
inline constexpr std::size_t k_task_payload = 48;

enum class [[nodiscard]] join_outcome { run_it, returned, threw };

/// As long as it exists, joins run in order on the thread that made it: a worker without room for tasks.
template <class Stack> struct task_staying : Stack::worker {
  typename Stack::worker* outer;  // what the thread was before

  FILCH_API task_staying();
  FILCH_API ~task_staying();
  task_staying(task_staying const&) = delete;
  task_staying& operator=(task_staying const&) = delete;
};

/// Neither copying, moving nor destroying one forks.
template <class Type>
inline constexpr bool never_forks =
    std::is_reference_v<Type> || (std::is_trivially_copyable_v<Type> && std::is_trivially_destructible_v<Type>);
/// While what is in a descriptor is copied, moved or destroyed there: forks would lie where it lies.
template <class Stack, bool Forks> using in_order_if = std::conditional_t<Forks, task_staying<Stack>, nothing>;

// The worker's own figure, which others may read.
template <class Worker> FILCH_INLINE void count_fork(Worker& w) noexcept {
  std::atomic_ref(w.forks).store(w.forks + 1, std::memory_order_relaxed);
}
template <class Worker> std::uint64_t counted_forks(Worker& w) noexcept {
  return std::atomic_ref(w.forks).load(std::memory_order_relaxed);
}

// ---- what a descriptor holds -------------------------------------------------------------------

/// Closures that are copied into the descriptor: trivial temporaries that fit in two registers. All others stay
/// in the joining frame and the descriptor holds their address (docs/decisions/0004-large-closures.md).
template <class Gn> inline constexpr bool task_by_value = travels_by_value<Gn>;

/// Results that travel back in the descriptor; all others are made on the heap by the thief.
template <class Result>
inline constexpr bool task_result_fits =
    sizeof(result_slot<Result>) <= k_task_payload && alignof(result_slot<Result>) <= 16;

template <class Type> Type* room_as(void* room) noexcept { return std::launder(static_cast<Type*>(room)); }
template <class Type, class Task> Type* payload_as(Task& t) noexcept { return room_as<Type>(t.payload); }

template <class Result, class Call> bool keep_outcome(void* room, Call&& call) noexcept {
  try {
    if constexpr (task_result_fits<Result>) {
      (::new (room) result_slot<Result>)->make(std::forward<Call>(call));
    } else {
      auto slot = std::make_unique<result_slot<Result>>();
      slot->make(std::forward<Call>(call));
      ::new (room) result_slot<Result>*(slot.release());
    }
    return true;
  } catch (...) {
    ::new (room) std::exception_ptr(detail::caught_exception());
    return false;
  }
}

/// The wrapper of K.-F. Faxen's paper (ICPP 2010): what a thief calls. Gn is the type with which the closure was
/// handed to join.
template <class Gn, class Task> bool run_stolen(Task& t, void* outcome) noexcept {
  using Result = result_of<Gn>;
  if constexpr (task_by_value<Gn>) {
    Gn closure = *payload_as<Gn>(t);
    return detail::keep_outcome<Result>(outcome, [&]() -> raw_result<Gn> { return std::invoke(std::move(closure)); });
  } else {
    auto* const closure = *payload_as<std::remove_reference_t<Gn>*>(t);
    return detail::keep_outcome<Result>(outcome,
                                        [&]() -> raw_result<Gn> { return std::invoke(static_cast<Gn&&>(*closure)); });
  }
}

template <class Gn, class Task> FILCH_INLINE void store_task(Task& t, std::remove_reference_t<Gn>& g) noexcept {
  t.run = &run_stolen<Gn, Task>;
  if constexpr (task_by_value<Gn>) {
    ::new (static_cast<void*>(t.payload)) Gn(g);
  } else {
    ::new (static_cast<void*>(t.payload)) std::remove_reference_t<Gn>*(std::addressof(g));
  }
}

inline std::exception_ptr take_exception(void* room) noexcept {
  auto* const kept = room_as<std::exception_ptr>(room);
  std::exception_ptr e = std::move(*kept);
  kept->~exception_ptr();
  return e;
}

/// Takes what a stolen task left in its descriptor: the result, or its exception, thrown.
template <class Stack, class Result> FILCH_COLD Result take_outcome(typename Stack::task& t, join_outcome outcome) {
  if (outcome == join_outcome::threw) std::rethrow_exception(take_exception(t.payload));
  if constexpr (task_result_fits<Result>) {
    [[maybe_unused]] in_order_if<Stack, !never_forks<Result>> const here{};
    auto& slot = *payload_as<result_slot<Result>>(t);
    drop_on_exit<Result> guard{slot};
    return slot.take();
  } else {
    std::unique_ptr<result_slot<Result>> slot(*payload_as<result_slot<Result>*>(t));
    drop_on_exit<Result> guard{*slot};
    return slot->take();
  }
}

// ---- the fork ----------------------------------------------------------------------------------

/// f threw: g still runs to its end, here or in its thief, and then f's exception leaves. `kept` holds it,
/// and is destroyed.
template <class Stack, class Gn>
[[noreturn]] FILCH_COLD void join_after_throw(typename Stack::worker& w, typename Stack::task& t, travels_as<Gn> g,
                                              std::exception_ptr& kept) {
  std::exception_ptr of_f = std::move(kept);
  std::destroy_at(&kept);
  w.top = &t;
  join_outcome const outcome = Stack::join_slow(w, t);
  try {
    if (outcome == join_outcome::run_it) {
      static_cast<void>(std::invoke(static_cast<Gn&&>(g)));
    } else {
      static_cast<void>(detail::take_outcome<Stack, result_of<Gn>>(t, outcome));
    }
  } catch (...) {  // f's exception is the one that leaves
    detail::drop_caught_exception();
  }
  std::rethrow_exception(std::move(of_f));
}

template <class Stack, class Fn, class Gn>
FILCH_INLINE std::pair<result_of<Fn>, result_of<Gn>> run_and_join(typename Stack::worker& w, typename Stack::task& t,
                                                                  std::remove_reference_t<Fn>& f,
                                                                  std::remove_reference_t<Gn>& g) {
  using FnResult = result_of<Fn>;
  using GnResult = result_of<Gn>;
  result_slot<FnResult> a;
  result_slot<std::exception_ptr> of_f;
  try {
    a.make(static_cast<Fn&&>(f));
  } catch (...) {
    // g runs outside the handler: in it, current_exception() is what it was around the join.
    of_f.make(detail::caught_exception);
    goto threw;
  }
  {
    drop_on_exit<FnResult> guard{a};
    w.top = &t;
    if (Stack::is_slow(w, &t)) [[unlikely]] {
      join_outcome const outcome = Stack::join_slow(w, t);
      if (outcome != join_outcome::run_it) return {a.take(), detail::take_outcome<Stack, GnResult>(t, outcome)};
    }
    return {a.take(), detail::call(static_cast<Gn&&>(g))};
  }
threw:
  detail::join_after_throw<Stack, Gn>(w, t, detail::hand_on<Gn>(g), of_f.value);
}

template <class Stack, class Fn, class Gn>
std::pair<result_of<Fn>, result_of<Gn>> fork_join(travels_as<Fn> f, travels_as<Gn> g);

/// The fork's compare failed: no worker, no room, or something for the scheduler.
template <class Stack, class Fn, class Gn>
FILCH_COLD std::pair<result_of<Fn>, result_of<Gn>> fork_join_slow(typename Stack::worker& w, typename Stack::task* t,
                                                                  travels_as<Fn> f, travels_as<Gn> g) {
  if (w.end == nullptr) {  // no worker
    return detail::call_through(&Stack::enter_default, [&] {
      return detail::fork_join<Stack, Fn, Gn>(static_cast<Fn&&>(f), static_cast<Gn&&>(g));
    });
  }
  if (t == w.end) {
    if (Stack::is_slow(w, t)) Stack::answer(w);  // never in a stay
    return detail::join_in_order(static_cast<Fn&&>(f), static_cast<Gn&&>(g));
  }
  detail::store_task<Gn>(*t, g);
  w.top = t + 1;
  Stack::pushed_slow(w, *t);
  return detail::run_and_join<Stack, Fn, Gn>(w, *t, f, g);
}

/// The worker and the descriptor stay in registers across f: under these schedulers no code moves to another
/// thread.
template <class Stack, class Fn, class Gn>
FILCH_INLINE std::pair<result_of<Fn>, result_of<Gn>> fork_join_here(std::remove_reference_t<Fn>& f,
                                                                    std::remove_reference_t<Gn>& g) {
  typename Stack::worker& w = *Stack::self();
#if FILCH_COUNT_FORKS
  if (w.end) count_fork(w);
#endif
  typename Stack::task* const t = w.top;
  if (Stack::is_slow(w, t) || t == w.end) [[unlikely]] {
    if constexpr (is_small_closure<Fn>(128, 64)) {
      // A copy goes there: nobody has f's address then, and its captures stay in registers.
      Fn copy(f);
      return detail::fork_join_slow<Stack, Fn, Gn>(w, t, detail::hand_on<Fn>(copy), detail::hand_on<Gn>(g));
    } else {
      return detail::fork_join_slow<Stack, Fn, Gn>(w, t, detail::hand_on<Fn>(f), detail::hand_on<Gn>(g));
    }
  }
  detail::store_task<Gn>(*t, g);
  w.top = t + 1;
  return detail::run_and_join<Stack, Fn, Gn>(w, *t, f, g);
}

/// The same as a frame of its own; FILCH_OUTLINE says why.
template <class Stack, class Fn, class Gn>
FILCH_OUTLINE std::pair<result_of<Fn>, result_of<Gn>> fork_join(travels_as<Fn> f, travels_as<Gn> g) {
  return detail::fork_join_here<Stack, Fn, Gn>(f, g);
}

/// A join under a scheduler with task stacks.
template <class Stack, class Fn, class Gn>
FILCH_INLINE std::pair<result_of<Fn>, result_of<Gn>> task_stack_join(Fn&& f, Gn&& g) {
  if constexpr (travels_by_value<Fn> && travels_by_value<Gn>) {
    return detail::fork_join<Stack, Fn, Gn>(std::forward<Fn>(f), std::forward<Gn>(g));
  } else {
    return detail::fork_join_here<Stack, Fn, Gn>(f, g);
  }
}

}  // namespace filch::inline FILCH_ABI::detail

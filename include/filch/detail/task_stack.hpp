// Forks on a task stack: the fast path that `direct` and `channel` share. A worker owns an array of descriptors and
// uses it as a stack. A fork leaves g in the next descriptor (task_payload.hpp); the join takes it off again.
// direct::join and channel::join call task_stack_join().
//
// A template parameter `Stack` is the scheduler's part, such as direct_stack:
//   Stack::task                a descriptor: `run`, `payload` and the scheduler's words
//   Stack::task::run           runs the task, leaves its result or exception in a room (for a thief the payload), and
//                              returns whether there is a result
//   Stack::worker              `top`, the next free descriptor; `end`, where the array ends; `forks`
//   Stack::self()              the calling thread's worker, by reference; outside all pools one without room
//   Stack::is_slow(w, t)       one compare: does a fork or a join at t need pushed_slow() or join_slow()?
//   Stack::pushed_slow(w, t)   after a fork whose compare failed: offers the task, or serves a request
//   Stack::join_slow(w, t)     a join whose compare failed: serves a request, takes the task back, or waits for it
//   Stack::enter_default(call, argument)   runs call(argument) as a worker of the default pool; `call` must not throw
//   Stack::answer(w)           between forks and joins: gives waiting thieves some of the tasks on the stack
//   Stack::is_done(t)          has a thief finished the task?
//   Stack::is_orphan(w)        does its pool belong to the parent of this process (fork())?
// For scopes (task_frame.hpp):
//   Stack::begins_sync(w)      the owner is about to run the tasks of a scope
//   Stack::take_slow(w, t)     t lies in the middle of the stack: its `run`, if the owner may run it; null: a thief
//                              has it
//   Stack::emptied(t)          t stays on the stack and runs nothing: the owner is about to move the closure out
//   Stack::drop_emptied(w, b)  takes emptied tasks that no thief has seen off the top, down to b; returns the top
//   Stack::k_gets_several_back may a join that returns run_it have got older tasks back as well?
#pragma once

#include <filch/detail/closure_words.hpp>
#include <filch/detail/in_order.hpp>
#include <filch/detail/packet.hpp>
#include <filch/detail/standard.hpp>
#include <filch/detail/task_payload.hpp>

#include <atomic>
#include <cstdint>
#include <exception>

namespace filch::inline FILCH_ABI::detail {

// The number of a worker's forks, for statistics. relaxed: a figure; the worker alone writes it.
template <class Worker> FILCH_INLINE void count_fork(Worker& w) noexcept {
  std::atomic_ref<std::uint64_t>(w.forks).store(w.forks + 1, std::memory_order_relaxed);
}
template <class Worker> std::uint64_t counted_forks(Worker& w) noexcept {
  return std::atomic_ref<std::uint64_t>(w.forks).load(std::memory_order_relaxed);
}

/// f threw: g still runs to its end, here or in its thief, and then f's exception leaves. `kept` holds that
/// exception, and is destroyed.
template <class Stack, class Gn>
[[noreturn]] FILCH_COLD void join_after_throw(typename Stack::worker& w, typename Stack::task& t, travels_as<Gn> g,
                                              std::exception_ptr& kept) {
  std::exception_ptr of_f = std::move(kept);
  std::destroy_at(&kept);
  w.top = &t;
  join_outcome const outcome = Stack::join_slow(w, t);
  try {
    if (outcome == join_outcome::run_it) {
      static_cast<void>(detail::call_with(static_cast<Gn&&>(g)));
    } else {
      static_cast<void>(detail::take_outcome<Stack, result_of<Gn>>(t, outcome));
    }
  } catch (...) {  // f's exception is the one that leaves
    detail::drop_caught_exception();
  }
  std::rethrow_exception(std::move(of_f));
}

/// f, then the join: g runs here unless a thief has it.
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

/// The fork's compare failed: the thread is no worker, the array is full, or the scheduler has something to do.
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

/// The fork. The worker and the descriptor stay in registers across f: under these schedulers no code moves to
/// another thread.
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
      // The slow path gets a copy, so that f's address does not escape and its captures stay in registers.
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

/// The same as a function of its own; FILCH_OUTLINE_ALIGNED says why.
template <class Stack, class Fn, class Gn>
FILCH_OUTLINE_ALIGNED std::pair<result_of<Fn>, result_of<Gn>> fork_join(travels_as<Fn> f, travels_as<Gn> g) {
  return detail::fork_join_here<Stack, Fn, Gn>(f, g);
}

template <class Stack, class Fn, class Gn>
FILCH_OUTLINE_ALIGNED std::pair<result_of<Fn>, result_of<Gn>> fork_join_words(std::uintptr_t f,
                                                                              std::uintptr_t more_of_f,
                                                                              std::uintptr_t g,
                                                                              std::uintptr_t more_of_g) {
  Fn whole_f = detail::closure_of_words<Fn>(f, more_of_f);
  Gn whole_g = detail::closure_of_words<Gn>(g, more_of_g);
  return detail::fork_join_here<Stack, Fn, Gn>(whole_f, whole_g);
}

/// A join under a scheduler with task stacks.
template <class Stack, class Fn, class Gn>
FILCH_INLINE std::pair<result_of<Fn>, result_of<Gn>> task_stack_join(Fn&& f, Gn&& g) {
  if constexpr (travel_in_words<Fn, Gn>) {
    closure_words const of_f = detail::words_of_closure(f);
    closure_words const of_g = detail::words_of_closure(g);
    return detail::fork_join_words<Stack, Fn, Gn>(of_f.first, of_f.second, of_g.first, of_g.second);
  } else if constexpr (travels_by_value<Fn> && travels_by_value<Gn>) {
    return detail::fork_join<Stack, Fn, Gn>(std::forward<Fn>(f), std::forward<Gn>(g));
  } else {
    return detail::fork_join_here<Stack, Fn, Gn>(f, g);
  }
}

}  // namespace filch::inline FILCH_ABI::detail

// Closures of a task group's tasks, and the results of those with a future. task_group.hpp makes them, group_core
// runs them. Protocol: src/runtime/task_groups.md, "Futures".
#pragma once

#include <filch/detail/caught.hpp>
#include <filch/detail/group_core.hpp>
#include <filch/detail/group_words.hpp>
#include <filch/detail/result.hpp>

#include <exception>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace filch::inline FILCH_ABI::detail {

/// A closure in the room of its task, or on the heap where it is too large.
template <class Closure>
inline constexpr bool group_task_fits = sizeof(Closure) <= group_task::k_room && alignof(Closure) <= 16;

template <class Closure, class Fn> void put_closure(group_task& t, Fn&& f) {
  if constexpr (group_task_fits<Closure>) {
    ::new (static_cast<void*>(t.room)) Closure(std::forward<Fn>(f));
  } else {
    ::new (static_cast<void*>(t.room)) Closure*(new Closure(std::forward<Fn>(f)));
  }
}

template <class Closure> Closure& closure_in(group_task& t) noexcept {
  void* const room = t.room;
  if constexpr (group_task_fits<Closure>) {
    return *std::launder(static_cast<Closure*>(room));
  } else {
    return **std::launder(static_cast<Closure**>(room));
  }
}

/// Destroys the closure of a task at its end.
template <class Closure> struct closure_goes {
  group_task& task;
  ~closure_goes() {
    Closure& c = detail::closure_in<Closure>(task);
    if constexpr (group_task_fits<Closure>) {
      std::destroy_at(std::addressof(c));
    } else {
      delete std::addressof(c);
    }
  }
};

template <class Closure> group_outcome run_group_task(group_task& t, bool begins) {
  closure_goes<Closure> const at_end{t};
  if (!begins) return group_outcome::dropped;
  static_cast<void>(detail::call_with(std::move(detail::closure_in<Closure>(t))));
  return group_outcome::ran;
}

/// The data that a task and its future share. The last of the two deletes them.
template <class Result> struct group_result {
  future_word word;
  group_core* group = nullptr;  // lives until the task is over
  group_task* task = nullptr;   // where get() finds the closure, if it runs the task
  group_outcome (*run)(group_result&, bool begins) noexcept = nullptr;
  enum { nothing_yet, returned, threw, dropped } what = nothing_yet;
  result_slot<Result> result;
  std::exception_ptr failure;

  static void let_go(group_result* s) noexcept {
    if (s->word.drop_owner()) delete s;
  }
  ~group_result() {
    if (what == returned) result.drop();
  }
};

/// Runs the closure of a future's task, or drops it, and wakes those that wait for it.
template <class Result, class Closure> group_outcome run_for_future(group_result<Result>& s, bool begins) noexcept {
  {
    closure_goes<Closure> const at_end{*s.task};
    s.what = group_result<Result>::dropped;
    if (begins) {
      try {
        s.result.make(
            [&s]() -> decltype(auto) { return detail::call_with(std::move(detail::closure_in<Closure>(*s.task))); });
        s.what = group_result<Result>::returned;
      } catch (...) {
        s.failure = detail::caught_exception();
        s.what = group_result<Result>::threw;
      }
    }
  }
  if (s.word.finish()) detail::wake_sleepers(s.word);
  return begins ? group_outcome::ran : group_outcome::dropped;
}

/// For the worker that takes the task off the list.
template <class Result, class Closure> group_outcome run_future_task(group_task& t, bool begins) {
  auto* const s = static_cast<group_result<Result>*>(t.future);
  auto outcome = group_outcome::ran;
  if (s->word.claim()) {
    outcome = detail::run_for_future<Result, Closure>(*s, begins);
  } else if (!s->word.is_second_to_leave()) {
    return group_outcome::elsewhere;
  }
  group_result<Result>::let_go(s);
  return outcome;
}

}  // namespace filch::inline FILCH_ABI::detail

// scope: any number of forks, one join.
#pragma once

#include <filch/default_scheduler.hpp>
#include <filch/detail/in_order.hpp>
#include <filch/detail/stopping.hpp>

#include <exception>

namespace filch::inline FILCH_ABI {

/// The handle by which the body of a `filch::scope` forks. Do not store it, copy it or pass it to the tasks: a task
/// that forks opens a scope of its own, or joins. (A spawn outside the body is still correct. It runs the task in
/// place; on another worker the task's exception leaves spawn itself.)
template <scheduler Sched> class spawner {
 public:
  explicit spawner(typename Sched::frame& frame) noexcept : frame_(frame) {}
  spawner(spawner const&) = delete;
  spawner& operator=(spawner const&) = delete;

  /// Runs f at some time before the next sync() returns, perhaps on another worker. The callable is moved or copied
  /// away, so temporaries and loop variables that it captures by value are safe. Its result is dropped.
  /// Throws std::bad_alloc if there is no memory for the task; f has not run then.
  /// Continues where `join` may.
  /// Cost: some nanoseconds. An allocation for a callable of more than 44 bytes, one aligned to more than 16, or one
  /// whose move may throw; under some schedulers for every callable. Memory is bounded however many tasks are
  /// spawned: if a few thousand wait, or there is no room for more, f runs in place, and thieves get some of the
  /// waiting tasks.
  template <class Fn> void spawn(Fn&& f) {
    // No constraint: a task that spawns its own type need not have its result's type yet.
    static_assert(std::is_invocable_v<std::decay_t<Fn>>, "filch::spawner::spawn: a task is called without arguments");
    frame_.spawn(std::forward<Fn>(f));
  }

  /// Returns when all spawned tasks have ended. Throws the exception of the earliest spawned task that threw. More
  /// tasks may be spawned afterwards.
  /// Only the body may call it, outside of joins and of other scopes. Inside f of a join the join's g is the newest
  /// task, inside another scope that one's tasks are: there the program may end with a one-line message.
  /// Continues where `join` may. Cost where nothing was stolen: a few loads, and a call of each waiting task.
  void sync() { frame_.sync(); }

 private:
  typename Sched::frame& frame_;
};

/// Calls body(s), where `s` spawns tasks, and waits for all of them.
///
///     filch::scope([&](auto& s) {
///       for (auto& part : parts) s.spawn([&part] { work(part); });
///     });
///
/// Tasks that no thief takes run in the order of their spawns, after the body or in sync() (docs/order.md). Each one
/// ends before the next one begins, so tasks of one scope may not wait for each other.
///
/// A task may run after the body has returned. What it captures by reference must live outside the body, or the body
/// must end with s.sync().
///
/// Returns what the body returns. Throws the body's exception, or else the exception of the earliest spawned task
/// that threw, after all tasks have ended. Outside all pools it enters the default pool. Continues where `join` may.
/// Cost: some nanoseconds, and those of each spawn.
template <scheduler Sched = default_scheduler, class Body> decltype(auto) scope(Body&& body) {
  using Result = std::invoke_result_t<Body, spawner<Sched>&>;
  return detail::inside_pool<Sched>([&body]() -> Result {
    typename Sched::frame frame;
    spawner<Sched> s{frame};
    using kept = std::conditional_t<std::is_void_v<Result>, nothing, std::remove_cv_t<Result>>;
    detail::result_slot<kept> result;
    detail::result_slot<std::exception_ptr> failure;
    try {
      result.make([&]() -> Result { return detail::call_with(std::forward<Body>(body), s); });
    } catch (...) {
      failure.make(detail::caught_exception);
      goto threw;
    }
    {
      detail::drop_on_exit<kept> guard{result};
      frame.sync();
      if constexpr (std::is_void_v<Result>) {
        return;
      } else {
        return result.take();
      }
    }
  threw:
    detail::run_after_throw([&frame] { frame.sync(); }, failure.value);
  });
}

namespace detail {

/// A spawned callable that may not begin.
template <class Closure, class Token> struct stoppable_task {
  stop_request<Token>* stop;
  Closure closure;
  void operator()() && {
    if (!stop->is_requested()) static_cast<void>(detail::call_with(std::move(closure)));
  }
};

}  // namespace detail

/// The spawner of a `filch::scope` with a stop token. The rules of `spawner` hold for it.
template <scheduler Sched, class Token> class stoppable_spawner {
 public:
  stoppable_spawner(spawner<Sched>& spawner, detail::stop_request<Token>& stop) noexcept
      : spawner_(spawner), stop_(stop) {}
  stoppable_spawner(stoppable_spawner const&) = delete;
  stoppable_spawner& operator=(stoppable_spawner const&) = delete;

  /// `spawner::spawn`, unless a stop was requested before the call, or before f begins: then f is destroyed.
  template <class Fn> void spawn(Fn&& f) {
    static_assert(std::is_invocable_v<std::decay_t<Fn>>, "filch::spawner::spawn: a task is called without arguments");
    if (stop_.is_requested()) return;
    spawner_.spawn(detail::stoppable_task<std::decay_t<Fn>, Token>{std::addressof(stop_), std::forward<Fn>(f)});
  }

  /// As `spawner::sync`. It waits for tasks that have begun, also after a request.
  void sync() { spawner_.sync(); }

 private:
  spawner<Sched>& spawner_;
  detail::stop_request<Token>& stop_;
};

/// `scope` until a stop is requested of `token`, which is read before the body begins, at each spawn, and before each
/// task begins. After a request neither the body nor a task begins. A task that has begun runs to its end. A scope or
/// a loop inside a task is stopped if it gets the token, too.
///
///     bool const is_whole = filch::scope(token, [&](auto& s) {
///       for (auto& part : parts) s.spawn([&part] { work(part); });
///     });
///
/// Returns true if nothing was left out, where the body returns void. Otherwise a std::optional of the body's result,
/// or a pointer for a reference, that is empty if something was left out.
///
/// Throws what `scope` throws, also after a request. The token is used until the return only. If a stop was requested
/// before the call, it enters no pool. Thread: as for `join`. Cost: that of `scope`, and two looks at the token and 8
/// bytes for each spawn.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class Body>
auto scope(Token const& token, Body&& body) {
  using Result = std::invoke_result_t<Body, stoppable_spawner<Sched, Token>&>;
  detail::stop_request stop(token);
  auto const body_of_scope = [&](spawner<Sched>& plain) -> Result {
    stoppable_spawner<Sched, Token> s(plain, stop);
    return detail::call_with(std::forward<Body>(body), s);
  };
  auto const whole = [&]() -> decltype(auto) { return filch::scope<Sched>(body_of_scope); };
  if constexpr (std::is_void_v<Result>) {
    if (!stop.is_requested()) whole();
    return !stop.was_seen();
  } else {
    using returned = detail::result_of_begun<decltype(whole) const&>;
    if (stop.is_requested()) return returned();
    returned result = detail::begin_call(whole);
    return stop.was_seen() ? returned() : std::move(result);
  }
}

}  // namespace filch::inline FILCH_ABI

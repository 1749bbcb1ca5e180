// scope: any number of forks, one join.
#pragma once

#include <filch/default_scheduler.hpp>
#include <filch/detail/in_order.hpp>

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
  /// Cost: some nanoseconds. An allocation for a callable of more than 44 bytes, or one whose move may throw; under
  /// some schedulers for every callable. Memory is bounded however many tasks are spawned: if a few thousand wait, or
  /// there is no room for more, f runs in place, and thieves get some of the waiting tasks.
  template <class Fn> void spawn(Fn&& f) { frame_.spawn(std::forward<Fn>(f)); }

  /// Returns when all spawned tasks have ended. Throws the exception of the earliest spawned task that threw. More
  /// tasks may be spawned afterwards.
  /// Only the body may call it. Inside f of a join the join's g is the newest task, and the program may end with a
  /// one-line message.
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
      result.make([&]() -> Result { return std::invoke(std::forward<Body>(body), s); });
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

}  // namespace filch::inline FILCH_ABI

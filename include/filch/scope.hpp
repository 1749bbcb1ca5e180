// scope: any number of forks, one join.
#pragma once

#include <filch/default_scheduler.hpp>
#include <filch/detail/in_order.hpp>

#include <exception>

namespace filch::inline FILCH_ABI {

/// The handle with which the body of a `filch::scope` forks. Not for storing, copying or handing to the
/// tasks: a task that wants to fork opens a scope, or joins, of its own. (A spawn from elsewhere is still
/// right: it runs in place, and on another worker what it throws leaves spawn itself.)
template <scheduler Sched> class spawner {
 public:
  explicit spawner(typename Sched::frame& frame) noexcept : frame_(frame) {}
  spawner(spawner const&) = delete;
  spawner& operator=(spawner const&) = delete;

  /// Runs f some time before the next sync() returns, perhaps on another worker. The callable is moved or
  /// copied away, so temporaries and loop variables captured by value are safe; what it returns is dropped.
  /// Under `direct` and `channel` callables of up to 44 bytes that move without throwing need no memory of their own,
  /// and cost a few nanoseconds; others, and all under `cactus` and `implicit`, an allocation. Throws std::bad_alloc
  /// if that fails; f has not run then. Memory stays bounded however many are spawned: past a few thousand waiting
  /// tasks, or where there is no room for more, f runs in place, and thieves get some of those that wait.
  /// Continues on the calling thread under `direct`, `channel` and `serial`, perhaps on another one under `cactus`
  /// and `implicit`.
  template <class Fn> void spawn(Fn&& f) { frame_.spawn(std::forward<Fn>(f)); }

  /// Returns once all that was spawned has come to its end. Throws the exception of the earliest spawned
  /// task that threw. More may be spawned afterwards. For the body alone: inside f of a join, where what lies on
  /// top is the join's g, it may end the program, with one line on stderr. Continues where `spawn` may. Cost where
  /// nothing was stolen: a few loads, and a call of each task that waits.
  void sync() { frame_.sync(); }

 private:
  typename Sched::frame& frame_;
};

/// Calls body(s) with an `s` that spawns, and waits for all that it spawned.
///
///     filch::scope([&](auto& s) {
///       for (auto& part : parts) s.spawn([&part] { work(part); });
///     });
///
/// Tasks that no thief takes run in the order in which they were spawned, after the body, or in sync()
/// (docs/order.md). Each runs to its end before the next begins, so tasks of one scope may not wait for each other.
///
/// Tasks may run as late as at the end of the scope, after the body has returned: what they capture by
/// reference must live outside the body, or the body must end with s.sync().
///
/// Returns what the body returns. Throws what the body throws, else the exception of the earliest spawned
/// task that threw; in each case after all tasks have come to their end. From outside a pool it enters the
/// default pool. Continues on the calling thread under `direct`, `channel` and `serial`, perhaps on another one under
/// `cactus` and `implicit`. Cost: some nanoseconds, and those of `spawn`; the papers are those of `join`.
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

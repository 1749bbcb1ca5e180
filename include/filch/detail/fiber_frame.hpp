// The common part of the frames of schedulers with moving fibers: spawning, and failures.
#pragma once

#include <filch/detail/caught.hpp>
#include <filch/detail/fiber.hpp>
#include <filch/detail/first_failure.hpp>
#include <filch/detail/result.hpp>
#include <filch/detail/standard.hpp>

#include <exception>
#include <type_traits>
#include <utility>

namespace filch::inline FILCH_ABI::detail {

/// The exceptions of spawned tasks, on any thread.
class fiber_failures {
 protected:
  template <class Call> void keep_failure(Call&& call, unsigned number) noexcept {
    try {
      call();
    } catch (...) {
      keep(detail::caught_exception(), number);
    }
  }
  void throw_first() { first_.throw_if_any(); }

 private:
  FILCH_API void keep(std::exception_ptr, unsigned number) noexcept;  // in src/runtime/fiber/nesting.cpp

  std::mutex failing_;  // never held across a fork
  first_failure first_;
};

/// The base of a Frame that has
///   waiting               a fiber_task with `frame` and `number`, made from its run function and the frame
///   place_for_next()      the place of the next task
///   push(waiting&)        makes a task that thieves can take
///   counter_              the join counter of its thieves
template <class Frame> class fiber_frame : protected fiber_failures {
 public:
  /// See filch::spawner::spawn.
  template <class Fn> void spawn(Fn&& f) {
    using closure = std::decay_t<Fn>;
    if constexpr (std::is_trivially_constructible_v<closure, Fn>) {
      place(
          self().place_for_next(), [&] { return new spawned<closure>(std::forward<Fn>(f), self()); },
          [&] { detail::call_spawned(std::forward<Fn>(f)); });
    } else {
      // Making it may fork, and come back on another worker.
      owned<spawned<closure>> task(new spawned<closure>(std::forward<Fn>(f), self()));
      place(
          self().place_for_next(), [&] { return task.release(); },
          [&] { static_cast<void>(detail::call_with(std::move(task->closure))); });
    }
  }

 protected:
  enum class where { foreign, here, for_others };

  void throw_first() {
    number_ = 0;
    fiber_failures::throw_first();
  }

 private:
  template <class Closure> struct spawned final : Frame::waiting {
    Closure closure;
    template <class Fn>
    spawned(Fn&& f, Frame& owner) : Frame::waiting(&run_and_delete, owner), closure(std::forward<Fn>(f)) {}
    static join_counter& run_and_delete(fiber_task& task) noexcept {
      owned<spawned> self(static_cast<spawned*>(&task));
      Frame& frame = self->frame;
      frame.keep_failure([&] { static_cast<void>(detail::call_with(std::move(self->closure))); }, self->number);
      return frame.counter_;
    }
  };

  /// Pushes make()'s task for others, or calls run() here.
  template <class Make, class Run> void place(where w, Make&& make, Run&& run) {
    if (w == where::foreign) return run();
    unsigned const number = number_++;
    if (w == where::here) return keep_failure(run, number);
    auto* const task = make();
    task->number = number;
    self().push(*task);
  }

  Frame& self() noexcept { return static_cast<Frame&>(*this); }

  unsigned number_ = 0;
};

}  // namespace filch::inline FILCH_ABI::detail

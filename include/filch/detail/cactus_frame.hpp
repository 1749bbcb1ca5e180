// Many forks on one frame: filch::cactus's `frame`.
#pragma once

#include <filch/detail/cactus_join.hpp>

#include <mutex>

namespace filch::inline FILCH_ABI::detail {

/// Spawned tasks lie one above the other among the worker's tasks; sync() takes back and runs what was not
/// stolen, and meets the thieves of the rest. A spawn that finds something above them (under a join, say), or
/// itself on another worker, runs in place.
class cactus_frame {
 public:
  cactus_frame() noexcept { remember_top(); }
  cactus_frame(cactus_frame const&) = delete;
  cactus_frame& operator=(cactus_frame const&) = delete;
  /// Waits for what was spawned; an exception that nobody asked for with sync() is dropped.
  ~cactus_frame() {
    if (pending_) drain();
  }

  /// See filch::spawner::spawn.
  template <class F> void spawn(F&& f) {
    using closure = std::decay_t<F>;
    if constexpr (std::is_trivially_constructible_v<closure, F>) {
      place(
          place_for_next(), [&] { return new spawned<closure>(std::forward<F>(f), *this); },
          [&] { call_spawned(std::forward<F>(f)); });
    } else {
      // Making it may fork, and come back on another worker.
      auto task = std::make_unique<spawned<closure>>(std::forward<F>(f), *this);
      place(place_for_next(), [&] { return task.release(); }, [&] { std::invoke(std::move(task->closure)); });
    }
  }

  /// See filch::spawner::sync.
  void sync() {
    if (pending_) drain();
    number_ = 0;
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  }

 private:
  enum class where { foreign, here, worker };
  static constexpr unsigned k_pending_most = 4096;

  struct waiting : cactus_task {
    cactus_frame& frame;
    unsigned number = 0;
    waiting(strand_meeting& (*r)(strand_task&) noexcept, cactus_frame& f) noexcept : frame(f) { run = r; }
  };
  template <class C> struct spawned final : waiting {
    C closure;
    template <class F>
    spawned(F&& f, cactus_frame& owner) : waiting(&run_and_delete, owner), closure(std::forward<F>(f)) {}
    static strand_meeting& run_and_delete(strand_task& task) noexcept {
      std::unique_ptr<spawned> self(static_cast<spawned*>(&task));
      cactus_frame& frame = self->frame;
      frame.keep_failure([&] { std::invoke(std::move(self->closure)); }, self->number);
      return frame.meeting_;
    }
  };

  /// make() is there for others to take, or run() runs here.
  template <class Make, class Run> void place(where w, Make&& make, Run&& run) {
    if (w == where::foreign) return run();
    unsigned const number = number_++;
    if (w == where::here) return keep_failure(run, number);
    waiting* const task = make();
    task->number = number;
    push(task);
    ++pending_;
  }

  template <class Call> void keep_failure(Call&& call, unsigned number) noexcept {
    try {
      call();
    } catch (...) {
      keep(std::current_exception(), number);
    }
  }

  // in src/schedulers/cactus/frame.cpp
  FILCH_API void remember_top() noexcept;
  FILCH_API where place_for_next() noexcept;
  FILCH_API void push(strand_task*) noexcept;
  FILCH_API void drain() noexcept;
  bool forget_stolen() noexcept;
  FILCH_API void keep(std::exception_ptr, unsigned number) noexcept;

  strand_meeting meeting_{};
  runtime::strand_stack* strand_ = nullptr;  // on whose stack it lies
  strand_worker* worker_ = nullptr;          // where the next spawned task goes
  strand_task** top_ = nullptr;
  std::uint64_t starts_ = 0;
  unsigned pending_ = 0;
  unsigned number_ = 0;
  std::mutex failing_;  // never held across a fork
  std::exception_ptr failure_;
  unsigned failed_ = 0;
};

}  // namespace filch::inline FILCH_ABI::detail

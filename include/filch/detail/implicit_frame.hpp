// Many forks on one frame: filch::implicit's `frame`.
#pragma once

#include <filch/detail/implicit_join.hpp>

#include <atomic>
#include <mutex>

namespace filch::inline FILCH_ABI::detail {

struct implicit_stack;
class implicit_team;

/// Spawned tasks wait in a list of the frame's own. Thieves get the oldest when they ask, in the order in which they
/// and the join frames of the stack came about; sync() runs the rest, and meets the thieves. A spawn into a frame
/// that is not the newest thing on its stack any more, or from elsewhere, runs in place.
class implicit_frame {
 public:
  implicit_frame() noexcept { begin(); }
  implicit_frame(implicit_frame const&) = delete;
  implicit_frame& operator=(implicit_frame const&) = delete;
  /// Waits for what was spawned; an exception that nobody asked for with sync() is dropped.
  ~implicit_frame() {
    if (has_tasks()) drain();
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
    if (has_tasks()) drain();
    number_ = 0;
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  }

 private:
  friend class implicit_team;
  enum class where { foreign, here, stack };
  static constexpr unsigned k_pending_most = 4096;

  struct waiting : strand_task {
    waiting* older = nullptr;  // in the frame's list
    waiting* newer = nullptr;
    implicit_frame& frame;
    unsigned number = 0;
    waiting(strand_meeting& (*r)(strand_task&) noexcept, implicit_frame& f) noexcept : strand_task{r}, frame(f) {}
  };
  template <class C> struct spawned final : waiting {
    C closure;
    template <class F>
    spawned(F&& f, implicit_frame& owner) : waiting(&run_and_delete, owner), closure(std::forward<F>(f)) {}
    static strand_meeting& run_and_delete(strand_task& task) noexcept {
      std::unique_ptr<spawned> self(static_cast<spawned*>(&task));
      implicit_frame& frame = self->frame;
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
    push(*task);
  }

  template <class Call> void keep_failure(Call&& call, unsigned number) noexcept {
    try {
      call();
    } catch (...) {
      keep(std::current_exception(), number);
    }
  }

  /// The handler of an interrupt moves tasks from the list to the records, so the list is looked at first.
  bool has_tasks() const noexcept {
    bool const some_wait = waiting_ != 0;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    return some_wait || offered_ != 0;
  }

  // in src/schedulers/implicit/frame.cpp
  FILCH_API void begin() noexcept;
  FILCH_API where place_for_next() noexcept;
  FILCH_API void push(waiting&) noexcept;
  FILCH_API void drain() noexcept;
  bool forget_stolen() noexcept;
  FILCH_API void keep(std::exception_ptr, unsigned number) noexcept;
  waiting& take_oldest() noexcept;
  waiting& take_newest() noexcept;
  std::uint64_t rank() const noexcept;
  bool may_follow_newest() const noexcept;
  void enlist() noexcept;
  void leave_list() noexcept;

  strand_meeting meeting_{};
  strand_worker* worker_ = nullptr;  // where it began
  implicit_stack* stack_ = nullptr;  // on which it lies; null: outside implicit's pools
  std::uint64_t position_ = 0;       // on that stack, just below the frame of who began it
  std::uint64_t sequence_ = 0;       // of the scopes on that stack: those of one function may lie at one position
  implicit_frame* older_ = nullptr;  // in the stack's list of frames with tasks that wait, by position
  implicit_frame* newer_ = nullptr;
  waiting* oldest_ = nullptr;
  waiting* newest_ = nullptr;
  unsigned waiting_ = 0;  // in the list
  unsigned offered_ = 0;  // in the stack's records: its newest, where there are any
  unsigned number_ = 0;
  std::mutex failing_;  // never held across a fork
  std::exception_ptr failure_;
  unsigned failed_ = 0;
};

}  // namespace filch::inline FILCH_ABI::detail

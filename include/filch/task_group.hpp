// task_group: tasks that are added from anywhere, at any depth, and one wait for all of them. Futures of such tasks.
#pragma once

#if defined(FILCH_RACES)
#include <filch/detail/race_group.hpp>
#else

#include <filch/default_scheduler.hpp>
#include <filch/detail/exceptions_aside.hpp>
#include <filch/detail/group_tasks.hpp>
#include <filch/detail/stopping.hpp>
#include <filch/detail/task_cancelled.hpp>

#include <cstdint>
#include <exception>
#include <utility>
#include <vector>

namespace filch::inline FILCH_ABI {

/// The result of a task that task_group::fork has added. It may outlive its group: the task is over then.
template <class Result> class group_future {
 public:
  group_future() noexcept = default;
  group_future(group_future&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
  group_future& operator=(group_future&& other) noexcept {
    group_future goes(std::move(other));
    std::swap(state_, goes.state_);
    return *this;
  }
  ~group_future() {
    if (state_) detail::group_result<slot>::let_go(state_);
  }

  /// Is there a task, and no get() yet?
  bool valid() const noexcept { return state_ != nullptr; }
  /// Would get() return at once?
  bool is_ready() const noexcept { return state_ && state_->word.is_over(); }

  /// Once: returns what the task returned, or throws what it threw; task_cancelled if it did not begin. If !valid(),
  /// throws std::future_error with no_state. Runs a task that no worker has begun on the calling thread. Waits for
  /// one that has begun, as in filch::blocking: another thread works meanwhile. Continues where `join` may. A task
  /// may not wait for itself, nor for a task that waits for it. Cost: some 10 nanoseconds if it is over, else that of
  /// the task or the wait.
  Result get() {
    if (!state_) detail::no_future_state();
    struct taken {
      detail::group_result<slot>* state;
      ~taken() { detail::group_result<slot>::let_go(state); }
    } const mine{std::exchange(state_, nullptr)};
    detail::group_result<slot>& s = *mine.state;
    if (!s.word.is_over()) {
      if (s.word.claim()) {
        run_here(s);
      } else {
        detail::wait_for(s.word);
      }
    }
    using state = detail::group_result<slot>;
    if (s.what == state::threw) std::rethrow_exception(std::move(s.failure));
    if (s.what == state::dropped) throw task_cancelled();
    if constexpr (!std::is_void_v<Result>) return static_cast<Result>(s.result.take());
  }

 private:
  template <scheduler> friend class task_group;
  using slot = std::conditional_t<std::is_void_v<Result>, nothing, Result>;
  explicit group_future(detail::group_result<slot>* state) noexcept : state_(state) {}

  static void run_here(detail::group_result<slot>& s) noexcept {
    detail::group_core& group = *s.group;
    detail::group_task& task = *s.task;
    bool const is_off_the_list = group.take_if_newest(task);
    {
      detail::exceptions_aside const from_task;
      detail::lone_waits_here const here(group.stack_count());
      if (s.run(s, !group.is_cancelled()) == detail::group_outcome::dropped) group.has_dropped();
    }
    if (is_off_the_list) {
      detail::group_result<slot>::let_go(std::addressof(s));
      return group.finish(task);
    }
    if (!s.word.is_second_to_leave()) return;  // edge group-4: the worker that took it off the list ends it
    detail::group_result<slot>::let_go(std::addressof(s));
    group.finish(task);
  }

  detail::group_result<slot>* state_ = nullptr;
};

/// Any number of tasks, and a wait for all of them. Unlike a scope's, its tasks may be added from anywhere while it
/// is open: from its own tasks, below joins and inside loops, from several threads.
///
///     filch::task_group group;
///     auto const visit = [&](auto const& self, node* n) -> void {
///       for (node* child : n->children) group.run([=, &self] { self(self, child); });
///     };
///     group.run([&] { visit(visit, root); });
///     group.wait();
///
/// It belongs to the pool in which it was made, and may not outlive it; outside all pools, to the default pool.
/// Workers that find no other task take tasks of the open groups, oldest first; wait() takes the newest first. Tasks
/// of one group may not wait for each other but by futures.
///
/// If a task throws, those that have not begun do not begin, and wait() throws the first exception.
///
/// Memory: some thousand tasks wait at most. If more are added, run() calls them at once, up to 128 deep in each
/// other. So hold no lock across run() that a task locks, and let no task wait for the one that adds it. A group with
/// futures has no such limit, and calls nothing at once.
template <scheduler Sched = default_scheduler> class task_group {
 public:
  /// The group's stop token: for loops, algorithms, scopes and joins in its tasks.
  class token {
   public:
    bool stop_requested() const noexcept { return core_->is_cancelled(); }
    static constexpr bool stop_possible() noexcept { return true; }

   private:
    friend class task_group;
    explicit token(detail::group_core const& core) noexcept : core_(std::addressof(core)) {}
    detail::group_core const* core_;
  };

  /// Throws std::bad_alloc. Cost: about 0.15 microseconds with its end; the pool's first groups allocate.
  task_group() : core_(&Sched::worker_index, tasks_on_stack()) {
    Sched::attach(core_.source());
    core_.begin();
  }
  /// A group that is cancelled when `outer` is stopped, too: `task_group inner(outer.get_token())`. It keeps a copy,
  /// and asks it before each task. Throws what the copy throws, and std::bad_alloc.
  template <detail::stop_token_like Token> explicit task_group(Token const& outer) : task_group() {
    core_.cancelled_by(
        new Token(outer), [](void const* its) noexcept { return static_cast<Token const*>(its)->stop_requested(); },
        [](void* its) noexcept { delete static_cast<Token*>(its); });
  }
  task_group(task_group const&) = delete;
  task_group& operator=(task_group const&) = delete;
  /// Waits for its tasks, and drops their exceptions. So exit() in a task of a static group waits for ever, and in a
  /// child of fork() it ends the process with a line while tasks of the parent are open: call _exit() there.
  ~task_group() { wait_for_all(); }

  /// Adds a task. For tasks of the group, and before wait() is called: f() runs at some time before that returns,
  /// perhaps on another worker, perhaps before run() returns; the group's end waits for run(). f is moved or copied
  /// away; its result is dropped. Throws what f's move or copy throws, and std::bad_alloc only for a closure of more
  /// than 96 bytes, or aligned to more than 16; f has not run then. Continues where `join` may. Cost: some 50
  /// nanoseconds in all, and a wake-up if a worker sleeps.
  template <class Fn> void run(Fn&& f) {
    using closure = std::decay_t<Fn>;
    static_assert(std::is_invocable_v<closure>, "filch::task_group::run: a task is called without arguments");
    detail::group_task* const t = core_.take_place();
    if (t == nullptr) return run_at_once(std::forward<Fn>(f));
    try {
      detail::put_closure<closure>(*t, std::forward<Fn>(f));
    } catch (...) {
      core_.drop_place(*t);
      throw;
    }
    t->run = &detail::run_group_task<closure>;
    core_.add(*t);
  }

  /// As run(), with a future for f's result or exception; wait() does not throw that. Continues where `join` may.
  /// Always allocates: throws std::bad_alloc for any closure, and f has not run then. Cost: some 90 nanoseconds in
  /// all, get() and the deallocation included, and a wake-up if a worker sleeps.
  template <class Fn>
  [[nodiscard]] group_future<std::remove_cv_t<std::invoke_result_t<std::decay_t<Fn>>>> fork(Fn&& f) {
    core_.has_futures();
    using result = std::remove_cv_t<std::invoke_result_t<std::decay_t<Fn>>>;
    using slot = typename group_future<result>::slot;
    using state = detail::group_result<slot>;
    using closure = std::decay_t<Fn>;
    auto s = std::make_unique<state>();
    detail::group_task* t = core_.take_place();
    detail::group_task here;
    detail::group_task& place = t != nullptr ? *t : here;
    try {
      detail::put_closure<closure>(place, std::forward<Fn>(f));
    } catch (...) {
      if (t != nullptr) core_.drop_place(*t);
      throw;
    }
    s->group = std::addressof(core_);
    s->task = std::addressof(place);
    place.future = s.get();
    s->run = &detail::run_for_future<slot, closure>;
    state* const shared = s.release();
    group_future<result> future(shared);
    if (t != nullptr) {
      t->run = &detail::run_future_task<slot, closure>;
      core_.add(*t);
    } else {
      at_once const begun{core_};
      detail::exceptions_aside const from_task;
      detail::lone_waits_here const on_stack(core_.stack_count());
      if (detail::run_future_task<slot, closure>(here, !core_.is_cancelled()) == detail::group_outcome::dropped)
        core_.has_dropped();
    }
    return future;
  }

  /// Returns when all tasks are over, those included that were added meanwhile. Runs tasks on the calling thread, as
  /// a worker. While others run the last ones it waits as in filch::blocking: another thread of the pool works.
  /// Returns false if a task did not begin because the group was cancelled. Throws the first exception that a task
  /// threw; exceptions() has all of them. The group may be used again afterwards. Continues where `join` may.
  /// Several threads may wait at the same time. If a task threw, one of them throws, and the others return false.
  /// Cost: some 10 nanoseconds if all are over; outside all pools, otherwise, that of a call of pool.run.
  bool wait() {
    std::uint64_t const ended_before = core_.ended_waits();
    wait_for_all();
    std::exception_ptr first;
    bool const is_whole = !core_.begin_anew(ended_before, exceptions_, first);
    if (first) std::rethrow_exception(std::move(first));
    return is_whole;
  }

  /// Tasks that have not begun do not begin, until a wait() returns. Those that run go on; get_token() tells them.
  void cancel() noexcept { core_.cancel(); }
  /// Was the group cancelled, by cancel(), a task's exception or its token, since a wait() last returned? Any thread,
  /// some nanoseconds and the token's stop_requested().
  bool is_cancelled() const noexcept { return core_.is_cancelled(); }
  /// A token that says what is_cancelled() does. It refers to the group, and may not outlive it.
  token get_token() const noexcept { return token(core_); }

  /// The exceptions that tasks threw before the last wait() returned, in the order of time; of waits at the same
  /// time, all together. Not while another thread is in wait().
  std::vector<std::exception_ptr> const& exceptions() const noexcept { return exceptions_; }

 private:
  struct at_once {
    detail::group_core& core;
    explicit at_once(detail::group_core& c) noexcept : core(c) { core.begins_at_once(); }
    at_once(at_once const&) = delete;
    at_once& operator=(at_once const&) = delete;
    ~at_once() { core.ends_at_once(); }
  };

  template <class Fn> void run_at_once(Fn&& f) {
    at_once const begun{core_};  // ends after the closure
    std::decay_t<Fn> closure(std::forward<Fn>(f));
    if (core_.is_cancelled()) return core_.has_dropped();
    detail::exceptions_aside const from_task;
    try {
      static_cast<void>(detail::call_with(std::move(closure)));
    } catch (...) {
      core_.failed(detail::caught_exception());
    }
  }

  void wait_for_all() noexcept {
    if (!core_.is_over()) detail::inside_pool<Sched>([this] { core_.wait(); });
  }
  static constexpr auto tasks_on_stack() noexcept -> unsigned* (*)() noexcept {
    if constexpr (requires { Sched::group_tasks(); }) {
      return &Sched::group_tasks;
    } else {
      return nullptr;
    }
  }

  detail::group_core core_;
  std::vector<std::exception_ptr> exceptions_;
};

}  // namespace filch::inline FILCH_ABI
#endif

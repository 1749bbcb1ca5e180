// filch::task_group in a program that is compiled with FILCH_RACES: each task runs where it is added, beside all that
// follows until the group's wait. A task with a future is beside all that follows until its get(). A group outside
// all pools keeps its tasks until then.
#pragma once

#include <filch/default_scheduler.hpp>
#include <filch/detail/caught.hpp>
#include <filch/detail/race_hooks.hpp>
#include <filch/detail/stopping.hpp>
#include <filch/detail/task_cancelled.hpp>
#include <filch/mutex.hpp>

#include <atomic>
#include <exception>
#include <filch/detail/standard.hpp>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace filch::inline FILCH_ABI {
namespace detail {

/// The part of a group that its tasks and futures use.
class race_group {
 public:
  struct task {
    virtual ~task() = default;
    /// Runs it in a scope, its own or the group's. To the check the end of `self` is the task's.
    virtual void begin(std::shared_ptr<task>&& self, race_group& group, race_scope& scope) = 0;
    virtual void join() {}
  };

  bool is_stopped() const noexcept {
    // relaxed: a hint, as in the group that runs in parallel.
    return is_cancelled_.load(std::memory_order_relaxed) || (is_stopped_ && is_stopped_(token_.get()));
  }
  void cancel() noexcept { is_cancelled_.store(true, std::memory_order_relaxed); }
  template <class Token> void cancelled_by(Token const& token) {
    token_ = std::make_shared<Token>(token);
    is_stopped_ = [](void const* its) noexcept { return static_cast<Token const*>(its)->stop_requested(); };
  }
  void open() { scope_.emplace(); }
  /// Begins it, or keeps it for a pool. `is_joined`: wait() joins it by itself.
  void add(std::shared_ptr<task> t, bool is_joined) {
    if (is_joined) {
      std::lock_guard<mutex> const lock(mutex_);
      joined_.push_back(t);
    }
    if (scope_) {
      task& its = *t;
      its.begin(std::move(t), *this, *scope_);
    } else {
      std::lock_guard<mutex> const lock(mutex_);
      kept_.push_back(std::move(t));
    }
  }
  /// In a pool.
  void begin_kept() {
    if (scope_) return;
    std::vector<std::shared_ptr<task>> tasks;
    {
      std::lock_guard<mutex> const lock(mutex_);
      tasks.swap(kept_);
    }
    scope_.emplace();
    for (auto& t : tasks) {
      task& its = *t;
      its.begin(std::move(t), *this, *scope_);
    }
    scope_->sync();
    scope_.reset();
  }
  void wait() {
    if (scope_) {
      scope_->sync();
    } else {
      begin_kept();
    }
    std::vector<std::shared_ptr<task>> tasks;
    {
      std::lock_guard<mutex> const lock(mutex_);
      tasks.swap(joined_);
    }
    for (auto const& t : tasks) t->join();
  }
  void failed(std::exception_ptr e) {
    cancel();
    std::lock_guard<mutex> const lock(mutex_);
    failures_.push_back(std::move(e));
  }
  void dropped() noexcept { has_dropped_.store(true, std::memory_order_relaxed); }
  bool begin_anew(std::vector<std::exception_ptr>& failures, std::exception_ptr& first) {
    std::lock_guard<mutex> const lock(mutex_);
    failures = std::exchange(failures_, {});
    if (!failures.empty()) first = failures.front();
    is_cancelled_.store(false, std::memory_order_relaxed);
    return has_dropped_.exchange(false, std::memory_order_relaxed);
  }

 private:
  std::optional<race_scope> scope_;  // of a group that was made in a pool
  filch::mutex mutex_;
  std::vector<std::shared_ptr<task>> kept_;    // of one that was not; under mutex_
  std::vector<std::shared_ptr<task>> joined_;  // under mutex_
  std::vector<std::exception_ptr> failures_;   // the same
  std::atomic<bool> is_cancelled_{false};
  std::atomic<bool> has_dropped_{false};
  std::shared_ptr<void const> token_;
  bool (*is_stopped_)(void const*) noexcept = nullptr;
};

template <class Closure> struct race_run : race_group::task {
  Closure closure;
  race_group* group = nullptr;
  std::shared_ptr<race_group::task> itself;
  template <class Fn> explicit race_run(Fn&& f) : closure(std::forward<Fn>(f)) {}
  void begin(std::shared_ptr<race_group::task>&& self, race_group& g, race_scope& scope) override {
    group = std::addressof(g);
    itself = std::move(self);
    scope.spawn(
        [](void* p) {
          auto& mine = *static_cast<race_run*>(p);
          auto const ends_here = std::move(mine.itself);
          if (mine.group->is_stopped()) return mine.group->dropped();
          try {
            static_cast<void>(detail::call_with(std::move(mine.closure)));
          } catch (...) {
            mine.group->failed(detail::caught_exception());
          }
        },
        this);
  }
};

template <class Result> struct race_result : race_group::task {
  enum outcome { nothing_yet, returned, threw, dropped };
  // is_ready() reads it beside the task. relaxed: join() orders all else.
  std::atomic<outcome> kept{nothing_yet};
  race_group* group = nullptr;
  std::optional<race_scope> scope;
  result_slot<Result> result;
  std::exception_ptr failure;
  ~race_result() override {
    if (what() == returned) result.drop();
  }
  outcome what() const noexcept { return kept.load(std::memory_order_relaxed); }
  void is(outcome o) noexcept { kept.store(o, std::memory_order_relaxed); }
  virtual void run() = 0;
  void begin(std::shared_ptr<race_group::task>&&, race_group& g, race_scope&) override {
    group = std::addressof(g);
    scope.emplace();
    scope->spawn([](void* p) { static_cast<race_result*>(p)->run(); }, this);
  }
  void join() override {
    if (scope) scope->sync();
    scope.reset();
  }
};

template <class Result, class Closure> struct race_forked final : race_result<Result> {
  std::optional<Closure> closure;  // ends with the task
  template <class Fn> explicit race_forked(Fn&& f) : closure(std::forward<Fn>(f)) {}
  void run() override {
    if (this->group->is_stopped()) {
      this->group->dropped();
      this->is(race_result<Result>::dropped);
    } else {
      try {
        this->result.make([this]() -> decltype(auto) { return detail::call_with(std::move(*closure)); });
        this->is(race_result<Result>::returned);
      } catch (...) {
        this->failure = detail::caught_exception();
        this->is(race_result<Result>::threw);
      }
    }
    closure.reset();
  }
};

}  // namespace detail

/// See docs/races.md.
template <class Result> class group_future {
 public:
  group_future() noexcept = default;
  group_future(group_future&&) noexcept = default;
  group_future& operator=(group_future&&) noexcept = default;
  bool valid() const noexcept { return state_ != nullptr; }
  bool is_ready() const noexcept { return state_ && state_->what() != detail::race_result<slot>::nothing_yet; }
  Result get() {
    if (!state_) throw std::future_error(std::future_errc::no_state);
    auto const s = std::exchange(state_, nullptr);
    if (s->what() == detail::race_result<slot>::nothing_yet) begin_kept_(*group_);
    s->join();
    if (s->failure) std::rethrow_exception(std::move(s->failure));
    if (s->what() != detail::race_result<slot>::returned) throw task_cancelled();
    if constexpr (!std::is_void_v<Result>) return static_cast<Result>(s->result.take());
  }

 private:
  template <scheduler> friend class task_group;
  using slot = std::conditional_t<std::is_void_v<Result>, nothing, Result>;
  std::shared_ptr<detail::race_result<slot>> state_;
  detail::race_group* group_ = nullptr;
  void (*begin_kept_)(detail::race_group&) = nullptr;
};

/// See docs/races.md.
template <scheduler Sched = default_scheduler> class task_group {
 public:
  class token {
   public:
    bool stop_requested() const noexcept { return group_->is_stopped(); }
    static constexpr bool stop_possible() noexcept { return true; }

   private:
    friend class task_group;
    explicit token(detail::race_group const& group) noexcept : group_(std::addressof(group)) {}
    detail::race_group const* group_;
  };

  task_group() {
    if (Sched::inside()) group_.open();
  }
  template <detail::stop_token_like Token> explicit task_group(Token const& outer) : task_group() {
    group_.cancelled_by(outer);
  }
  task_group(task_group const&) = delete;
  task_group& operator=(task_group const&) = delete;
  ~task_group() {
    std::exception_ptr dropped;
    wait_for_all(dropped);
  }

  template <class Fn> void run(Fn&& f) {
    static_assert(std::is_invocable_v<std::decay_t<Fn>>,
                  "filch::task_group::run: a task is called without arguments");
    group_.add(std::make_shared<detail::race_run<std::decay_t<Fn>>>(std::forward<Fn>(f)), false);
  }
  template <class Fn>
  [[nodiscard]] group_future<std::remove_cv_t<std::invoke_result_t<std::decay_t<Fn>>>> fork(Fn&& f) {
    using future = group_future<std::remove_cv_t<std::invoke_result_t<std::decay_t<Fn>>>>;
    future made;
    made.state_ = std::make_shared<detail::race_forked<typename future::slot, std::decay_t<Fn>>>(std::forward<Fn>(f));
    made.group_ = std::addressof(group_);
    made.begin_kept_ = [](detail::race_group& group) {
      detail::inside_pool<Sched>([&group] { group.begin_kept(); });
    };
    group_.add(made.state_, true);
    return made;
  }
  bool wait() {
    std::exception_ptr first;
    bool const is_whole = wait_for_all(first);
    if (first) std::rethrow_exception(std::move(first));
    return is_whole;
  }
  void cancel() noexcept { group_.cancel(); }
  bool is_cancelled() const noexcept { return group_.is_stopped(); }
  token get_token() const noexcept { return token(group_); }
  std::vector<std::exception_ptr> const& exceptions() const noexcept { return exceptions_; }

 private:
  bool wait_for_all(std::exception_ptr& first) {
    detail::inside_pool<Sched>([this] { group_.wait(); });
    return !group_.begin_anew(exceptions_, first);
  }

  detail::race_group group_;
  std::vector<std::exception_ptr> exceptions_;
};

}  // namespace filch::inline FILCH_ABI

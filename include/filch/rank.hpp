// The rank that runs a task, as the task sees it: spawn, async, bounds. Compiled into programs.
#pragma once

#include <filch/detail/cluster_rank_worker.hpp>

#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace filch::inline FILCH_ABI {

/// A number that all ranks know and any task may raise. A handle: tasks take it as an argument.
struct bound {
  unsigned id;       ///< its number, in the order of make_bound
  unsigned cluster;  ///< the number of its cluster, the same on all ranks
};

/// A task of a cluster, or the op of a fold or a reduction, ended with an exception, on any rank. what() is that
/// exception's text.
class FILCH_API task_error : public std::runtime_error {
 public:
  explicit task_error(std::string const& what, std::string const& type = {});
  task_error(task_error const&) = default;
  task_error& operator=(task_error const&) = default;
  ~task_error() override;

  /// The name of the exception's type, such as "std::out_of_range".
  char const* type() const noexcept { return type_.what(); }

  /// Makes one from its text in a message.
  static task_error from(std::string_view text);

 private:
  std::runtime_error type_;  // copies of its text can't throw
};

/// The result of a task that rank::async spawned. Only the task that made the future may wait for it, and the future
/// may not outlive that task.
template <class Type> class [[nodiscard]] future {
 public:
  template <class Spawn>
  future(detail::rank_worker& here, Spawn spawn)
      : here_(std::addressof(here)), state_(std::make_unique<detail::future_value<Type>>()) {
    spawn(*state_);
  }
  /// `other` has no result afterwards. It may be destroyed or assigned.
  future(future&& other) noexcept = default;
  /// Waits for the result that this future had, as get() does.
  future& operator=(future&& other) noexcept {
    if (this != std::addressof(other)) {
      wait();
      here_ = other.here_;
      state_ = std::move(other.state_);
    }
    return *this;
  }
  /// Waits as get() does, unless get() was called. Drops the result, or the task's exception.
  ~future() { wait(); }

  /// Waits for the result and returns it, once. Throws task_error if the task threw. Other tasks of the rank run
  /// meanwhile on this stack, so a lock held across the call can deadlock with itself. Continues on the calling
  /// thread under `direct`, `channel` and `serial`, perhaps on another one under `cactus` and `implicit`.
  Type get() {
    wait();
    if (state_->failure) throw task_error::from(*state_->failure);
    if constexpr (!std::is_void_v<Type>) return std::move(*state_->value);
  }
  /// Has the result arrived, so that get() returns at once?
  bool ready() const noexcept { return state_->ready.load(std::memory_order_acquire); }  // edge cluster-1

 private:
  void wait() {
    if (state_) here_->wait_for(*state_);
  }

  detail::rank_worker* here_;
  // On the heap: its address is in the task.
  std::unique_ptr<detail::future_value<Type>> state_;
};

/// The rank that runs a task: the first parameter of every function that may run on another one.
///
///     long count(filch::rank& here, node n) {
///       for (node const& child : children_of(n)) here.spawn<count>(child);
///       return 1;
///     }
///
/// It ends with the task. A task may use filch::join and everything else of Filch, but not `here` on both sides of a
/// join.
class rank {
 public:
  explicit rank(detail::rank_worker& here) noexcept : here_(here) {}
  rank(rank const&) = delete;
  rank& operator=(rank const&) = delete;

  /// This process's number, 0 to ranks() - 1.
  int index() const noexcept { return here_.endpoint_.rank(); }
  /// How many ranks the cluster has.
  int ranks() const noexcept { return here_.endpoint_.ranks(); }

  /// Runs Fn(rank&, arguments...) on any rank before the run ends. This rank runs its newest task first, and gives
  /// the oldest ones to others, which begin with the oldest. The arguments are copied, and travel by filch::packing.
  /// cluster::fold folds what Fn returns, cluster::run drops it. If Fn throws, these throw task_error on every rank.
  /// Throws std::bad_alloc and what copying throws; Fn does not run then.
  ///
  /// Costs some nanoseconds, and an allocation unless the arguments are trivially copyable, have 40 bytes at most,
  /// and are aligned to 8 at most.
  template <auto Fn, class... Args> void spawn(Args&&... arguments) {
    here_.spawn<Fn>(nullptr, std::forward<Args>(arguments)...);
  }

  /// As spawn. Returns a future, which gets what Fn returns or throws. Costs one allocation more.
  template <auto Fn, class... Args> auto async(Args&&... arguments) {
    return future<typename detail::spawned<Fn>::Result>(
        here_, [&](detail::cluster_future& state) { here_.spawn<Fn>(&state, std::forward<Args>(arguments)...); });
  }

  /// Does another rank want tasks that this one could not give? For functions that spawn only then. Costs two loads.
  bool wanted() const noexcept { return here_.endpoint_.wanted() && here_.tasks.size() < 2; }

  /// Answers other ranks, once in 32 microseconds at most, or in 8 while they send requests. For tasks longer than a
  /// millisecond. Ends all ranks if there is no memory for a message. Costs a read of the clock, rarely microseconds.
  void poll() {
    if (here_.poll_is_late()) here_.poll_in_task();
  }

  /// The bound as this rank knows it: the greatest value, or for some time an older one. Throws std::invalid_argument
  /// for a bound of another cluster. Costs a load.
  std::int64_t value(bound b) const { return here_.endpoint_.bound(here_.endpoint_.own(b)); }
  /// Raises the bound to `value` if it is less: here at once, on other ranks soon. Throws std::invalid_argument for
  /// a bound of another cluster. Costs a load, and an exchange if it is less.
  void raise(bound b, std::int64_t value) {
    unsigned const id = here_.endpoint_.own(b);
    if (value > here_.endpoint_.bound(id)) here_.endpoint_.raise(id, value);
  }

 private:
  detail::rank_worker& here_;
};

template <auto Fn> void detail::spawned<Fn>::run(rank_worker& here, cluster_task& t) {
  auto* const future = t.future;
  int const home = t.home;
  here.finish<Result>(future, home, [&]() -> Result {
    // Fn may spawn into the deque's place of this task.
    auto arguments = task_arguments<Fn>::take(t);
    rank r(here);
    return std::apply([&r](auto&... a) { return Fn(r, std::move(a)...); }, arguments);
  });
}

}  // namespace filch::inline FILCH_ABI

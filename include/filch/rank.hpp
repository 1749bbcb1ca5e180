// What a task of a cluster sees of the rank that runs it.
#pragma once

#include <filch/detail/cluster_rank_worker.hpp>

#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace filch::inline FILCH_ABI {

/// A number that every rank knows and any task may raise. A handle: pass it to tasks like any other argument.
struct bound {
  unsigned id;       ///< its number, in the order of make_bound
  unsigned cluster;  ///< which cluster it is of: the same number on all ranks
};

/// A task of a cluster, or the op of a fold or a reduction, ended with an exception, here or on another rank. what()
/// is that exception's.
class FILCH_API task_error : public std::runtime_error {
 public:
  explicit task_error(std::string const& what, std::string const& type = {});
  task_error(task_error const&) = default;
  task_error& operator=(task_error const&) = default;
  ~task_error() override;

  /// The name of the exception's type, such as "std::out_of_range".
  char const* type() const noexcept { return type_.what(); }

  /// From the text in which it travels.
  static task_error from(std::string_view text);

 private:
  std::runtime_error type_;  // a text whose copies can't throw
};

/// The result of a task that was spawned with rank::async. Belongs to the task that made it: only that one may wait,
/// and it may not outlive that one.
template <class Type> class [[nodiscard]] future {
 public:
  template <class Spawn>
  future(detail::rank_worker& here, Spawn spawn)
      : here_(std::addressof(here)), state_(std::make_unique<detail::future_value<Type>>()) {
    spawn(*state_);
  }
  /// `other` has no result any more: it may be destroyed, or be given another one.
  future(future&& other) noexcept = default;
  /// Waits as get() does for the result that it had, if that did not.
  future& operator=(future&& other) noexcept {
    if (this != std::addressof(other)) {
      wait();
      here_ = other.here_;
      state_ = std::move(other.state_);
    }
    return *this;
  }
  /// Waits as get() does, if that did not, and continues where it would.
  ~future() { wait(); }

  /// Returns the result, once; waits for it, and runs other tasks of the rank meanwhile, on top of this one's stack:
  /// a lock that is held here can meet itself. Throws task_error if the task threw. Continues on the calling thread
  /// under `direct`, `channel` and `serial`, perhaps on another one under `cactus` and `implicit`.
  Type get() {
    wait();
    if (state_->failure) throw task_error::from(*state_->failure);
    if constexpr (!std::is_void_v<Type>) return std::move(*state_->value);
  }
  /// Would get() return at once?
  bool ready() const noexcept { return state_->ready.load(std::memory_order_acquire); }  // edge cluster-1

 private:
  void wait() {
    if (state_) here_->wait_for(*state_);
  }

  detail::rank_worker* here_;
  // At an address that tasks know.
  std::unique_ptr<detail::future_value<Type>> state_;
};

/// The rank that runs a task: the first parameter of every function that may run on another one.
///
///     long count(filch::rank& here, node n) {
///       for (node const& child : children_of(n)) here.spawn<count>(child);
///       return 1;
///     }
///
/// It is not to be kept. A task may use filch::join and everything else of Filch, but not `here` on both sides of a
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

  /// Runs Fn(rank&, arguments...) some time before the run ends, on any rank: the newest first on this one; the
  /// oldest are given to others, which begin with the oldest of these. Fn is a function; its arguments are copied,
  /// and travel as filch::packing says. What Fn returns is folded into the result of cluster::fold, or dropped by
  /// cluster::run; what it throws leaves those on every rank, as task_error. Throws std::bad_alloc, and what copying
  /// throws; Fn has not run then.
  ///
  /// Costs some nanoseconds where the arguments are trivially copyable and of 40 bytes at most, else an allocation
  /// too.
  template <auto Fn, class... Args> void spawn(Args&&... arguments) {
    here_.spawn<Fn>(nullptr, std::forward<Args>(arguments)...);
  }

  /// As spawn, but what Fn returns or throws goes to the future that it returns. Costs an allocation more.
  template <auto Fn, class... Args> auto async(Args&&... arguments) {
    return future<typename detail::spawned<Fn>::Result>(
        here_, [&](detail::cluster_future& state) { here_.spawn<Fn>(&state, std::forward<Args>(arguments)...); });
  }

  /// Does another rank want tasks that this one could not give? For functions that spawn only then. Two loads.
  bool wanted() const noexcept { return here_.endpoint_.wanted() && here_.tasks.size() < 2; }

  /// Answers the other ranks, at most once in 32 microseconds, or in 8 while they ask. For tasks of more than a
  /// millisecond; others need not. Without memory for a message it ends all ranks. Costs a look at the clock, rarely
  /// microseconds.
  void poll() {
    if (here_.poll_is_late()) here_.poll(here_.tasks.size());
  }

  /// The bound as this rank knows it: the greatest value, or for some time an older one. Throws std::invalid_argument
  /// for a bound of another cluster. A load.
  std::int64_t value(bound b) const { return here_.endpoint_.bound(here_.endpoint_.own(b)); }
  /// Raises the bound to `value` if it is less: here at once, on other ranks soon. Throws std::invalid_argument for
  /// a bound of another cluster. A load, an exchange where it is less.
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
    // The deque's memory is free for others as soon as Fn runs.
    auto arguments = task_arguments<Fn>::take(t);
    rank r(here);
    return std::apply([&r](auto&... a) { return Fn(r, std::move(a)...); }, arguments);
  });
}

}  // namespace filch::inline FILCH_ABI

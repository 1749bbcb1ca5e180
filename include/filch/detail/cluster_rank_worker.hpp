// A rank worker: the worker of one deque of a rank's tasks. filch/cluster.hpp makes one for each run, the pool's
// workers make one for tasks that are split off, and a helper makes one of its own. Protocol:
// src/cluster/protocol.md, "Rank workers".
#pragma once

#include <filch/detail/cluster_endpoint.hpp>
#include <filch/detail/cluster_pace.hpp>
#include <filch/detail/exceptions_aside.hpp>
#include <filch/detail/lone_waits.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <typeinfo>
#include <vector>

namespace filch::inline FILCH_ABI::detail {

/// The part of a fold that one rank worker has seen.
class FILCH_API partial {
 public:
  explicit partial(std::type_info const& type) noexcept : type_(type) {}
  partial(partial const&) = delete;
  partial& operator=(partial const&) = delete;
  virtual ~partial();
  /// A part for another rank worker.
  virtual std::unique_ptr<partial> another() const = 0;
  /// Adds it to the rank's sum.
  virtual void merge() = 0;
  bool is_of(std::type_info const& type) const noexcept { return type_ == type; }

 private:
  std::type_info const& type_;
};
template <class Type> class partial_of : public partial {
 public:
  partial_of() noexcept : partial(typeid(Type)) {}
  virtual void add(Type&& value) = 0;
};

/// A future's state, with the result.
template <class Type> struct future_value : cluster_future {
  using held = std::conditional_t<std::is_void_v<Type>, bool, Type>;
  future_value() noexcept : cluster_future(&take) {}
  static void take(cluster_future& s, unpacker& u) {
    if constexpr (!std::is_void_v<Type>) static_cast<future_value&>(s).value.emplace(packing<Type>::unpack(u));
  }
  std::optional<held> value;
};

/// A wait for messages. It yields at first and sleeps later. It sleeps soon where another thread wants the processor:
/// a kernel would give a yielding thread half of it.
class FILCH_API idle_pause {
 public:
  void wait();
  /// This rank's request came back: the next one waits.
  void refused();
  bool may_request() const { return refusals_ == 0 || clock::now() >= request_again_; }
  void reset() noexcept { *this = idle_pause(); }

 private:
  using clock = std::chrono::steady_clock;
  clock::time_point begin_{};
  clock::time_point request_again_{};
  clock::time_point last_{};  // begin of the last yield; none since the last sleep
  bool is_shared_ = false;    // other threads run on this processor
  unsigned sleeps_ = 0;
  unsigned refusals_ = 0;
};

/// Used by one thread at a time: the worker that runs work_off(), as a fiber perhaps on changing threads.
class rank_worker {
 public:
  rank_worker(endpoint_interface& e, std::unique_ptr<partial> part) noexcept : endpoint_(e), part_(std::move(part)) {}
  rank_worker(rank_worker const&) = delete;
  rank_worker& operator=(rank_worker const&) = delete;
  ~rank_worker() = default;

  template <auto Fn, class... Args> void spawn(cluster_future* future, Args&&... arguments);

  /// Runs tasks until the deque is empty and nothing has arrived, on the pool's scheduler Sched.
  template <class Sched> void work_off();
  /// The same for tasks that were split off another rank worker, which waits for them.
  template <class Sched> void work_off_half() {
    or_lose_tasks([this] { work_off<Sched>(); });
    merge();
  }
  /// Calls work(), outside of tasks or on top of a wait. An exception there, for want of memory, takes tasks along.
  /// The run would not end, and a wait for one of their futures would not either. So it ends all ranks.
  template <class Work> void or_lose_tasks(Work work) {
    try {
      work();
    } catch (...) {
      endpoint_.end_over_loss("a task");
      throw;
    }
  }
  /// A worker of the pool without tasks runs tasks that arrive soon. Returns whether any arrived.
  template <class Sched> static bool help(endpoint_interface& e);
  FILCH_INLINE void run_newest() {
    cluster_task& t = tasks.take_newest();
    t.kind->run(*this, t);
  }

  /// Before a task. Counts tasks, since reading the clock may take longer than a task.
  bool poll_is_due() noexcept { return --until_look_ == 0 ? block_is_over() : endpoint_.overdue(); }
  /// In a task that may be longer than those before it. Reads the clock.
  bool poll_is_late() const noexcept {
    return endpoint_.overdue() || std::chrono::steady_clock::now() - last_poll_ >= gap_.length();
  }
  /// `spare`: the number of tasks that may go to other ranks.
  FILCH_API void poll(std::size_t spare);
  /// All tasks may go. Takes none: the code may be in a stolen side of a join, where this worker may run other code
  /// on top of the join, and the deque waits for that one.
  FILCH_API void poll_in_task();

  /// Calls a task's function and passes its result or exception on.
  template <class Result, class Call> void finish(cluster_future* future, int home, Call call);
  /// Runs tasks until the future is ready: those of the deque, then those of halves that no worker has begun, then
  /// those that arrive. At the end the rank's other workers may take what is left of them. The tasks do not see the
  /// waiting task's exceptions. A half that has begun is not waited for: it may wait for the task below on this
  /// stack.
  FILCH_API void wait_for(cluster_future& future);
  /// Adds its part of the fold to the rank's. An exception there fails the run, as a task's does.
  FILCH_API void merge();

  endpoint_interface& endpoint_;
  task_deque tasks;

 private:
  struct half;

  /// Have all tasks of the block begun, or has its time passed because they are longer than those before?
  FILCH_API bool block_is_over() noexcept;
  template <class Sched> void step(typename Sched::frame& frame);
  template <class Sched> void split(typename Sched::frame& frame);
  void work_until_ready(cluster_future& future);
  /// One poll, by look(), which the length of the next block follows.
  template <class Look> void timed_poll(Look look);
  /// Waits until tasks arrive, or none will soon. Returns whether they did.
  FILCH_API bool gets_work();
  /// Moves the newest half that no worker has begun back into the empty deque. Returns whether there was one.
  bool take_back();
  FILCH_API void failed(cluster_future* future, int home) noexcept;  // in a handler
  FILCH_API void send_result(cluster_future* future, int home, message const& result);

  std::unique_ptr<partial> part_;
  // Between two polls: a block of tasks that should last gap_, in chunks. The clock is read after each chunk.
  pace::gap gap_;
  unsigned until_look_ = 1;  // tasks left of the chunk
  unsigned behind_it_ = 0;   // tasks of the block after the chunk
  unsigned block_ = 1;       // tasks
  std::chrono::steady_clock::time_point last_poll_{};
  // step() for the scheduler that runs work_off(), and that one's frame
  void (*step_)(rank_worker&, void* frame) = nullptr;
  void* frame_ = nullptr;
  std::vector<std::shared_ptr<half>> halves_;  // split off, perhaps begun
  unsigned waits_ = 0;                         // nested calls of wait_for()
};

/// Tasks split off a rank worker. Two workers know it: the one that begins it, and the one that it was split off,
/// which takes it back. The first to claim it has it, and the other does not touch it any more.
struct rank_worker::half {
  half(endpoint_interface& e, std::unique_ptr<partial> part) noexcept : tasks(e, std::move(part)) {}
  enum class [[nodiscard]] claim_outcome { first, too_late };

  claim_outcome claim() noexcept {
    // relaxed: the claim orders nothing. Both workers know the tasks from the split, and the second one leaves none.
    return is_claimed.exchange(true, std::memory_order_relaxed) ? claim_outcome::too_late : claim_outcome::first;
  }

  rank_worker tasks;
  std::atomic<bool> is_claimed{false};
};

template <class Sched> bool rank_worker::help(endpoint_interface& e) {
  rank_worker mine(e, nullptr);
  if (!mine.gets_work()) return false;
  struct until_the_end {
    endpoint_interface& endpoint_;
    ~until_the_end() { endpoint_.help_ends(); }
  } const helps{e};
  mine.work_off_half<Sched>();
  return true;
}

/// A thread of a rank with several workers. It sleeps most of the time. While the main loop has tasks, it calls
/// `help`, in which it is a worker of the pool, at a caller's place.
class FILCH_API helper_thread {
 public:
  /// `help` returns whether there was any. Throws setup_error where the system refuses a thread.
  helper_thread(endpoint_interface& e, unsigned workers, std::function<bool()> help);
  helper_thread(helper_thread const&) = delete;
  helper_thread& operator=(helper_thread const&) = delete;
  ~helper_thread();

  void begin_run();
  void end_run();

 private:
  struct parts;
  std::unique_ptr<parts> parts_;
};

/// The kind of Fn's tasks. Libraries with hidden symbols share it if Fn itself is visible in all of them.
template <auto Fn> struct FILCH_API spawned {
  using Result = typename task_signature<decltype(Fn)>::result;

  static void run(rank_worker& here, cluster_task& t);
  // It is known while its library is loaded: what it was made with is undone at exit, and by dlclose.
#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wglobal-constructors"
#pragma clang diagnostic ignored "-Wexit-time-destructors"
#endif
  static inline task_kind const kind{typeid(task_name<Fn>).name(), &run, &task_arguments<Fn>::pack,
                                     &task_arguments<Fn>::unpack, &task_arguments<Fn>::drop};
#if defined(__clang__)
#pragma clang diagnostic pop
#endif
};

template <auto Fn, class... Args> void rank_worker::spawn(cluster_future* future, Args&&... arguments) {
  static_assert(task_arguments<Fn>::template takes<Args&&...>(),
                "these are not the arguments of this task, after `rank&`");
  cluster_task& t = tasks.room();
  task_arguments<Fn>::make(t, std::forward<Args>(arguments)...);
  t.kind = &spawned<Fn>::kind;
  t.future = future;
  t.home = endpoint_.rank();
  tasks.push();
}

template <class Result, class Call> void rank_worker::finish(cluster_future* future, int home, Call call) {
  try {
    if (!future) {
      if constexpr (std::is_void_v<Result>) {
        call();
      } else {
        Result result = call();
        if (!part_) return;
        if (!part_->is_of(typeid(Result))) throw std::logic_error("a task's result has another type than the fold");
        static_cast<partial_of<Result>&>(*part_).add(std::move(result));
      }
    } else if (home == endpoint_.rank()) {
      auto& state = static_cast<future_value<Result>&>(*future);
      if constexpr (std::is_void_v<Result>) {
        call();
      } else {
        state.value.emplace(call());
      }
      state.set_ready();
      // *future may be gone
    } else {
      packer p;
      if constexpr (std::is_void_v<Result>) {
        call();
      } else {
        packing<Result>::pack(p, call());
      }
      send_result(future, home, p.take());
    }
  } catch (...) {
    failed(future, home);
  }
}

/// Polls if that is due, splits the deque if a worker of the pool waits, and runs the newest task.
template <class Sched> FILCH_INLINE void rank_worker::step(typename Sched::frame& frame) {
  if (poll_is_due()) [[unlikely]]
    poll(tasks.size() - 1);
  if (Sched::wanted() && tasks.size() > 1) [[unlikely]]
    split<Sched>(frame);
  if constexpr (requires { Sched::group_tasks(); }) {
    // A part of this task that is stolen may wait for an older one. So it must not begin on top of that one's join.
    lone_waits_here const alone(Sched::group_tasks());
    run_newest();
  } else {
    run_newest();
  }
}

template <class Sched> void rank_worker::split(typename Sched::frame& frame) {
  // relaxed: a hint. The list needs no half that a worker has begun.
  std::erase_if(halves_, [](auto const& h) { return h->is_claimed.load(std::memory_order_relaxed); });
  auto other = std::make_shared<half>(endpoint_, part_ ? part_->another() : nullptr);
  halves_.push_back(other);
  other->tasks.tasks.take_oldest_of(tasks, tasks.size() / 2);
  frame.spawn([given = std::move(other)] {
    if (given->claim() == half::claim_outcome::first) given->tasks.template work_off_half<Sched>();
  });
}

template <class Sched> void rank_worker::work_off() {
  using frame_type = typename Sched::frame;
  frame_type frame;
  frame_ = &frame;
  step_ = [](rank_worker& w, void* f) { w.step<Sched>(*static_cast<frame_type*>(f)); };
  do {
    endpoint_.worker_begins();
    while (!tasks.empty()) step<Sched>(frame);
    endpoint_.worker_ends();
    frame.sync();
    halves_.clear();
  } while (endpoint_.take_arrived(tasks));
}

}  // namespace filch::inline FILCH_ABI::detail

// A share: a deque of a rank's tasks, and the worker that works it off.
#pragma once

#include <filch/detail/cluster_endpoint.hpp>
#include <filch/detail/cluster_pace.hpp>

#include <chrono>
#include <exception>
#include <typeinfo>

namespace filch::inline FILCH_ABI::detail {

/// The part of a fold that a share has seen.
class FILCH_API partial {
 public:
  explicit partial(std::type_info const& type) noexcept : type_(type) {}
  partial(partial const&) = delete;
  partial& operator=(partial const&) = delete;
  virtual ~partial();
  /// For another share.
  virtual std::unique_ptr<partial> another() const = 0;
  /// Adds it to the rank's.
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

/// A future's state once its result has come.
template <class Type> struct future_value : cluster_future {
  using held = std::conditional_t<std::is_void_v<Type>, bool, Type>;
  future_value() noexcept : cluster_future(&take) {}
  static void take(cluster_future& s, unpacker& u) {
    if constexpr (!std::is_void_v<Type>) static_cast<future_value&>(s).value.emplace(packing<Type>::unpack(u));
  }
  std::optional<held> value;
};

/// Waiting for messages: yields at first, sleeps later; soon, where somebody else wants the processor, of which
/// kernels would give a yielding thread its share.
class FILCH_API idle_pause {
 public:
  void wait();
  /// A request came back in vain: do not ask again at once.
  void refused();
  bool may_ask() const { return refusals_ == 0 || clock::now() >= ask_again_; }
  void reset() noexcept { *this = idle_pause(); }

 private:
  using clock = std::chrono::steady_clock;
  clock::time_point begin_{};
  clock::time_point ask_again_{};
  clock::time_point last_{};  // when the last yield began, if it did not sleep since
  bool is_shared_ = false;    // the processor, with others that run
  unsigned sleeps_ = 0;
  unsigned refusals_ = 0;
};

/// Sets the calling fiber's exceptions aside, those in flight and those that are handled: what it runs meanwhile has
/// none but its own. The fiber may continue on another thread.
class FILCH_API exceptions_aside {
 public:
  exceptions_aside() noexcept;
  exceptions_aside(exceptions_aside const&) = delete;
  exceptions_aside& operator=(exceptions_aside const&) = delete;
  ~exceptions_aside();

 private:
  void* caught_;
  unsigned uncaught_;
};

/// Used by its worker alone. Under schedulers that migrate that is a fiber, perhaps on changing threads.
class share {
 public:
  share(endpoint& e, std::unique_ptr<partial> part) noexcept : ends(e), part_(std::move(part)) {}
  share(share const&) = delete;
  share& operator=(share const&) = delete;
  ~share() = default;

  template <auto Fn, class... Args> void spawn(cluster_future* future, Args&&... arguments);

  /// Works until the deque is empty, on the pool's scheduler Sched.
  template <class Sched> void work_off();
  /// The same of tasks that were split off another share, which waits for them.
  template <class Sched> void work_off_half() {
    or_lose_tasks([this] { work_off<Sched>(); });
    merge();
  }
  /// Calls work(), outside of tasks. What that throws, for want of memory, takes tasks along: nobody would see the
  /// end of the run, and who waits for one of their futures would wait for ever.
  template <class Work> void or_lose_tasks(Work work) {
    try {
      work();
    } catch (...) {
      ends.end_over_loss("a task");
      throw;
    }
  }
  /// For a worker of the pool that has nothing to do: works on what arrives, if something does soon. Returns whether
  /// it did.
  template <class Sched> static bool help(endpoint& e);
  FILCH_INLINE void run_newest() {
    cluster_task& t = tasks.take_newest();
    t.kind->run(*this, t);
  }

  /// Before a task: by their number, since a look at the clock may take longer than a task.
  bool poll_is_due() noexcept { return --until_look_ == 0 ? block_is_over() : ends.overdue(); }
  /// In a task, which may be longer than those before: by the clock.
  bool poll_is_late() const noexcept {
    return ends.overdue() || std::chrono::steady_clock::now() - last_poll_ >= gap_.length();
  }
  /// `spare`: tasks that may go.
  FILCH_API void poll(std::size_t spare);

  /// Calls a task's function and hands on what it returns or throws.
  template <class Result, class Call> void finish(cluster_future* future, int home, Call call);
  /// Until the future is ready, works: on what is in the deque, what nobody has begun of the halves split off, what
  /// arrives. None of these tasks sees the waiting one's exceptions. Waits for no half that has begun: that one may
  /// wait for the task below on this stack.
  FILCH_API void wait_for(cluster_future& future);
  /// Adds its part of the fold to the rank's. What that throws fails the run, as a task's exception does.
  FILCH_API void merge();

  endpoint& ends;
  task_deque tasks;

 private:
  struct half;

  /// Have as many tasks begun as should take the time; or has it passed, since these are longer than those before?
  FILCH_API bool block_is_over() noexcept;
  template <class Sched> void step(typename Sched::frame& frame);
  template <class Sched> void split(typename Sched::frame& frame);
  /// Until something arrives, or nothing will soon.
  FILCH_API bool is_sent_work();
  /// The newest half that nobody has begun, back into the empty deque; false: there is none.
  bool take_back();
  FILCH_API void failed(cluster_future* future, int home) noexcept;  // in a handler
  FILCH_API void send_result(cluster_future* future, int home, message const& result);

  std::unique_ptr<partial> part_;
  // between two polls: so long, and as many tasks as take so long, in chunks with a look at the clock after each
  pace::gap gap_;
  unsigned until_look_ = 1;  // of this chunk
  unsigned behind_it_ = 0;   // of the block
  unsigned block_ = 1;
  std::chrono::steady_clock::time_point last_poll_{};
  // of the scheduler that works it off
  void (*step_)(share&, void* frame) = nullptr;
  void* frame_ = nullptr;
  std::vector<std::shared_ptr<half>> halves_;  // split off; some have begun
  unsigned waits_ = 0;                         // nested in each other
};

/// Tasks split off a share. Belongs to both until one claims it: the worker that begins it, or the share that it was
/// split off, which takes them back. The other one does not touch it any more.
struct share::half {
  half(endpoint& e, std::unique_ptr<partial> part) noexcept : tasks(e, std::move(part)) {}
  bool claim() noexcept {
    // relaxed: it says who, no more. Each knows the tasks from the split, and the one that loses leaves nothing
    // behind.
    return !is_claimed.exchange(true, std::memory_order_relaxed);
  }

  share tasks;
  std::atomic<bool> is_claimed{false};
};

template <class Sched> bool share::help(endpoint& e) {
  share mine(e, nullptr);
  if (!mine.is_sent_work()) return false;
  struct until_the_end {
    endpoint& ends;
    ~until_the_end() { ends.help_ends(); }
  } const helps{e};
  mine.work_off_half<Sched>();
  return true;
}

/// A thread of a rank with several workers that otherwise sleeps. While the main loop's share is at work, for long
/// perhaps, it calls `help` on such of the pool's workers as have nothing to do.
class FILCH_API helper_thread {
 public:
  /// `help` returns whether there was any. Throws setup_error where the system refuses a thread.
  helper_thread(endpoint& ends, unsigned workers, std::function<bool()> help);
  helper_thread(helper_thread const&) = delete;
  helper_thread& operator=(helper_thread const&) = delete;
  ~helper_thread();

  void begin_run();
  void end_run();

 private:
  struct parts;
  std::unique_ptr<parts> parts_;
};

/// The kind of Fn's tasks.
template <auto Fn> struct spawned {
  using Result = typename task_signature<decltype(Fn)>::result;

  static void run(share& here, cluster_task& t);
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

template <auto Fn, class... Args> void share::spawn(cluster_future* future, Args&&... arguments) {
  static_assert(task_arguments<Fn>::template takes<Args&&...>(),
                "these are not the arguments of this task, after `rank&`");
  cluster_task& t = tasks.room();
  task_arguments<Fn>::make(t, std::forward<Args>(arguments)...);
  t.kind = &spawned<Fn>::kind;
  t.future = future;
  t.home = ends.rank();
  tasks.push();
}

template <class Result, class Call> void share::finish(cluster_future* future, int home, Call call) {
  try {
    if (!future) {
      if constexpr (std::is_void_v<Result>) {
        call();
      } else {
        Result result = call();
        if (!part_) return;
        if (!part_->is_of(typeid(Result))) throw std::logic_error("a task returned another type than what is folded");
        static_cast<partial_of<Result>&>(*part_).add(std::move(result));
      }
    } else if (home == ends.rank()) {
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

/// One task, newest first; before it what is due: a poll, and a share for a worker of the pool that waits.
template <class Sched> FILCH_INLINE void share::step(typename Sched::frame& frame) {
  if (poll_is_due()) [[unlikely]]
    poll(tasks.size() - 1);
  if (Sched::wanted() && tasks.size() > 1) [[unlikely]]
    split<Sched>(frame);
  run_newest();
}

template <class Sched> void share::split(typename Sched::frame& frame) {
  // relaxed: a hint; of those that have begun the list needs nothing.
  std::erase_if(halves_, [](auto const& h) { return h->is_claimed.load(std::memory_order_relaxed); });
  auto other = std::make_shared<half>(ends, part_ ? part_->another() : nullptr);
  halves_.push_back(other);
  other->tasks.tasks.take_oldest_of(tasks, tasks.size() / 2);
  frame.spawn([tasks_of_half = std::move(other)] {
    if (tasks_of_half->claim()) tasks_of_half->tasks.template work_off_half<Sched>();
  });
}

template <class Sched> void share::work_off() {
  using frame_type = typename Sched::frame;
  frame_type frame;
  frame_ = &frame;
  step_ = [](share& s, void* f) { s.step<Sched>(*static_cast<frame_type*>(f)); };
  do {
    ends.share_begins();
    while (!tasks.empty()) step<Sched>(frame);
    ends.share_ends();
    frame.sync();
    halves_.clear();
  } while (ends.take_arrived(tasks));
}

}  // namespace filch::inline FILCH_ABI::detail

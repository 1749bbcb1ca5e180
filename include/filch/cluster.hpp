// filch::cluster: work stealing between processes (paper: A. Prell, T. Rauber, Channel-based Work Stealing,
// 2014).
#pragma once

#include <filch/cluster_stats.hpp>
#include <filch/default_scheduler.hpp>
#include <filch/pool_options.hpp>
#include <filch/rank.hpp>

#include <memory>
#include <mutex>

namespace filch::inline FILCH_ABI {

/// Settings of a rank.
struct cluster_options {
  /// Number of workers of this rank's pool. 0: FILCH_NUM_THREADS, else the transport's number (the processors that
  /// this rank has for itself), else as in pool_options.
  unsigned workers = 0;
  /// Seconds of silence after which a rank is named and all ranks end; 0: no limit.
  unsigned patience = 5;
  /// Seconds that a rank may make its cluster later than the next rank, before it is named and all ranks end. 0, or
  /// with a patience of 0: no limit.
  unsigned arrival = 300;
};

namespace detail {

class patient_wait;

/// A rank's endpoint and its watchdog, for code that is compiled once.
class FILCH_API cluster_base {
 public:
  cluster_base(std::unique_ptr<any_transport> carrier, cluster_options const& options);
  cluster_base(cluster_base const&) = delete;
  cluster_base& operator=(cluster_base const&) = delete;
  ~cluster_base();

  /// A call of a function that all ranks call, from its begin to its end.
  class FILCH_API call {
   public:
    /// Throws std::logic_error if another one has not ended: a task makes this one, or a second thread.
    explicit call(cluster_base& c);
    call(call const&) = delete;
    call& operator=(call const&) = delete;
    ~call();

   private:
    cluster_base& whose_;
  };

  endpoint_interface& own_endpoint() noexcept;
  /// Collective. Folds the ranks' values, on the calling thread and under no lock. Throws task_error on all ranks if
  /// fold threw on one.
  message reduce(reduction_part part, fold_values const& fold);
  /// Collective, after a run. Throws task_error on all ranks if a task threw on one.
  message finish(reduction_part part, fold_values const& fold);
  bound make_bound(std::int64_t first);
  std::int64_t value(bound b) const;
  void reset(bound b, std::int64_t first);
  cluster_stats stats() const;

  static pool_options options_of(cluster_options const& options, unsigned workers_of_transport);

 private:
  struct parts;
  /// Nothing: the wait is over.
  std::optional<message> reduce(reduction_part part, fold_values const& fold, patient_wait& wait);
  /// Folds the parts that are here, if all are, and sends the sum on.
  bool hands_on(fold_values const& fold);
  void wait_for_farewell();
  std::unique_ptr<parts> parts_;
};

template <class Type> message packed(Type const& value) {
  packer p;
  packing<Type>::pack(p, value);
  return p.take();
}
/// A packed value, or the text of the exception that its packing threw. Either takes part in the reduction.
template <class Type> reduction_part packed_part(Type const& value) {
  try {
    return {reduction_part::holds::value, packed(value)};
  } catch (...) {
    return failed_part();
  }
}
template <class Type> Type unpacked(message const& m) {
  unpacker u(m);
  return packing<Type>::unpack(u);
}

/// The result of a reduction, on each rank. An exception is this rank's own: the others may have the result.
template <class Type> Type unpacked_result(message const& m) {
  try {
    return unpacked<Type>(m);
  } catch (...) {
    throw task_error::from(text_of_current_exception());
  }
}

/// A rank's part of a fold. Its rank workers add their parts to it.
template <class Type, class Op> struct fold_of {
  struct part final : partial_of<Type> {
    explicit part(fold_of& whole) noexcept : whole_(whole) {}
    std::unique_ptr<partial> another() const override { return std::make_unique<part>(whole_); }
    void add(Type&& value) override { fold_of::add(seen_, std::move(value), whole_.op); }
    void merge() override {
      // op may fork and continue on another thread, so it is called without the lock, and values are neither moved
      // nor copied under it. The next round finds what other workers merged meanwhile.
      while (seen_) {
        std::unique_ptr<Type> other;
        {
          std::lock_guard<std::mutex> const lock(whole_.mutex);
          other.swap(whole_.sum);
          if (!other) return whole_.sum.swap(seen_);
        }
        fold_of::add(seen_, std::move(*other), whole_.op);
      }
    }

   private:
    fold_of& whole_;
    std::unique_ptr<Type> seen_;
  };

  static void add(std::unique_ptr<Type>& sum, Type&& value, Op const& op) {
    if (!sum) {
      sum = std::make_unique<Type>(std::move(value));
      return;
    }
    try {
      *sum = op(std::move(*sum), std::move(value));
    } catch (...) {
      sum.reset();  // op may have taken it
      throw;
    }
  }

  Op const& op;
  std::mutex mutex{};  // never held across a fork, so not in code of Type or Op
  std::unique_ptr<Type> sum{};
};

}  // namespace detail

/// The ranks that share a program's tasks: processes, or threads of a process. Each has a pool of the scheduler
/// Sched. All ranks make a cluster and call its functions in the same order. Each call returns on all ranks, on the
/// thread that made it. A call that begins before another one has ended, in a task say, throws std::logic_error.
///
/// Several clusters may exist in a process at a time if each has a transport of its own. Clusters may follow each
/// other on one transport that has begin_cluster(), as mpi_transport and thread_transport have.
///
///     int main() {
///       filch::mpi_transport mpi;
///       filch::cluster<> ranks(mpi);
///       long const nodes = ranks.fold<count>(std::plus<>(), root);
///       if (ranks.rank() == 0) std::printf("%ld nodes\n", nodes);
///     }
///
/// A rank without tasks sends a request to a random rank. A rank with tasks answers with the older half of them; a
/// rank without any forwards the request. Idle ranks poll, and sleep between polls for up to a millisecond.
///
/// A reduction costs 2 log2(ranks) messages one after the other, up and down a tree of the ranks. The end of a run
/// costs two such ways and a reduction.
///
/// If a rank is silent for `patience` seconds, or makes its cluster more than `arrival` seconds after the next rank,
/// all ranks end, with a line on stderr that names it. A failing transport ends all ranks too.
template <scheduler Sched = default_scheduler> class cluster {
 public:
  /// Waits for all ranks to come here, options.arrival seconds at most. The transport must outlive the cluster.
  /// Throws setup_error where an option or an environment variable is invalid, the transport has another cluster, or
  /// the system refuses a thread.
  template <transport Carrier>
  explicit cluster(Carrier& carrier, cluster_options options = {})
      : base_(std::make_unique<detail::transport_of<Carrier>>(carrier), options), pool_([&] {
          unsigned workers = 0;
          if constexpr (requires { carrier.workers(); }) workers = carrier.workers();
          return detail::cluster_base::options_of(options, workers);
        }()) {
    if (ranks() == 1 || pool_.workers() == 1) return;
    helper_thread_.emplace(base_.own_endpoint(), pool_.workers(), [this] {
      return pool_.run([this] { return detail::rank_worker::help<Sched>(base_.own_endpoint()); });
    });
  }
  cluster(cluster const&) = delete;
  cluster& operator=(cluster const&) = delete;
  /// Waits for all ranks to come here: two reductions at least. If an exception destroys the cluster on this rank,
  /// and the other ranks do not come within `patience`, this rank ends them.
  ~cluster() = default;

  /// This rank's number, 0 to ranks() - 1.
  int rank() const noexcept { return base_.own_endpoint().rank(); }
  /// How many ranks there are, the same on all.
  int ranks() const noexcept { return base_.own_endpoint().ranks(); }

  /// Runs Fn(rank&, arguments...) as the first task, with the arguments of rank 0, and all tasks that it spawns.
  /// Returns once all tasks have ended on all ranks. If tasks threw, throws task_error on all ranks, with the text of
  /// one. Costs an entry into the pool and the end of a run.
  template <auto Fn, class... Args> void run(Args&&... arguments) {
    detail::cluster_base::call const now(base_);
    work<Fn>(nullptr, std::forward<Args>(arguments)...);
    base_.finish({}, [](message, message) { return message(); });
  }

  /// As run. Returns the fold with op of the results of Fn and of all tasks without a future, which have one type.
  /// Tasks that return void add nothing. The order is not defined. Several workers call op at once, and it may fork.
  /// An exception of op leaves on every rank, as task_error; one of unpacking the result on that rank. Costs what run
  /// costs, and a call of op for each result.
  template <auto Fn, class Op, class... Args> auto fold(Op op, Args&&... arguments) {
    using Type = typename detail::spawned<Fn>::Result;
    static_assert(!std::is_void_v<Type>,
                  "fold needs a task that returns a value; for one that returns nothing use run");
    detail::cluster_base::call const now(base_);
    detail::fold_of<Type, Op> whole{op};
    work<Fn>(std::make_unique<typename detail::fold_of<Type, Op>::part>(whole), std::forward<Args>(arguments)...);
    auto const all =
        base_.finish(whole.sum ? detail::packed_part(*whole.sum) : detail::reduction_part(), over<Type>(op));
    return detail::unpacked_result<Type>(all);
  }

  /// Folds the ranks' values with op, in no defined order. For use between runs. If op throws on one rank, throws
  /// task_error on all ranks, with its text; if unpacking the result throws, on that rank. Costs one reduction.
  template <class Op, packable Type> Type reduce(Op op, Type const& value) {
    detail::cluster_base::call const now(base_);
    return detail::unpacked_result<Type>(base_.reduce(detail::packed_part(value), over<Type>(op)));
  }

  /// Makes a bound that starts at `first`. For use between runs. Throws setup_error at the 65th. Costs a reduction.
  bound make_bound(std::int64_t first) {
    detail::cluster_base::call const now(base_);
    return base_.make_bound(first);
  }
  /// The bound when the last run ended, or the value of a later reset(): the same on all ranks. For use between runs.
  /// Throws std::invalid_argument for another cluster's bound. Costs a load.
  std::int64_t value(bound b) const { return base_.value(b); }
  /// Sets the bound to `first`. For use between runs. Throws std::invalid_argument for another cluster's bound. Costs
  /// a reduction.
  void reset(bound b, std::int64_t first) {
    detail::cluster_base::call const now(base_);
    base_.reset(b, first);
  }

  /// This rank's pool.
  typename Sched::pool& pool() noexcept { return pool_; }
  /// The counters of this rank's endpoint. Waits while a worker receives or packs messages.
  cluster_stats stats() const { return base_.stats(); }

 private:
  template <class Type, class Op> static detail::fold_values over(Op const& op) {
    return [&op](message a, message b) {
      return detail::packed<Type>(op(detail::unpacked<Type>(a), detail::unpacked<Type>(b)));
    };
  }

  template <auto Fn, class... Args> void work(std::unique_ptr<detail::partial> part, Args&&... arguments) {
    pool_.run([&] {
      detail::partial const* const of_root = part.get();
      detail::rank_worker mine(base_.own_endpoint(), std::move(part));
      taking_part const here(*this, of_root);
      try {
        if (rank() == 0) mine.spawn<Fn>(nullptr, std::forward<Args>(arguments)...);
      } catch (...) {
        mine.endpoint_.fail(detail::text_of_current_exception());  // the other ranks are in the run already
      }
      mine.or_lose_tasks([&mine] {
        detail::exceptions_aside const of_the_caller;
        work_until_the_end(mine);
      });
      mine.merge();
    });
  }

  static void work_until_the_end(detail::rank_worker& mine) {
    using outcome = detail::endpoint_interface::idle_outcome;
    detail::idle_pause pause;
    for (;;) {
      outcome const found = mine.endpoint_.idle(mine.tasks, pause.may_request());
      if (found == outcome::ended) return;
      if (found == outcome::work) {
        mine.work_off<Sched>();
        pause.reset();
        continue;
      }
      if (found == outcome::refused) pause.refused();
      pause.wait();
    }
  }

  /// A run of this rank, until the main loop has seen its end or an exception leaves.
  struct taking_part {
    taking_part(cluster& c, detail::partial const* of_root) : whose(c) {
      whose.base_.own_endpoint().begin_run(of_root);
      if (whose.helper_thread_) whose.helper_thread_->begin_run();
    }
    taking_part(taking_part const&) = delete;
    taking_part& operator=(taking_part const&) = delete;
    ~taking_part() {
      if (whose.helper_thread_) whose.helper_thread_->end_run();
      using outcome = detail::endpoint_interface::leave_outcome;
      for (detail::idle_pause pause; whose.base_.own_endpoint().leave_run() == outcome::helpers_work;) pause.wait();
    }
    cluster& whose;
  };

  detail::cluster_base mutable base_;
  typename Sched::pool pool_;
  std::optional<detail::helper_thread> helper_thread_;  // ends before the pool
};

}  // namespace filch::inline FILCH_ABI

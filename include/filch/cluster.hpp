// filch::cluster: work stealing between processes (paper: A. Prell, T. Rauber, Channel-based Work Stealing,
// 2014).
#pragma once

#include <filch/default_scheduler.hpp>
#include <filch/pool_options.hpp>
#include <filch/rank.hpp>

#include <memory>

namespace filch::inline FILCH_ABI {

/// Settings of a rank.
struct cluster_options {
  /// Workers of this rank's pool. 0: FILCH_NUM_THREADS, else as many as the transport says (the processors
  /// that this rank does not share with others), else as pool_options says.
  unsigned workers = 0;
  /// Seconds that a rank may not answer before it is named and all end; 0: for ever.
  unsigned patience = 5;
  /// Seconds that a rank may make its cluster later than the others, before it is named and all end; 0, or where
  /// patience is 0: for ever.
  unsigned arrival = 300;
};

namespace detail {

/// A rank's endpoint and its watchdog.
class FILCH_API cluster_base {
 public:
  cluster_base(std::unique_ptr<any_transport> carrier, cluster_options const& options);
  cluster_base(cluster_base const&) = delete;
  cluster_base& operator=(cluster_base const&) = delete;
  ~cluster_base();

  endpoint& ends() noexcept;
  /// Collective: folds the ranks' values, on the calling thread and under no lock. Throws task_error on all ranks if
  /// fold threw on one.
  message reduce(reduction_part part, fold_values const& fold);
  /// Collective, after a run: throws task_error on all ranks if a task threw on one.
  message finish(reduction_part part, fold_values const& fold);
  bound make_bound(std::int64_t first);
  void reset(bound b, std::int64_t first);

  static pool_options options_of(cluster_options const& options, unsigned workers_of_transport);

 private:
  struct parts;
  std::optional<message> reduce(reduction_part part, fold_values const& fold,
                                std::chrono::steady_clock::time_point until);
  void wait_for_farewell();
  std::unique_ptr<parts> parts_;
};

template <class Type> message packed(Type const& value) {
  packer p;
  packing<Type>::pack(p, value);
  return p.take();
}
/// A value, or the text of what its packing throws: it takes part in the reduction all the same.
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

/// A rank's part of a fold, and what its shares add to it.
template <class Type, class Op> struct fold_of {
  struct part final : partial_of<Type> {
    explicit part(fold_of& whole) noexcept : whole_(whole) {}
    std::unique_ptr<partial> another() const override { return std::make_unique<part>(whole_); }
    void add(Type&& value) override { fold_of::add(seen_, std::move(value), whole_.op); }
    void merge() override {
      // op may fork, and continue on another thread: it is not called under the lock. What others merge meanwhile is
      // found in the next round.
      while (seen_) {
        std::optional<Type> other;
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
    std::optional<Type> seen_;
  };

  static void add(std::optional<Type>& sum, Type&& value, Op const& op) {
    if (!sum) {
      sum.emplace(std::move(value));
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
  std::mutex mutex{};  // never held across a fork
  std::optional<Type> sum{};
};

}  // namespace detail

/// The processes of one program, or threads of a process, that share its tasks: ranks, each with a pool of S. All of
/// them make a cluster and call the same functions of it in the same order; each call returns on all of them, on the
/// thread that made it. One at a time in a process, unless each has a transport of its own. One after the other may
/// use one transport if that has begin_cluster(), as mpi_transport and thread_transport have.
///
///     int main() {
///       filch::mpi_transport mpi;
///       filch::cluster<> ranks(mpi);
///       long const nodes = ranks.fold<count>(std::plus<>(), root);
///       if (ranks.rank() == 0) std::printf("%ld nodes\n", nodes);
///     }
///
/// A rank whose tasks have run out asks another one, at random; who has none to give passes the request on, who has
/// some answers with half of them, the oldest. Idle ranks look for messages and sleep between looks, up to a
/// millisecond.
///
/// A reduction costs a message up and one down a tree of the ranks: 2 log2(ranks), one after the other. A run costs
/// two such ways at its end, and a reduction.
///
/// A rank that does not answer for `patience` seconds, or comes more than `arrival` seconds later than the next one,
/// ends all of them, with a line on stderr that names it. So does a failing transport.
template <scheduler Sched = default_scheduler> class cluster {
 public:
  /// Waits for all ranks to come here, options.arrival seconds at most. The transport must outlive the cluster.
  /// Throws setup_error where an option or an environment variable makes no sense, or the system refuses a thread.
  template <transport Carrier>
  explicit cluster(Carrier& carrier, cluster_options options = {})
      : base_(std::make_unique<detail::transport_of<Carrier>>(carrier), options), pool_([&] {
          unsigned workers = 0;
          if constexpr (requires { carrier.workers(); }) workers = carrier.workers();
          return detail::cluster_base::options_of(options, workers);
        }()) {
    if (ranks() == 1 || pool_.workers() == 1) return;
    helper_thread_.emplace(base_.ends(), pool_.workers(),
                           [this] { return pool_.run([this] { return detail::share::help<Sched>(base_.ends()); }); });
  }
  cluster(cluster const&) = delete;
  cluster& operator=(cluster const&) = delete;
  /// Waits for all ranks to come here, which costs two reductions at least. If an exception brings this one here, and
  /// not the others within `patience`, it ends them.
  ~cluster() = default;

  /// This rank's number, 0 to ranks() - 1.
  int rank() const noexcept { return base_.ends().rank(); }
  /// How many ranks there are, the same on all.
  int ranks() const noexcept { return base_.ends().ranks(); }

  /// Runs Fn(rank&, arguments...) as the first task, with the arguments that rank 0 gives, and all that it spawns.
  /// Returns once all tasks have ended on all ranks. If some threw, throws task_error, on all ranks, with the text of
  /// one.
  template <auto Fn, class... Args> void run(Args&&... arguments) {
    work<Fn>(nullptr, std::forward<Args>(arguments)...);
    base_.finish({}, [](message, message) { return message(); });
  }

  /// As run, and returns op(a, b) of all that tasks returned who have no future: Fn's result, and those of what it
  /// spawned, all of the same type. Tasks that return nothing add nothing. The order is not defined; op is called by
  /// several workers at once, and may fork. What it throws leaves on every rank, as task_error.
  template <auto Fn, class Op, class... Args> auto fold(Op op, Args&&... arguments) {
    using Type = typename detail::spawned<Fn>::Result;
    static_assert(!std::is_void_v<Type>, "a fold is of what tasks return, and this one returns nothing: use run");
    detail::fold_of<Type, Op> whole{op};
    work<Fn>(std::make_unique<typename detail::fold_of<Type, Op>::part>(whole), std::forward<Args>(arguments)...);
    auto const all =
        base_.finish(whole.sum ? detail::packed_part(*whole.sum) : detail::reduction_part(), over<Type>(op));
    return detail::unpacked<Type>(all);
  }

  /// Folds the ranks' values with op, in no particular order. For use between runs. If op throws on one rank, throws
  /// task_error on all, with its text. Costs one reduction.
  template <class Op, packable Type> Type reduce(Op op, Type const& value) {
    return detail::unpacked<Type>(base_.reduce(detail::packed_part(value), over<Type>(op)));
  }

  /// A bound that starts at `first`. For use between runs; 64 at most, then setup_error. Costs a reduction.
  bound make_bound(std::int64_t first) { return base_.make_bound(first); }
  /// For use between runs: what it was when the last one ended, or was put back to since; the same on all ranks. A
  /// load.
  std::int64_t value(bound b) const { return base_.ends().settled_bound(base_.ends().own(b)); }
  /// Puts it back to `first`. For use between runs. Costs a reduction.
  void reset(bound b, std::int64_t first) { base_.reset(b, first); }

  /// This rank's pool.
  typename Sched::pool& pool() noexcept { return pool_; }
  /// What this rank's endpoint counted. Waits while messages are read or packed.
  cluster_stats stats() const { return base_.ends().stats(); }

 private:
  template <class Type, class Op> static detail::fold_values over(Op const& op) {
    return [&op](message a, message b) {
      return detail::packed<Type>(op(detail::unpacked<Type>(a), detail::unpacked<Type>(b)));
    };
  }

  template <auto Fn, class... Args> void work(std::unique_ptr<detail::partial> part, Args&&... arguments) {
    pool_.run([&] {
      detail::partial const* const of_root = part.get();
      detail::share mine(base_.ends(), std::move(part));
      taking_part const here(*this, of_root);
      try {
        if (rank() == 0) mine.spawn<Fn>(nullptr, std::forward<Args>(arguments)...);
      } catch (...) {
        mine.ends.fail(detail::text_of_current_exception());  // the others know nothing of it
      }
      mine.or_lose_tasks([&mine] {
        detail::exceptions_aside const of_the_caller;
        work_until_the_end(mine);
      });
      mine.merge();
    });
  }

  static void work_until_the_end(detail::share& mine) {
    using outcome = detail::endpoint::outcome;
    detail::idle_pause pause;
    for (;;) {
      outcome const found = mine.ends.idle(mine.tasks, pause.may_ask());
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

  /// In a run, from its begin here until the main loop has seen its end, or an exception leaves.
  struct taking_part {
    taking_part(cluster& c, detail::partial const* of_root) : whose(c) {
      whose.base_.ends().begin_run(of_root);
      if (whose.helper_thread_) whose.helper_thread_->begin_run();
    }
    taking_part(taking_part const&) = delete;
    taking_part& operator=(taking_part const&) = delete;
    ~taking_part() {
      if (whose.helper_thread_) whose.helper_thread_->end_run();
      for (detail::idle_pause pause; !whose.base_.ends().leave_run();) pause.wait();
    }
    cluster& whose;
  };

  detail::cluster_base mutable base_;
  typename Sched::pool pool_;
  std::optional<detail::helper_thread> helper_thread_;  // ends before the pool
};

}  // namespace filch::inline FILCH_ABI

// oneTBB as a scheduler: parallel_invoke for a join, parallel_for for a loop, parallel_reduce,
// parallel_scan, parallel_sort, task_group for a frame, task_arena for
// a pool.
#pragma once

#include <filch/pool_options.hpp>
#include <filch/scheduler.hpp>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/parallel_invoke.h>
#include <oneapi/tbb/parallel_reduce.h>
#include <oneapi/tbb/parallel_scan.h>
#include <oneapi/tbb/parallel_sort.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

#include <functional>
#include <optional>
#include <thread>

namespace bench {

struct onetbb {
  static constexpr std::string_view name = "onetbb";
  static constexpr bool k_forks_anywhere = true;  // each thread that calls has an arena of its own

  template <class F, class G>
  static std::pair<filch::detail::result_of<F>, filch::detail::result_of<G>> join(F&& f, G&& g) {
    std::optional<filch::detail::result_of<F>> a;
    std::optional<filch::detail::result_of<G>> b;
    tbb::parallel_invoke([&] { a.emplace(filch::detail::call(f)); }, [&] { b.emplace(filch::detail::call(g)); });
    return {std::move(*a), std::move(*b)};
  }

  template <class F> static void for_index(std::size_t first, std::size_t last, F const& f) {
    tbb::parallel_for(first, last, f);
  }

  template <class Iterator> static void sort(Iterator first, Iterator last) { tbb::parallel_sort(first, last); }

  static constexpr bool k_has_own_loops = true;
  using range = tbb::blocked_range<std::size_t>;

  /// step(value, i) for each i below n, and join(value, other) for the values of parts.
  template <class T, class Step, class Join>
  static T reduce(std::size_t n, T const& identity, Step const& step, Join const& join) {
    struct body {
      T const& identity;
      Step const& step;
      Join const& join_with;
      T value;
      body(T const& i, Step const& s, Join const& j) : identity(i), step(s), join_with(j), value(i) {}
      body(body& other, tbb::split) : body(other.identity, other.step, other.join_with) {}
      void operator()(range const& r) {
        T own = std::move(value);
        for (std::size_t i = r.begin(); i != r.end(); ++i) step(own, i);
        value = std::move(own);
      }
      void join(body& other) { join_with(value, other.value); }
    } all(identity, step, join);
    tbb::parallel_reduce(range(0, n), all);
    return std::move(all.value);
  }
  /// write(i, before) for each i below n, where before is `zero` and value_of(k) for all k below i. Returns the sum.
  template <class T, class ValueOf, class Write>
  static T sums(std::size_t n, T zero, ValueOf const& value_of, Write const& write) {
    return tbb::parallel_scan(
        range(0, n), zero,
        [&](range const& r, T sum, bool is_final) {
          for (std::size_t i = r.begin(); i != r.end(); ++i) {
            T const value = value_of(i);
            if (is_final) write(i, sum);
            sum += value;
          }
          return sum;
        },
        std::plus<T>());
  }

  class frame {
   public:
    template <class F> void spawn(F&& f) { group_.run(std::forward<F>(f)); }
    void sync() { group_.wait(); }

   private:
    tbb::task_group group_;
  };

  class pool {
   public:
    explicit pool(filch::pool_options o) : workers_(static_cast<int>(o.workers)), arena_(workers_) {
      // Only upwards: the least of all such limits holds for the whole process.
      if (o.workers > std::thread::hardware_concurrency()) {
        more_threads_.emplace(tbb::global_control::max_allowed_parallelism, o.workers);
      }
    }
    template <class F> decltype(auto) run(F&& f) { return arena_.execute(std::forward<F>(f)); }
    /// In an arena of the calling thread. It has one already, with as many workers as the process has processors.
    template <class F> decltype(auto) run_in_callers_arena(F&& f) {
      if (workers_ == tbb::this_task_arena::max_concurrency()) return f();
      thread_local tbb::task_arena own(workers_);
      if (own.max_concurrency() != workers_) {  // another pool's
        own.terminate();
        own.initialize(workers_);
      }
      return own.execute(std::forward<F>(f));
    }

   private:
    int workers_;
    std::optional<tbb::global_control> more_threads_;
    tbb::task_arena arena_;
  };

  static bool wanted() noexcept { return false; }
  static bool inside() noexcept { return true; }
  static unsigned worker_index() noexcept {
    return static_cast<unsigned>(tbb::this_task_arena::current_thread_index());
  }
  static void attach(filch::detail::task_source&) noexcept {}
  /// body(group), and a wait for its tasks.
  template <class Body> static void in_group(Body const& body) {
    tbb::task_group group;
    body(group);
    group.wait();
  }
  static pool& default_pool() {
    static pool p({});
    return p;
  }
};

static_assert(filch::scheduler<onetbb>);

}  // namespace bench

// OpenMP tasks as a scheduler: a task and taskwait for a join, taskloop for a loop. Exceptions don't pass a task's
// end in OpenMP; no workload throws.
#pragma once

#include "../algorithm.hpp"
#include "openmp_name.hpp"

#include <filch/pool_options.hpp>
#include <filch/scheduler.hpp>

#include <omp.h>

#include <optional>
#if defined(__GLIBCXX__)
#include <parallel/algorithm>
#endif

namespace bench {

struct openmp {
  static constexpr std::string_view name = k_openmp;

  template <class F, class G>
  static std::pair<filch::detail::result_of<F>, filch::detail::result_of<G>> join(F&& f, G&& g) {
    std::optional<filch::detail::result_of<F>> a;
    std::optional<filch::detail::result_of<G>> b;
#pragma omp task shared(a, f)
    a.emplace(filch::detail::call(f));
    b.emplace(filch::detail::call(g));
#pragma omp taskwait
    return {std::move(*a), std::move(*b)};
  }

  template <class F> static void for_index(std::size_t first, std::size_t last, F const& f) {
    if (omp_in_parallel()) {
#pragma omp taskloop shared(f)
      for (std::size_t i = first; i < last; ++i) f(i);
    } else {
#pragma omp parallel for shared(f)
      for (std::size_t i = first; i < last; ++i) f(i);
    }
  }

#if defined(__GLIBCXX__)
  /// That of libstdc++'s parallel mode.
  template <class Iterator> static void sort(Iterator first, Iterator last) { __gnu_parallel::sort(first, last); }
#endif

  static constexpr bool k_has_own_loops = true;
  static void use_threads(unsigned n) { omp_set_num_threads(static_cast<int>(n)); }
  static void use_schedule(loop_schedule const& s) {
    constexpr omp_sched_t k_kinds[] = {omp_sched_static, omp_sched_dynamic, omp_sched_guided};
    omp_set_schedule(k_kinds[s.kind], s.chunk);
  }
  template <class F> static void for_index_as_scheduled(std::size_t first, std::size_t last, F const& f) {
#pragma omp parallel for schedule(runtime) shared(f)
    for (std::size_t i = first; i < last; ++i) f(i);
  }
  /// step(value, i) for each i below n, and join(value, other) for the values of threads, in any order.
  template <class T, class Step, class Join>
  static T reduce(std::size_t n, T const& identity, Step const& step, Join const& join) {
    T all = identity;
#pragma omp parallel shared(all, identity, step, join)
    {
      T own = identity;
#pragma omp for nowait
      for (std::size_t i = 0; i < n; ++i) step(own, i);
#pragma omp critical
      join(all, own);
    }
    return all;
  }
  /// write(i, before) for each i below n, where before is `zero` and value_of(k) for all k below i. Returns the sum.
  template <class T, class ValueOf, class Write>
  static T sums(std::size_t n, T zero, ValueOf const& value_of, Write const& write) {
    T sum = zero;
    if (n == 0) return sum;  // GCC 12's scan would write to no memory
#pragma omp parallel for reduction(inscan, + : sum)
    for (std::size_t i = 0; i < n; ++i) {
      write(i, sum);
#pragma omp scan exclusive(sum)
      sum += value_of(i);
    }
    return sum;
  }

  class frame {
   public:
    template <class F> void spawn(F&& f) {
      auto own = std::forward<F>(f);
#pragma omp task firstprivate(own)
      own();
    }
    void sync() {
#pragma omp taskwait
    }
  };

  class pool {
   public:
    explicit pool(filch::pool_options o) : workers_(static_cast<int>(o.workers)) {}
    template <class F> std::invoke_result_t<F> run(F&& f) {
      using R = std::invoke_result_t<F>;
      std::optional<filch::detail::result_of<F>> result;
      omp_set_num_threads(workers_);  // of the loops that a team of one opens inside, too
#pragma omp parallel num_threads(workers_) shared(result, f)
#pragma omp single
      result.emplace(filch::detail::call(f));
      if constexpr (!std::is_void_v<R>) return std::move(*result);
    }

   private:
    int workers_;
  };

  static bool wanted() noexcept { return false; }
  static bool inside() noexcept { return omp_in_parallel() != 0; }
  static unsigned worker_index() noexcept { return static_cast<unsigned>(omp_get_thread_num()); }
  static void attach(filch::detail::task_source&) noexcept {}
  struct group {
    template <class F> void run(F f) {
#pragma omp task firstprivate(f)
      f();
    }
  };
  /// body(group), and a wait for its tasks.
  template <class Body> static void in_group(Body const& body) {
#pragma omp taskgroup
    {
      group g;
      body(g);
    }
  }
  static pool& default_pool() {
    static pool p([] {
      filch::pool_options o;
      o.workers = static_cast<unsigned>(omp_get_max_threads());
      return o;
    }());
    return p;
  }
};

static_assert(filch::scheduler<openmp>);

}  // namespace bench

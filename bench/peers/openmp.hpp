// OpenMP tasks as a scheduler: a task and taskwait for a join, taskloop for a loop. Exceptions don't pass a task's
// end in OpenMP; no workload throws.
#pragma once

#include <filch/pool_options.hpp>
#include <filch/scheduler.hpp>

#include <omp.h>

#include <optional>

namespace bench {

struct openmp {
#if defined(__clang__)
  static constexpr std::string_view name = "openmp-llvm";
#else
  static constexpr std::string_view name = "openmp-gcc";
#endif

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

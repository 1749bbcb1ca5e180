// The workloads of filch-bench have no race, and give the right answers under the check. The report says otherwise by
// its lines and by the exit status. With the argument `times` and the name and size of a workload it prints the
// processor's time of a run. Compiled without the check it times the sequential program.
#include <workloads.hpp>

#include <filch/filch.hpp>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <string>
#include <string_view>
#include <type_traits>

namespace {

struct asked {
  std::string_view name;
  std::string_view size;
};

// Without integrate, which would take a minute and forks as fib does, and server, whose threads are its own.
constexpr asked k_small[] = {{"fib", "18"},
                             {"nqueens", "7"},
                             {"nqueens-array", "6"},
                             {"uts", "T1"},
                             {"cilksort", "20000"},
                             {"matmul", "32"},
                             {"strassen", "128"},
                             {"stress", "16:4"},
                             {"skynet", "1000"},
                             {"treesum", "1000"},
                             {"knapsack", "12"},
                             {"quicksort", "20000"},
                             {"sparselu", "256"},
                             {"spc", "200:10:poll"},
                             {"bpc", "50:10:poll"},
                             {"treerec", "8:10"},
                             {"rounds", "64:1"},
                             {"rounds", "64:1:joins"},
                             {"rows", "20:together"},
                             {"rows", "20:spread"},
                             {"saxpy", "1000"},
                             {"branchbound", "8"},
                             {"jacobi", "40:3"},
                             {"jacobi", "100:3:500"},
                             {"lu", "64"},
                             {"heat", "50:20:4"},
                             {"cholesky", "50:200:3"},
                             {"fft", "4096"},
                             {"rectmul", "48:80:112"},
                             {"mm", "20:4"},
                             {"ssf", "8:4"}};

using scheduler = filch::default_scheduler;

/// Calls visit.operator()<W>() for the workload of that name, if it runs in a pool's task.
template <class Visit> bool with_workload(std::string_view name, Visit visit) {
  bool is_known = false;
  bench::all_workloads::for_each([&]<class W>() {
    if constexpr (!bench::called_from_outside<W>) {
      if (W::name != name) return;
      is_known = true;
      visit.template operator()<W>();
    }
  });
  return is_known;
}

/// The smallest sizes of some would take minutes.
template <class W> void make_small(bench::job_of<W>& job) {
  if constexpr (std::is_same_v<W, bench::uts>) {
    static bench::uts::tree small = {"small", bench::uts::shape::geometric_fixed, 4, 19, 5, 0, 0, 0};
    job.input = &small;
    small.nodes = W::plain(job.input);
  } else if constexpr (std::is_same_v<W, bench::saxpy>) {
    job.input.passes = 2;
  }
}

template <class W> void run(bench::job_of<W>& job) {
  job.reset();
#if defined(FILCH_RACES)
  scheduler::default_pool().run([&job] { job.answer = W::template run<scheduler>(job.input); });
#else
  job.answer = W::plain(job.input);
#endif
}

int expect_right(asked const& w) {
  bool is_right = false;
  bool const is_known = with_workload(w.name, [&]<class W>() {
    bench::job_of<W> job(w.size);
    make_small(job);
    run(job);
    is_right = job.verify();
  });
  if (is_known && is_right) return 0;
  std::printf("FAILED: %s\n", std::string(w.name).c_str());
  return 1;
}

int print_time(asked const& w) {
  bool const is_known = with_workload(w.name, [&]<class W>() {
    bench::job_of<W> job(w.size);
    double least = 1e9;
    for (int i = 0; i < 3; ++i) {
      std::clock_t const begin = std::clock();
      run(job);
      least = std::min(least, static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
    }
    std::printf("%.6f\n", least);
  });
  return is_known ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  if (count == 4 && std::string_view(arguments[1]) == "times") return print_time({arguments[2], arguments[3]});
  int failures = 0;
  for (asked const& w : k_small) failures += expect_right(w);
  std::printf("%d failures\n", failures);
  return failures == 0 ? 0 : 1;
}

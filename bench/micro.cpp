#include "micro.hpp"

#include "contender.hpp"
#include "statistics.hpp"

#include <filch/direct.hpp>

#include <fmt/format.h>
#include <atomic>
#include <chrono>
#include <ctime>
#include <functional>
#include <nlohmann/json.hpp>
#include <thread>

namespace bench {
namespace {

using clock = std::chrono::steady_clock;

double since(clock::time_point begin) { return std::chrono::duration<double>(clock::now() - begin).count(); }

filch::pool_options with_workers(unsigned n) {
  filch::pool_options o;
  o.workers = n;
  return o;
}

/// Iterations of a loop that touches no memory which take 10 ms here.
long iterations_of_10_ms() {
  constexpr long k_sample = 10'000'000;
  double best = 1;
  for (int i = 0; i < 5; ++i) {
    auto const begin = clock::now();
    static_cast<void>(stress::leaf(opaque(k_sample)));
    best = std::min(best, since(begin));
  }
  return static_cast<long>(k_sample * 0.010 / best);
}

struct flat_result {
  int runs;
  int good;
  double median_ratio;
  int good_of_two_threads;
};

/// A thread that runs a function at each call of start(), as a yardstick for what this machine gives two threads.
class second_thread {
 public:
  explicit second_thread(std::function<void()> f) : thread_([this, f = std::move(f)] { work(f); }) {}
  ~second_thread() {
    asked_.store(k_end);
    asked_.notify_one();
    thread_.join();
  }
  void start() {
    ++asked_;
    asked_.notify_one();
  }
  void wait() {
    for (int d = done_.load(); d != asked_.load(); d = done_.load()) done_.wait(d);
  }

 private:
  static constexpr int k_end = -1;
  void work(std::function<void()> const& f) {
    for (int seen = 0;; ++seen) {
      asked_.wait(seen);
      if (asked_.load() == k_end) return;
      f();
      ++done_;
      done_.notify_one();
    }
  }
  std::atomic<int> asked_{0};
  std::atomic<int> done_{0};
  std::thread thread_;
};

// join of two functions that fork nothing, on a pool of two that was idle: share of runs at most 0.6 of serial.
flat_result flat() {
  constexpr int k_runs = 100;
  constexpr double k_good = 0.6;
  filch::direct::pool pool(with_workers(2));
  long const iterations = iterations_of_10_ms();
  auto const busy = [iterations] { static_cast<void>(stress::leaf(iterations)); };
  second_thread second(busy);
  std::vector<double> ratios;
  int good_of_two_threads = 0;
  for (int i = 0; i < k_runs; ++i) {
    auto begin = clock::now();
    busy();
    busy();
    double const serial = since(begin);
    begin = clock::now();
    pool.run([&busy] { filch::direct::join(busy, busy); });
    ratios.push_back(since(begin) / serial);
    begin = clock::now();
    second.start();
    busy();
    second.wait();
    good_of_two_threads += since(begin) <= k_good * serial;
  }
  auto const good = std::count_if(ratios.begin(), ratios.end(), [](double r) { return r <= k_good; });
  return {k_runs, static_cast<int>(good), median(ratios), good_of_two_threads};
}

// pool.run of an empty function from outside, warm: median of batches, nanoseconds.
double enter() {
  filch::direct::pool pool(with_workers(2));
  std::vector<double> batches;
  for (int i = 0; i < 101; ++i) {
    constexpr int k_batch = 1000;
    auto const begin = clock::now();
    for (int k = 0; k < k_batch; ++k) pool.run([] {});
    batches.push_back(since(begin) / k_batch * 1e9);
  }
  return median(batches);
}

double processor_time() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

// Processor time of an idle pool of 16 workers, percent of one processor.
double idle() {
  filch::direct::pool pool(with_workers(16));
  pool.run([] { stress::tree<filch::direct>(16, 100); });
  std::this_thread::sleep_for(std::chrono::milliseconds(100));  // what is measured is the rest after work
  double const before = processor_time();
  auto const begin = clock::now();
  std::this_thread::sleep_for(std::chrono::seconds(2));
  return 100 * (processor_time() - before) / since(begin);
}

}  // namespace

void run_micro(bool as_json) {
  flat_result const f = flat();
  double const enter_ns = enter();
  double const idle_percent = idle();
  if (as_json) {
    nlohmann::ordered_json j;
    j["flat_runs"] = f.runs;
    j["flat_at_most_0.6"] = f.good;
    j["flat_median_ratio"] = f.median_ratio;
    j["flat_of_two_threads_at_most_0.6"] = f.good_of_two_threads;
    j["enter_ns"] = enter_ns;
    j["idle_percent"] = idle_percent;
    fmt::print("{}\n", j.dump(2));
    return;
  }
  fmt::print(
      "flat   join of two 10 ms functions, idle pool of two: {} of {} runs at most 0.6 of serial, median {:.3f};\n"
      "       the same in two threads of their own, in turn with it: {} of {}\n",
      f.good, f.runs, f.median_ratio, f.good_of_two_threads, f.runs);
  fmt::print("enter  pool.run of an empty function, warm: {:.1f} ns\n", enter_ns);
  fmt::print("idle   16 workers after work: {:.4f}% of one processor\n", idle_percent);
}

}  // namespace bench

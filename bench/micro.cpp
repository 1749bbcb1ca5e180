// filch-bench --micro: the figures of micro.hpp. main.cpp calls it.
#include "micro.hpp"

#include "statistics.hpp"
#include "workloads/stress.hpp"

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
flat_result flat(contender const& c) {
  constexpr int k_runs = 100;
  constexpr double k_good = 0.6;
  auto const pool = c.make(with_workers(2));
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
    pool->join(busy, busy);
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

struct greedy_result {
  int runs;
  int good;
  double median_seconds;
};

// join(join(200 ms, 200 ms), 5 ms) on two workers, where nothing inside forks: runs of at most 220 ms.
greedy_result greedy(contender const& c) {
  constexpr int k_runs = 20;
  constexpr double k_good = 0.22;
  auto const pool = c.make(with_workers(2));
  auto const busy_for = [](double seconds) {
    for (auto const begin = clock::now(); since(begin) < seconds;) {
    }
  };
  std::vector<double> seconds;
  for (int i = 0; i < k_runs; ++i) {
    auto const begin = clock::now();
    pool->join([&] { pool->join([&] { busy_for(0.2); }, [&] { busy_for(0.2); }); }, [&] { busy_for(0.005); });
    seconds.push_back(since(begin));
  }
  auto const good = std::count_if(seconds.begin(), seconds.end(), [](double s) { return s <= k_good; });
  return {k_runs, static_cast<int>(good), median(seconds)};
}

// pool.run of an empty function from outside, warm: median of batches, nanoseconds.
double enter(contender const& c) {
  auto const pool = c.make(with_workers(2));
  std::vector<double> batches;
  for (int i = 0; i < 101; ++i) {
    constexpr int k_batch = 1000;
    auto const begin = clock::now();
    for (int k = 0; k < k_batch; ++k) pool->enter([] {});
    batches.push_back(since(begin) / k_batch * 1e9);
  }
  return median(batches);
}

// The same of a quiet pool: before each call its workers fall asleep, and the caller calculates. Median, nanoseconds.
constexpr double k_most_enter_ns = 1000;
double enter_quiet(contender const& c) {
  auto const pool = c.make(with_workers(2));
  std::vector<double> calls;
  for (int i = 0; i < 301; ++i) {
    for (auto const begin = clock::now(); since(begin) < 0.001;) {
    }
    auto const begin = clock::now();
    pool->enter([] {});
    calls.push_back(since(begin) * 1e9);
  }
  return median(calls);
}

double processor_time() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

// Processor time of an idle pool of 16 workers, percent of one processor.
double idle(contender const& c) {
  auto const pool = c.make(with_workers(16));
  for (int i = 0; i < 100; ++i) pool->nest(8, [] {}, [] {}, [] { static_cast<void>(stress::leaf(opaque(1000L))); });
  std::this_thread::sleep_for(std::chrono::milliseconds(100));  // the measured rest comes after work
  double const before = processor_time();
  auto const begin = clock::now();
  std::this_thread::sleep_for(std::chrono::seconds(2));
  return 100 * (processor_time() - before) / since(begin);
}

}  // namespace

void run_micro(std::vector<contender> const& contenders, bool as_json) {
  nlohmann::ordered_json all;
  for (contender const& c : contenders) {
    flat_result const f = flat(c);
    greedy_result const g = greedy(c);
    double const enter_ns = enter(c);
    double const enter_quiet_ns = enter_quiet(c);
    double const idle_percent = idle(c);
    if (as_json) {
      auto& j = all[std::string(c.name)];
      j["flat_runs"] = f.runs;
      j["flat_at_most_0.6"] = f.good;
      j["flat_median_ratio"] = f.median_ratio;
      j["flat_of_two_threads_at_most_0.6"] = f.good_of_two_threads;
      j["greedy_runs"] = g.runs;
      j["greedy_at_most_0.22_seconds"] = g.good;
      j["greedy_median_seconds"] = g.median_seconds;
      j["enter_ns"] = enter_ns;
      j["enter_quiet_ns"] = enter_quiet_ns;
      j["idle_percent"] = idle_percent;
      continue;
    }
    fmt::print(
        "{}\n"
        "  flat    join of two 10 ms functions, idle pool of two: {} of {} runs at most 0.6 of serial, median "
        "{:.3f};\n"
        "          the same in two threads of their own, in turn with it: {} of {}\n",
        c.name, f.good, f.runs, f.median_ratio, f.good_of_two_threads, f.runs);
    fmt::print(
        "  greedy  join(join(200 ms, 200 ms), 5 ms), two workers: {} of {} runs at most 0.22 s, median {:.4f} s\n",
        g.good, g.runs, g.median_seconds);
    fmt::print(
        "  enter   pool.run of an empty function, warm: {:.1f} ns; of a quiet pool, once a millisecond: {:.0f} ns, "
        "limit {:.0f}\n",
        enter_ns, enter_quiet_ns, k_most_enter_ns);
    fmt::print("  idle    16 workers after work: {:.4f}% of one processor\n", idle_percent);
    std::fflush(stdout);
  }
  if (as_json) fmt::print("{}\n", all.dump(2));
}

}  // namespace bench

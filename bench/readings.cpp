// Timing of algorithms' calls.
#include "readings.hpp"

#include "measure.hpp"
#include "statistics.hpp"

#include <fmt/format.h>
#include <barrier>
#include <ctime>
#include <thread>

namespace bench {
namespace {

using clock = std::chrono::steady_clock;

constexpr double k_reading_seconds = 0.005;
constexpr std::size_t k_most_calls = 1000;

double since(clock::time_point begin) { return std::chrono::duration<double>(clock::now() - begin).count(); }

void calculate_for(std::chrono::microseconds t) {
  for (auto const begin = clock::now(); clock::now() - begin < t;) {
  }
}

double processor_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

double median_call(algorithm_job& j, algorithm_call call, call_series const& series) {
  std::vector<double> times;
  times.reserve(series.calls);
  for (std::size_t i = 0; i < series.calls; ++i) {
    j.restore();
    if (series.pause.count() > 0) calculate_for(series.pause);
    auto const begin = clock::now();
    call(j);
    times.push_back(since(begin));
  }
  return median(std::move(times));
}

void check(std::string_view who, algorithm_job const& j, std::size_t calls) {
  if (!j.verify(calls)) throw wrong_answer(fmt::format("{}: wrong answer", who));
}

}  // namespace

void wait_for_quiet() {
  constexpr double k_quiet = 0.1;  // processors in use
  constexpr int k_most_tries = 200;
  for (int i = 0; i < k_most_tries; ++i) {
    double const before = processor_seconds();
    auto const begin = clock::now();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (processor_seconds() - before < k_quiet * since(begin)) return;
  }
}

double time_calls(std::string_view who, algorithm_job& j, algorithm_call call, call_series const& series,
                  algorithm_pool* pool) {
  j.reset();
  wait_for_quiet();
  double seconds = 0;
  auto const measure = [&] { seconds = median_call(j, call, series); };
  if (pool) {
    pool->call_from(measure);
  } else {
    measure();
  }
  check(who, j, series.calls);
  return seconds;
}

algorithm_copies::algorithm_copies(algorithm const& a, std::size_t n, unsigned most_copies) : algorithm_(a) {
  for (unsigned i = 0; i < most_copies; ++i) jobs_.push_back(a.make(n));
}

double algorithm_copies::time_side_by_side(unsigned copies, std::size_t calls) {
  wait_for_quiet();
  std::barrier together(static_cast<std::ptrdiff_t>(copies));
  std::vector<std::thread> threads;
  std::vector<double> seconds(copies);
  for (unsigned i = 0; i < copies; ++i) {
    threads.emplace_back([&, i] {
      algorithm_job& j = *jobs_[i];
      j.reset();
      j.restore();
      together.arrive_and_wait();
      seconds[i] = median_call(j, algorithm_.plain, {calls});
    });
  }
  for (auto& thread : threads) thread.join();
  for (unsigned i = 0; i < copies; ++i) check("the plain loop side by side", *jobs_[i], calls);
  return *std::max_element(seconds.begin(), seconds.end()) / copies;
}

std::size_t calls_of_reading(algorithm const& a, algorithm_job& j) {
  double const once = time_calls("the plain loop", j, a.plain, {3});
  auto const calls = static_cast<std::size_t>(std::min(k_reading_seconds / std::max(once, 1e-9), 1e9));
  return std::clamp<std::size_t>(calls, 1, k_most_calls);
}

}  // namespace bench

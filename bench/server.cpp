// filch-bench --server: makes arrivals, runs the callers, and prints latencies (server.hpp). main.cpp calls it.
#include "server.hpp"

#include "limits.hpp"
#include "measure.hpp"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <atomic>
#include <barrier>
#include <cstdio>
#include <ctime>
#include <latch>
#include <mutex>
#include <random>
#include <thread>

namespace bench {
namespace {

using clock = std::chrono::steady_clock;  // CLOCK_MONOTONIC
using std::chrono::duration_cast;
using std::chrono::nanoseconds;

constexpr unsigned k_leaves = 10;
constexpr unsigned k_long_leaves = 100;
constexpr double k_long_microseconds = 100'000;
constexpr unsigned k_long_callers = 2;

// The bounds that a scheduler of Filch is held to.
constexpr double k_most_to_base = 1.5;
constexpr double k_most_p50_beside_long = 100e-6;  // where the work of a call is less
constexpr double k_least_calls_to_base = 1;

double seconds_between(clock::time_point begin, clock::time_point end) {
  return std::chrono::duration<double>(end - begin).count();
}

/// Sleeps; a spinning caller would take a processor from the pool.
void sleep_until(clock::time_point t) {
  auto const ns = duration_cast<nanoseconds>(t.time_since_epoch()).count();
  timespec const at{static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, nullptr) != 0) {
  }
}

/// The results of one run.
struct server_run {
  std::vector<double> latencies;  // seconds
  std::size_t calls = 0;
  std::size_t late = 0;
  double seconds = 0;  // until the last answer
  bool is_right = true;

  /// Another caller's.
  void add(server_run const& caller) {
    seconds = std::max(seconds, caller.seconds);
    latencies.insert(latencies.end(), caller.latencies.begin(), caller.latencies.end());
    calls += caller.calls;
    late += caller.late;
    is_right = is_right && caller.is_right;
  }
  /// Nearest rank. Sorts up to there.
  double percentile(double part) {
    auto const rank = static_cast<std::ptrdiff_t>(std::ceil(part * static_cast<double>(latencies.size()))) - 1;
    auto const at = latencies.begin() + std::max<std::ptrdiff_t>(rank, 0);
    std::nth_element(latencies.begin(), at, latencies.end());
    return *at;
  }
};

/// The threads of one run.
class crowd {
 public:
  crowd(server_scene const& scene, running_pool& pool, unsigned seed)
      : scene_(scene),
        pool_(pool),
        seed_(seed),
        call_(k_leaves, scene.call_microseconds / k_leaves),
        long_call_(k_long_leaves, k_long_microseconds / k_long_leaves),
        together_(static_cast<std::ptrdiff_t>(scene.callers + scene.long_callers), set_begin{*this}),
        all_answered_(static_cast<std::ptrdiff_t>(scene.callers)) {}

  server_run run() {
    std::vector<std::thread> callers;
    std::vector<std::thread> long_callers;
    for (unsigned i = 0; i < scene_.callers; ++i) callers.emplace_back([this, i] { call(i); });
    for (unsigned i = 0; i < scene_.long_callers; ++i) long_callers.emplace_back([this] { call_long(); });
    for (auto& t : callers) t.join();
    is_over_.store(true, std::memory_order_relaxed);  // a flag alone
    for (auto& t : long_callers) t.join();
    return std::move(all_);
  }

 private:
  struct set_begin {
    crowd& c;
    void operator()() noexcept { c.begin_ = clock::now() + k_head_start; }
  };
  static constexpr auto k_head_start = std::chrono::milliseconds(2);  // long calls have begun
  static constexpr int k_warm_calls = 3;

  clock::time_point end() const {
    return begin_ + duration_cast<nanoseconds>(std::chrono::duration<double>(scene_.seconds));
  }

  void call(unsigned index) {
    prctl(PR_SET_TIMERSLACK, 1UL);  // nanosecond, else 50,000
    server_run mine;
    mine.latencies.reserve(1 << 16);
    for (int i = 0; i < k_warm_calls; ++i) serve(call_, mine);
    together_.arrive_and_wait();
    if (scene_.is_open()) {
      call_at_arrivals(index, mine);
    } else {
      call_again_and_again(mine);
    }
    mine.seconds = seconds_between(begin_, clock::now());
    add(mine);
    all_answered_.arrive_and_wait();  // a server's threads do not end
  }
  void call_at_arrivals(unsigned index, server_run& mine) {
    double const calls_per_second = scene_.load * scene_.workers / (scene_.call_microseconds * 1e-6);
    std::mt19937_64 random(seed_ * 1000 + index);
    std::exponential_distribution<double> interval(calls_per_second / scene_.callers);
    for (double at = interval(random); at < scene_.seconds; at += interval(random)) {
      auto const arrival = begin_ + duration_cast<nanoseconds>(std::chrono::duration<double>(at));
      if (clock::now() < arrival) sleep_until(arrival);
      if (clock::now() < end()) {
        serve(call_, mine);
        ++mine.calls;
      } else {
        ++mine.late;  // waited for so long at least
      }
      mine.latencies.push_back(seconds_between(arrival, clock::now()));
    }
  }
  void call_again_and_again(server_run& mine) {
    sleep_until(begin_);
    for (auto before = clock::now(); before < end();) {
      serve(call_, mine);
      ++mine.calls;
      auto const after = clock::now();
      mine.latencies.push_back(seconds_between(before, after));
      before = after;
    }
  }
  void call_long() {
    server_run mine;
    together_.arrive_and_wait();
    while (!is_over_.load(std::memory_order_relaxed)) serve(long_call_, mine);
    add(mine);
  }
  void serve(server_call const& c, server_run& mine) {
    if (pool_.serve(c) != c.answer()) mine.is_right = false;
  }
  void add(server_run const& mine) {
    std::lock_guard const lock(m_);
    all_.add(mine);
  }

  // fixed after construction
  server_scene const& scene_;
  running_pool& pool_;
  unsigned seed_;
  server_call call_;
  server_call long_call_;

  std::barrier<set_begin> together_;
  std::latch all_answered_;
  clock::time_point begin_;  // set when all are together
  std::atomic<bool> is_over_{false};
  std::mutex m_;
  server_run all_;  // under m_
};

/// A contender and the results of its runs.
struct entrant {
  contender const* who;
  std::unique_ptr<running_pool> pool;
  std::vector<double> p50;
  std::vector<double> p99;
  std::vector<double> calls_per_second;
  std::vector<double> late;

  void run(server_scene const& scene, unsigned seed) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));  // threads of the one before go to sleep
    server_run r = crowd(scene, *pool, seed).run();
    if (!r.is_right) throw wrong_answer(fmt::format("a call on {}: wrong answer", who->name));
    if (r.latencies.empty()) r.latencies.push_back(0);
    p50.push_back(r.percentile(0.5));
    p99.push_back(r.percentile(0.99));
    calls_per_second.push_back(static_cast<double>(r.calls) / r.seconds);
    late.push_back(static_cast<double>(r.late) / static_cast<double>(r.latencies.size()));
  }
};

bool has_limit_of_p50(server_row const& r) {
  return r.scene.long_callers > 0 && r.scene.call_microseconds * 1e-6 < k_most_p50_beside_long;
}

/// A scene without arrivals is for its throughput alone.
kept_limits limits_of(server_row const& r) {
  kept_limits limits;
  if (!r.is_held_to_limits || !r.p50_to_base) return limits;
  if (r.scene.is_open()) {
    limits.at_most(*r.p50_to_base, k_most_to_base, fmt::format("p50 > {} times", k_most_to_base));
    limits.at_most(*r.p99_to_base, k_most_to_base, fmt::format("p99 > {} times", k_most_to_base));
    if (has_limit_of_p50(r))
      limits.at_most(r.p50, k_most_p50_beside_long, fmt::format("p50 > {:.0f} us", k_most_p50_beside_long * 1e6));
  } else {
    limits.at_least(*r.calls_to_base, k_least_calls_to_base,
                    fmt::format("calls/s < {} times", k_least_calls_to_base));
  }
  return limits;
}

std::string ratio(std::optional<interval> const& r) { return r ? fmt::format("{:.2f}", r->median) : ""; }

}  // namespace

std::vector<server_scene> server_scenes(unsigned workers, bool quick) {
  constexpr double k_load = 0.3;
  constexpr double k_load_beside_long = 0.1;
  double const seconds = quick ? 0.05 : 0.25;
  std::vector<server_scene> scenes;
  for (unsigned long_callers : {0u, k_long_callers}) {
    for (double us : {20.0, 200.0}) {
      for (unsigned callers : {2u, 8u}) {
        scenes.push_back({us, callers, long_callers, workers, long_callers ? k_load_beside_long : k_load, seconds});
      }
    }
  }
  for (double us : {20.0, 200.0}) scenes.push_back({us, 64, 0, workers, 0, seconds});
  return scenes;
}

std::vector<server_row> measure_server(server_scene const& scene, std::vector<contender const*> const& all,
                                       contender const* base, unsigned turns) {
  std::vector<entrant> entrants;
  for (contender const* const c : all) entrants.push_back({c, c->make({.workers = scene.workers}), {}, {}, {}, {}});
  for (unsigned turn = 0; turn < turns; ++turn) {
    for (std::size_t i = 0; i < entrants.size(); ++i) entrants[(turn + i) % entrants.size()].run(scene, turn);
  }

  auto const of_base =
      std::find_if(entrants.begin(), entrants.end(), [&](entrant const& e) { return e.who == base; });
  std::vector<server_row> rows;
  for (entrant const& e : entrants) {
    server_row& r = rows.emplace_back();
    r.scene = scene;
    r.scheduler = e.who->name;
    r.is_held_to_limits = e.who->has_workers && !e.who->is_peer;
    r.p50 = median_interval(e.p50);
    r.p99 = median(e.p99);
    r.calls_per_second = median(e.calls_per_second);
    r.late = median(e.late);
    if (of_base == entrants.end()) continue;
    r.p50_to_base = ratio_interval(e.p50, of_base->p50);
    r.p99_to_base = ratio_interval(e.p99, of_base->p99);
    r.calls_to_base = ratio_interval(e.calls_per_second, of_base->calls_per_second);
  }
  return rows;
}

nlohmann::ordered_json to_json(server_row const& r) {
  auto const or_null = [](std::optional<interval> const& v) {
    return v ? nlohmann::ordered_json(v->median) : nlohmann::ordered_json(nullptr);
  };
  nlohmann::ordered_json j;
  j["call_microseconds"] = r.scene.call_microseconds;
  j["callers"] = r.scene.callers;
  j["workers"] = r.scene.workers;
  j["long_callers"] = r.scene.long_callers;
  j["load"] = r.scene.is_open() ? nlohmann::ordered_json(r.scene.load) : nlohmann::ordered_json(nullptr);
  j["scheduler"] = r.scheduler;
  j["p50_seconds"] = r.p50.median;
  j["p50_to_base"] = or_null(r.p50_to_base);
  j["p99_seconds"] = r.p99;
  j["p99_to_base"] = or_null(r.p99_to_base);
  j["calls_per_second"] = r.calls_per_second;
  j["calls_to_base"] = or_null(r.calls_to_base);
  j["late"] = r.late;
  limits_of(r).add_to(j);
  return j;
}

void print_server_head(std::vector<server_scene> const& scenes, contender const* base) {
  auto const load = [&](bool beside) {
    for (server_scene const& s : scenes) {
      if (s.is_open() && (s.long_callers > 0) == beside) return s.load;
    }
    return 0.0;
  };
  fmt::print(
      "calls are {} leaves under joins; open: seeded arrivals, {:.0f}% of {} workers ({:.0f}% beside long calls);\n"
      "closed: each caller calls again at once; long: {} threads with a call of {:.0f} ms after the other\n"
      "limits: p50 and p99 at most {} times {}'s, beside long calls p50 of calls of 20 us at most {:.0f} us; "
      "closed:\n"
      "        calls/s at least {}'s. A limit is broken if the whole 95% interval breaks it, unclear if the median "
      "does\n\n",
      k_leaves, 100 * load(false), scenes[0].workers, 100 * load(true), k_long_callers, k_long_microseconds / 1000,
      k_most_to_base, base ? base->name : "onetbb", k_most_p50_beside_long * 1e6, base ? base->name : "onetbb");
  auto const to_base = fmt::format("/{}", base ? base->name : "-");
  fmt::print("{:>7} {:>7}  {:<6} {:<5} {:<10} {:>10} {:>8} {:>10} {:>8} {:>9} {:>8} {:>6}  {}\n", "call us",
             "callers", "loop", "long", "scheduler", "p50 us", to_base, "p99 us", to_base, "calls/s", to_base, "late",
             "limits");
}

void print_server_row(server_row const& r) {
  fmt::print("{:>7.0f} {:>7}  {:<6} {:<5} {:<10} {:>10.1f} {:>8} {:>10.1f} {:>8} {:>9.0f} {:>8} {:>5.1f}%  {}\n",
             r.scene.call_microseconds, r.scene.callers, r.scene.is_open() ? "open" : "closed",
             r.scene.long_callers ? fmt::format("{}", r.scene.long_callers) : "-", r.scheduler, r.p50.median * 1e6,
             ratio(r.p50_to_base), r.p99 * 1e6, ratio(r.p99_to_base), r.calls_per_second, ratio(r.calls_to_base),
             100 * r.late, r.is_held_to_limits && r.p50_to_base ? limits_of(r).text() : "");
  std::fflush(stdout);
}

}  // namespace bench

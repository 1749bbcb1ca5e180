// The third table of filch-bench --loops: the cost of calls of tiny loops (loops.hpp). main.cpp calls it.
#include "loops.hpp"
#include "measure.hpp"
#include "statistics.hpp"

#include <fmt/format.h>
#include <array>
#include <chrono>
#include <cstdio>
#include <functional>

namespace bench {
namespace {

using clock = std::chrono::steady_clock;
using json = nlohmann::ordered_json;

constexpr std::array<std::size_t, 7> k_sizes = {1, 2, 8, 64, 512, 4096, 32768};

/// How calls follow each other.
struct rhythm {
  std::string_view name;
  std::chrono::microseconds pause;
  unsigned calls;
  bool workers_sleep;
};
constexpr rhythm k_rhythms[] = {{"in a row", std::chrono::microseconds(0), 1000, false},
                                {"50 us between", std::chrono::microseconds(50), 200, true},
                                {"1 ms between", std::chrono::microseconds(1000), 60, true}};

// The limits for schedulers of Filch, in nanoseconds over the plain loop, and the part of its time that is added.
constexpr double k_most_inside = 300;
constexpr double k_most_outside = 1000;
constexpr double k_most_after_pauses = 15'000;
constexpr double k_most_part = 0.03;

double limit(rhythm const& r, bool is_inside) {
  if (r.workers_sleep) return k_most_after_pauses;
  return is_inside ? k_most_inside : k_most_outside;
}

/// Counts its iterations, so that one that ran twice shows.
class counted {
 public:
  void run(std::size_t n, std::function<void(float*)> const& loop) {
    loop(data_.data());
    ++calls_;
    most_ = std::max(most_, n);
  }
  /// Were all calls of the same size?
  void check(std::string_view who) {
    for (std::size_t i = 0; i < data_.size(); ++i) {
      if (data_[i] != (i < most_ ? calls_ : 0))
        throw wrong_answer(fmt::format("a tiny loop on {}: wrong answer", who));
      data_[i] = 0;
    }
    calls_ = 0;
    most_ = 0;
  }

 private:
  std::vector<float> data_ = std::vector<float>(k_sizes.back());
  float calls_ = 0;
  std::size_t most_ = 0;
};

void calculate_for(std::chrono::microseconds t) {
  for (auto const begin = clock::now(); clock::now() - begin < t;) {
  }
}

/// The median of the calls' times, in nanoseconds; before each one the thread calculates for the pause.
double median_of_calls(rhythm const& r, bool quick, std::size_t n, counted& data,
                       std::function<void(float*)> const& loop) {
  std::vector<double> times;
  for (unsigned i = 0; i < (quick ? r.calls / 10 : r.calls); ++i) {
    if (r.pause.count() > 0) calculate_for(r.pause);
    auto const begin = clock::now();
    data.run(n, loop);
    times.push_back(std::chrono::duration<double, std::nano>(clock::now() - begin).count());
  }
  return median(times);
}

[[gnu::noinline]] void plain_loop(std::size_t n, float* data) {
  for (std::size_t i = 0; i < n; ++i) data[i] += 1;
  asm volatile("" ::: "memory");
}

/// One contender, from one place: nanoseconds over the plain loop's in the same turn, for each size.
struct series {
  contender const* who;
  bool is_inside;
  std::array<std::vector<double>, k_sizes.size()> over;
};

struct measured {
  std::array<double, k_sizes.size()> plain{};
  std::vector<series> all;
};

measured measure(rhythm const& r, loops_request const& wanted,
                 std::vector<std::unique_ptr<running_pool>> const& pools) {
  counted data;
  std::array<std::vector<double>, k_sizes.size()> plain;
  measured m;
  for (bool is_inside : {true, false}) {
    for (contender const* const c : wanted.contenders) m.all.push_back({c, is_inside, {}});
  }
  for (unsigned turn = 0; turn < wanted.turns; ++turn) {
    for (std::size_t s = 0; s < k_sizes.size(); ++s) {
      std::size_t const n = k_sizes[s];
      plain[s].push_back(median_of_calls(r, wanted.quick, n, data, [n](float* d) { plain_loop(n, d); }));
      data.check("the plain loop");
      for (std::size_t i = 0; i < m.all.size(); ++i) {
        series& each = m.all[(turn + i) % m.all.size()];
        running_pool& pool = *pools[(turn + i) % pools.size()];
        double ns = 0;
        auto const calls = [&] {
          ns = median_of_calls(r, wanted.quick, n, data, [n, &pool](float* d) { pool.loop(n, d); });
        };
        if (each.is_inside) {
          pool.enter(calls);
        } else {
          calls();
        }
        data.check(each.who->name);
        each.over[s].push_back(ns - plain[s].back());
      }
    }
  }
  for (std::size_t s = 0; s < k_sizes.size(); ++s) m.plain[s] = median(plain[s]);
  return m;
}

template <class Value> std::string cells(Value value) {
  std::string text;
  for (std::size_t s = 0; s < k_sizes.size(); ++s) text += fmt::format(" {:>8.0f}", value(s));
  return text;
}

void print(rhythm const& r, measured const& m) {
  fmt::print("{:<14} {:<8} {:<10}{}\n", r.name, "", "plain", cells([&](std::size_t s) { return m.plain[s]; }));
  for (series const& each : m.all) {
    double const most = limit(r, each.is_inside);
    std::vector<std::size_t> broken;
    for (std::size_t s = 0; s < k_sizes.size(); ++s) {
      if (median(each.over[s]) > most + k_most_part * m.plain[s]) broken.push_back(k_sizes[s]);
    }
    std::string const kept = broken.empty() ? "kept" : fmt::format("broken at {}", fmt::join(broken, ", "));
    fmt::print("{:<14} {:<8} {:<10}{}  {}\n", r.name, each.is_inside ? "inside" : "outside", each.who->name,
               cells([&](std::size_t s) { return median(each.over[s]); }),
               each.who->is_peer ? "" : fmt::format("{:.0f}: {}", most, kept));
  }
  std::fflush(stdout);
}

void add(json& all, rhythm const& r, measured const& m) {
  for (series const& each : m.all) {
    for (std::size_t s = 0; s < k_sizes.size(); ++s) {
      double const over = median(each.over[s]);
      double const most = limit(r, each.is_inside) + k_most_part * m.plain[s];
      all.push_back({{"iterations", k_sizes[s]},
                     {"calls", r.name},
                     {"inside", each.is_inside},
                     {"scheduler", each.who->name},
                     {"plain_ns", m.plain[s]},
                     {"over_plain_ns", over},
                     {"limit_ns", most},
                     {"kept", over <= most}});
    }
  }
}

}  // namespace

json measure_tiny_loops(loops_request const& wanted) {
  std::vector<std::unique_ptr<running_pool>> pools;
  for (contender const* const c : wanted.contenders) pools.push_back(c->make({.workers = wanted.workers}));
  auto all = json::array();
  if (!wanted.as_json) {
    fmt::print(
        "\ntiny loops: median ns of a call over the plain loop's, which is shown first; limits: {:.0f} inside a pool "
        "and\n"
        "{:.0f} outside in a row, {:.0f} after pauses, and {:.0f}% of the plain loop\n"
        "{:<14} {:<8} {:<10}{}  limit\n",
        k_most_inside, k_most_outside, k_most_after_pauses, 100 * k_most_part, "calls", "where", "scheduler",
        cells([](std::size_t s) { return static_cast<double>(k_sizes[s]); }));
  }
  for (rhythm const& r : k_rhythms) {
    measured const m = measure(r, wanted, pools);
    add(all, r, m);
    if (!wanted.as_json) print(r, m);
  }
  return all;
}

}  // namespace bench

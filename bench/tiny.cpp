// Calls that take nanoseconds to microseconds, beside the plain loop.
#include "loops.hpp"
#include "readings.hpp"
#include "statistics.hpp"

#include <fmt/format.h>
#include <array>
#include <chrono>
#include <cstdio>

namespace bench {
namespace {

using json = nlohmann::ordered_json;

constexpr std::array<std::size_t, 10> k_sizes = {0, 1, 4, 16, 64, 256, 1024, 4096, 16384, 65536};

/// How calls follow each other.
struct rhythm {
  std::string_view name;
  call_series series;
};
constexpr rhythm k_rhythms[] = {{"in a row", {1000, std::chrono::microseconds(0)}},
                                {"50 us between", {200, std::chrono::microseconds(50)}},
                                {"1 ms between", {60, std::chrono::microseconds(1000)}}};
constexpr bool workers_sleep(rhythm const& r) { return r.series.pause.count() > 0; }

// The bounds that schedulers of Filch are held to, in nanoseconds over the plain loop, and the part of it on top.
constexpr double k_most_inside = 300;
constexpr double k_most_outside = 1000;
constexpr double k_most_after_pauses = 15'000;
constexpr double k_most_part = 0.03;

double limit(rhythm const& r, bool is_inside) {
  if (workers_sleep(r)) return k_most_after_pauses;
  return is_inside ? k_most_inside : k_most_outside;
}

/// One contender, from one place: nanoseconds over the plain loop's in the same turn, for each size.
struct series {
  competitor const* who;
  algorithm_call call;
  bool is_inside;
  std::array<std::vector<double>, k_sizes.size()> over{};

  /// A peer whose calls make teams uses its pool's number of threads.
  algorithm_pool* pool() const { return is_inside || !who->pool->is_called_inside() ? who->pool.get() : nullptr; }
};

struct measured {
  std::array<double, k_sizes.size()> plain{};
  std::vector<series> all;
};

std::vector<series> series_of(algorithm const& a, std::vector<competitor> const& all) {
  std::vector<series> found;
  for (bool is_inside : {true, false}) {
    for (competitor const& c : all) {
      auto const call = c.pool->find(a.name);
      if (call && (!is_inside || c.pool->is_called_inside())) found.push_back({&c, call, is_inside});
    }
  }
  return found;
}

measured measure(algorithm const& a, rhythm const& r, loops_request const& wanted,
                 std::vector<competitor> const& all) {
  call_series const calls{wanted.quick ? r.series.calls / 10 : r.series.calls, r.series.pause};
  measured m{{}, series_of(a, all)};
  for (std::size_t s = 0; s < k_sizes.size(); ++s) {
    auto const j = a.make(k_sizes[s]);
    std::vector<double> plain;
    for (unsigned turn = 0; turn < wanted.turns; ++turn) {
      plain.push_back(1e9 * time_calls("the plain loop", *j, a.plain, calls));
      for (std::size_t i = 0; i < m.all.size(); ++i) {
        series& each = m.all[(turn + i) % m.all.size()];
        double const ns = 1e9 * time_calls(each.who->label, *j, each.call, calls, each.pool());
        each.over[s].push_back(ns - plain.back());
      }
    }
    m.plain[s] = median(plain);
  }
  return m;
}

template <class Value> std::string cells(Value value) {
  std::string text;
  for (std::size_t s = 0; s < k_sizes.size(); ++s) text += fmt::format(" {:>7.0f}", value(s));
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

void add(json& all, algorithm const& a, rhythm const& r, measured const& m) {
  for (series const& each : m.all) {
    for (std::size_t s = 0; s < k_sizes.size(); ++s) {
      double const over = median(each.over[s]);
      double const most = limit(r, each.is_inside) + k_most_part * m.plain[s];
      all.push_back({{"algorithm", a.name},
                     {"iterations", k_sizes[s]},
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

json measure_tiny(std::vector<algorithm const*> const& algorithms, loops_request const& wanted) {
  std::vector<competitor> competitors;
  for (contender const* const c : wanted.contenders) {
    competitors.push_back({std::string(c->name), c->name, wanted.workers, c->is_peer,
                           c->make_for_algorithms({.workers = wanted.workers})});
  }
  auto all = json::array();
  if (!wanted.as_json) {
    fmt::print(
        "\ntiny calls: median ns over the plain loop's, which is shown first; limits: {:.0f} inside a pool and "
        "{:.0f} "
        "outside\n"
        "in a row, {:.0f} after pauses, and {:.0f}% of the plain loop\n",
        k_most_inside, k_most_outside, k_most_after_pauses, 100 * k_most_part);
  }
  for (algorithm const* const a : algorithms) {
    if (!wanted.as_json) {
      fmt::print("{:<14} {:<8} {:<10}{}  limit\n", a->name, "where", "scheduler",
                 cells([](std::size_t s) { return static_cast<double>(k_sizes[s]); }));
    }
    for (rhythm const& r : k_rhythms) {
      measured const m = measure(*a, r, wanted, competitors);
      add(all, *a, r, m);
      if (!wanted.as_json) print(r, m);
    }
  }
  return all;
}

}  // namespace bench

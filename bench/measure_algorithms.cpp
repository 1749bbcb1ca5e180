// Algorithms at their sizes, each contender in turn with the plain loop.
#include "measure_algorithms.hpp"

#include "statistics.hpp"

#include <fmt/format.h>
#include <cstdio>
#include <map>

namespace bench {
namespace {

using json = nlohmann::ordered_json;

// The bounds that schedulers of Filch are held to. Those on one worker are the entries'.
constexpr double k_least_of_copies = 0.95;
constexpr double k_most_over_peer = 1.03;
constexpr std::size_t k_least_turns = 6;  // with a 95% interval
constexpr double k_most_spread = 1.1;     // of the plain loop's times; above it other programs run

/// A column of the table: what it runs, and its seconds in each turn.
struct column {
  std::string label;
  competitor const* who;  // null: no pool
  algorithm_call call;    // null: copies of the plain loop
  unsigned copies;
  std::vector<double> seconds;

  bool is_there() const { return call || copies > 0; }
};

/// The plain loop first, std's algorithm, the contenders, and copies side by side for each number of workers.
std::vector<column> columns_of(algorithm const* a, std::vector<competitor> const& all,
                               std::vector<unsigned> const& workers) {
  std::vector<column> columns;
  columns.push_back({"plain", nullptr, a ? a->plain : nullptr, 0, {}});
  columns.push_back({"std", nullptr, a ? a->standard : nullptr, 0, {}});
  for (competitor const& c : all) columns.push_back({c.label, &c, a ? c.pool->find(a->name) : nullptr, 0, {}});
  for (unsigned const w : workers) {
    if (w > 1) columns.push_back({fmt::format("copies,{}", w), nullptr, nullptr, w, {}});
  }
  return columns;
}

/// A row that has been measured.
struct algorithm_row {
  sized_algorithm what;
  std::vector<column> columns;

  column const& plain() const { return columns[0]; }
  interval of_plain(column const& c) const { return ratio_interval(c.seconds, plain().seconds); }
  column const* copies(unsigned workers) const {
    for (column const& c : columns) {
      if (c.copies == workers) return &c;
    }
    return nullptr;
  }
  bool is_disturbed() const {
    return std::any_of(columns.begin(), columns.end(), [this](column const& c) {
      if (c.seconds.empty() || (&c != &plain() && c.copies == 0)) return false;
      interval const i = median_interval(c.seconds);
      return i.high > k_most_spread * i.low;
    });
  }
  bool is_filch(column const& c) const { return c.who && !c.who->is_peer && c.is_there(); }
  /// Limits that the whole interval of a cell breaks. Few turns have no interval, and break none.
  std::vector<std::string> broken() const {
    std::vector<std::string> all;
    if (plain().seconds.size() < k_least_turns) return all;
    for (column const& c : columns) {
      if (!is_filch(c)) continue;
      if (what.n >= what.what->least_with_limit) add_broken_by(all, c);
      for (column const& peer : columns) {
        if (!peer.who || !peer.who->is_peer || !peer.is_there() || peer.who->workers != c.who->workers) continue;
        interval const i = ratio_interval(c.seconds, peer.seconds);
        if (i.low > k_most_over_peer)
          all.push_back(fmt::format("{} {:.2f} of {}", c.label, i.median, peer.who->name));
      }
    }
    return all;
  }

 private:
  void add_broken_by(std::vector<std::string>& all, column const& c) const {
    if (c.who->workers == 1) {
      interval const i = of_plain(c);
      if (i.low > what.what->most_on_one) all.push_back(fmt::format("{} {:.3f} of plain", c.label, i.median));
    } else if (column const* const side = copies(c.who->workers)) {
      interval const i = ratio_interval(c.seconds, side->seconds);
      if (i.low > 1 / k_least_of_copies) all.push_back(fmt::format("{} {:.2f} of copies", c.label, i.median));
    }
  }
};

double read(column const& c, algorithm_copies& jobs, std::size_t calls) {
  if (c.copies > 0) return jobs.time_side_by_side(c.copies, calls);
  return time_calls(c.label, jobs.first(), c.call, {calls}, c.who ? c.who->pool.get() : nullptr);
}

algorithm_row measure(sized_algorithm const& what, std::vector<competitor> const& all,
                      algorithms_request const& wanted) {
  algorithm_row row{what, columns_of(what.what, all, wanted.workers)};
  unsigned const most = *std::max_element(wanted.workers.begin(), wanted.workers.end());
  algorithm_copies jobs(*what.what, what.n, most);
  std::size_t const calls = calls_of_reading(*what.what, jobs.first());
  for (column& c : row.columns) {
    if (c.is_there()) read(c, jobs, 1);  // threads start, pages are touched
  }
  for (unsigned turn = 0; turn < wanted.turns; ++turn) {
    for (std::size_t i = 0; i < row.columns.size(); ++i) {
      column& c = row.columns[(turn + i) % row.columns.size()];
      if (c.is_there()) c.seconds.push_back(read(c, jobs, calls));
    }
  }
  return row;
}

json to_json(algorithm_row const& r) {
  auto cells = json::object();
  for (column const& c : r.columns) {
    if (!c.is_there()) continue;
    interval const i = r.of_plain(c);
    cells[c.label] = {{"seconds", median(c.seconds)}, {"of_plain", i.median}, {"low", i.low}, {"high", i.high}};
  }
  return {{"algorithm", r.what.what->name},
          {"elements", r.what.n},
          {"cells", cells},
          {"disturbed", r.is_disturbed()},
          {"broken_limits", r.broken()}};
}

constexpr int k_name_width = 22;
std::size_t width_of(column const& c) { return std::max<std::size_t>(c.label.size(), 5) + 2; }

void print_head(std::vector<column> const& columns) {
  fmt::print(
      "time over the plain loop's; copies: a plain loop's time as one of so many side by side, over their number\n"
      "limits: one worker 1.02 (transform), 1.05 (find_if) or 1.03 of plain; more: {} of the copies' speed;\n"
      "each size: {} of a peer's time. A limit is broken if the whole 95% interval breaks it.\n"
      "{:<{}}{:>9}{:>11}",
      k_least_of_copies, k_most_over_peer, "algorithm", k_name_width, "elements", "plain us");
  for (column const& c : columns) {
    if (&c != &columns[0]) fmt::print("{:>{}}", c.label, width_of(c));
  }
  fmt::print("  broken limits\n");
}

void print_row(algorithm_row const& r) {
  fmt::print("{:<{}}{:>9}{:>10.1f}{}", r.what.what->name, k_name_width, r.what.n, 1e6 * median(r.plain().seconds),
             r.is_disturbed() ? '?' : ' ');
  for (column const& c : r.columns) {
    if (&c == &r.columns[0]) continue;
    fmt::print("{:>{}}", c.is_there() ? fmt::format("{:.3f}", r.of_plain(c).median) : "-", width_of(c));
  }
  fmt::print("  {}\n", fmt::join(r.broken(), ", "));
  std::fflush(stdout);
}

/// The geometric mean of a column over a peer's, on the same number of workers.
void print_means(std::vector<algorithm_row> const& rows) {
  std::map<std::string, std::vector<double>> means;
  bool disturbed = false;
  for (algorithm_row const& r : rows) {
    disturbed = disturbed || r.is_disturbed();
    for (column const& c : r.columns) {
      if (!r.is_filch(c)) continue;
      for (column const& peer : r.columns) {
        if (!peer.who || !peer.who->is_peer || !peer.is_there() || peer.who->workers != c.who->workers) continue;
        means[fmt::format("{} over {}", c.label, peer.label)].push_back(
            ratio_interval(c.seconds, peer.seconds).median);
      }
    }
  }
  for (auto const& [pair, all] : means)
    fmt::print("geometric mean of {}: {:.3f} ({} rows)\n", pair, geometric_mean(all), all.size());
  if (disturbed)
    fmt::print("?: times of plain loops, alone or side by side, differ by more than 10%. Do other programs run?\n");
}

}  // namespace

std::vector<competitor> competitors_of(algorithms_request const& wanted, std::vector<unsigned> const& workers) {
  std::vector<competitor> all;
  auto const add = [&](std::string_view name, unsigned w, bool is_peer, std::unique_ptr<algorithm_pool> pool) {
    if (pool) all.push_back({fmt::format("{},{}", name, w), name, w, is_peer, std::move(pool)});
  };
  for (contender const* const c : wanted.contenders) {
    for (unsigned const w : workers) add(c->name, w, c->is_peer, c->make_for_algorithms({.workers = w}));
  }
#if BENCH_WITH_TBB
  for (unsigned const w : workers) add("std::par", w, true, make_par_pool(w));
#endif
  return all;
}

json measure_sizes(std::vector<sized_algorithm> const& rows, algorithms_request const& wanted) {
  auto const all = competitors_of(wanted, wanted.workers);
  auto results = json::array();
  if (!wanted.as_json) print_head(columns_of(nullptr, all, wanted.workers));
  std::vector<algorithm_row> measured;
  for (sized_algorithm const& what : rows) {
    measured.push_back(measure(what, all, wanted));
    results.push_back(to_json(measured.back()));
    if (!wanted.as_json) print_row(measured.back());
  }
  if (!wanted.as_json) print_means(measured);
  return results;
}

}  // namespace bench

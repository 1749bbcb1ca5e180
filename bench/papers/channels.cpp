// A. Prell, T. Rauber, Channel-based Work Stealing, 2014, repeated. See all.hpp. The paper prints its figures 3 to 5
// without numbers; those below are its text's.
#include "../channels.hpp"
#include "../statistics.hpp"
#include "all.hpp"
#include "schedulers/channel/messages.hpp"

#include <fmt/format.h>
#include <algorithm>

namespace bench::papers {
namespace {

using outcome = claim::result;

constexpr unsigned k_workers = 48;

std::vector<sized> const programs = {{"spc", "100000, 10 us", "10000:10", "200:10"},
                                     {"spc", "100000, 100 us", "1000:100", "50:20"},
                                     {"spc", "100000, 1000 us", "100:1000", "20:40"},
                                     {"bpc", "10000, 10 us", "1000:10", "20:10"},
                                     {"bpc", "10000, 100 us", "100:100", "10:20"},
                                     {"bpc", "10000, 1000 us", "10:1000", "5:40"},
                                     {"treerec", "25, 10 us", "19:10", "8:10"},
                                     {"treerec", "25, 100 us", "14:100", "7:20"},
                                     {"treerec", "25, 1000 us", "10:1000", "6:40"},
                                     {"matmul", "2048", "512", "64"},
                                     {"sparselu", "4096", "1024", "256"},
                                     {"quicksort", "10^8", "1000000", "2000"}};

struct repeated_program {
  sized what;
  std::vector<channels_row> rows;  // the ways, on this machine's processors
  prediction one, half;            // on k_workers, by tasks of an answer
  double serial = 0;               // ns
  double with(std::string_view way) const {
    for (channels_row const& r : rows) {
      if (r.way == way) return r.to_direct;
    }
    return 0;
  }
  /// The best of the channel's ways, as the paper chooses one for each program.
  double best() const {
    double least = 1e9;
    for (channels_row const& r : rows) {
      if (r.way != "direct") least = std::min(least, r.to_direct);
    }
    return least;
  }
};

/// As timed tasks are predicted: of the program's own tasks, not of those that wait.
repeated_program repeat(sized const& what, steal_costs const& costs, effort const& e) {
  repeated_program p{what, {}, {}, {}, 0};
  workload const& w = *find_workload(what.workload);
  sized_workload const sized{&w, what.size(e), ""};
  meter m(w, sized.size, processors());
  channels_contenders const both{named("direct"), filch::victim_order::last, false};
  p.rows = measure_channels(m, sized, both, processors(), e.is_tiny ? 1 : 3);
  p.serial = median({m.run_serial(), m.run_serial(), m.run_serial()}) * 1e9;
  fork_tree const t = lasting(recorded_tree(what.workload, sized.size), p.serial * 1e-9);
  p.one = predict(t, costs, steal_rule::steal_one, k_workers);
  p.half = predict(t, costs, steal_rule::steal_half, k_workers);
  return p;
}

void show_messages(report& r) {
  std::size_t const request = sizeof(filch::detail::request);
  std::size_t const task = sizeof(filch::detail::channel_task);
  r.add(table{"Table 1. Messages, bytes: theirs / ours",
              {"message", "theirs", "ours"},
              {{"steal request", "32", fmt::format("{}", request)},
               {"idle update", "32", fmt::format("{}", request)},
               {"task", "8", fmt::format("{}", task)},
               {"task return value", "depends", fmt::format("at most {}", filch::detail::k_task_payload)}},
              "Our tasks travel by value, theirs by pointer; our results in the task's payload."});
  r.add(claim{"Table 1, messages", "request 32 bytes, task 8",
              fmt::format("request {}, task {} by value", request, task),
              request <= 32 ? outcome::repeated : outcome::not_repeated, ""});
}

/// Figure 3 or 4.
void show_curves(report& r, std::string_view name, std::string_view number, steal_costs const& costs,
                 std::vector<repeated_program> const& all, effort const& e) {
  for (auto const& p : all) {
    if (p.what.workload != name) continue;
    std::string task = p.what.theirs.substr(p.what.theirs.find(' ') + 1);
    figure f{fmt::format("Figure {}. Speed-up of {}, {}", number, name, task),
             "workers",
             "speed-up",
             {},
             fmt::format("figure-{}-{}", number, task.substr(0, task.find(' ')))};
    for (channels_row const& row : p.rows)
      f.lines.push_back({row.way, source::measured, {{row.workers, row.speedup}}});
    fork_tree const t = lasting(recorded_tree(p.what.workload, p.what.size(e)), p.serial * 1e-9);
    for (auto const& [label, rule] : {std::pair{"one", steal_rule::steal_one}, {"half", steal_rule::steal_half}}) {
      series s{fmt::format("channel {}", label), source::predicted, {}};
      for (unsigned const n : {2u, 8u, 16u, 32u, k_workers})
        s.points.emplace_back(n, p.serial / predict(t, costs, rule, n).ns);
      f.lines.push_back(std::move(s));
    }
    r.add(std::move(f));
  }
}

void show_summary(report& r, std::vector<repeated_program> const& all) {
  table t{fmt::format("Figure 5. Summary: time over direct's on {} workers, and speed-ups on {}, predicted",
                      processors(), k_workers),
          {"program", "one", "half", "adaptive", "adaptive, polls", "48: one", "48: half"},
          {},
          ""};
  std::vector<double> best;
  auto const cell = [](double x) { return x > 0 ? digits(x) : std::string(); };
  for (auto const& p : all) {
    best.push_back(p.best());
    t.rows.push_back({p.what.workload + " " + p.what.theirs, cell(p.with("channel one")),
                      cell(p.with("channel half")), cell(p.with("channel adaptive")),
                      cell(p.with("channel adaptive, polls")), digits(p.serial / p.one.ns),
                      digits(p.serial / p.half.ns)});
  }
  r.add(t);
  double const mean = geometric_mean(best);
  r.add(claim{
      "Figure 5, channels over deques", "3 to 7% slower in most programs, 48 threads",
      fmt::format("{:+.1f}% in the geometric mean of {} programs on {}", 100 * (mean - 1), all.size(), processors()),
      mean < 1.07 ? outcome::repeated : outcome::not_repeated, ""});
  double least = k_workers;
  for (auto const& p : all) least = std::min(least, p.serial / std::min(p.one.ns, p.half.ns));
  r.add(claim{"Figure 5, 48 threads", "drawn", fmt::format("speed-ups from {:.1f} on at our sizes, predicted", least),
              outcome::not_repeatable, fmt::format("{} processors", processors())});
}

}  // namespace

report show_channels(effort const& e) {
  report r("channels", "3. Channel-based Work Stealing, 2014");
  steal_costs const costs = costs_of(named("channel"), e);
  show_messages(r);
  std::vector<repeated_program> all;
  for (sized const& what : programs) all.push_back(repeat(what, costs, e));
  show_curves(r, "spc", "3", costs, all, e);
  auto const& finest = all[0];
  bool const is_better = finest.half.ns < finest.one.ns;
  r.add(claim{
      "Figure 3, chunks (SPC, 10 us)", "half scales past one task an answer; 37,000 against 5,000 steals on 48",
      fmt::format("48 workers, predicted: speed-up {:.1f} by halves, {:.1f} by one; steals {:.0f}, {:.0f}",
                  finest.serial / finest.half.ns, finest.serial / finest.one.ns, finest.half.steals,
                  finest.one.steals),
      is_better ? outcome::repeated : outcome::not_repeated, "their steals: deques and channels, both by halves"});
  show_curves(r, "bpc", "4", costs, all, e);
  auto const& coarse = all[5];
  double const polls = coarse.with("channel one, polls");
  double const blind = coarse.with("channel one");
  r.add(claim{"Figure 4, polls (BPC, 1 ms)", "without polls speed-up stays at 8 of 48; with them within 2%",
              fmt::format("time over direct's on {}: {:.2f} without, {:.2f} with", processors(), blind, polls),
              polls <= blind * 1.02 && polls < 1.1 ? outcome::repeated : outcome::not_repeated, ""});
  show_summary(r, all);
  return r;
}

}  // namespace bench::papers

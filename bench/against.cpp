// filch-bench --against: runs the schedulers in turn with a base, and prints ratios within each turn (against.hpp).
// main.cpp calls it.
#include "against.hpp"

#include <fmt/format.h>
#include <cstdio>
#include <map>

namespace bench {
namespace {

struct entrant {
  contender const* who;
  std::unique_ptr<running_pool> pool;
  std::vector<double> seconds;
  std::vector<double> to_serial;
  std::vector<double> to_base;
};

double least(std::vector<double> const& v) { return range(v).low; }

}  // namespace

std::vector<against_row> measure_against(meter& m, sized_workload const& w, contender const& base,
                                         std::vector<contender const*> const& others, unsigned workers,
                                         unsigned turns) {
  program job(*w.what, w.size, "a scheduler");
  std::vector<entrant> all;
  all.push_back({&base, base.make({.workers = workers}), {}, {}, {}});
  for (contender const* const c : others) all.push_back({c, c->make({.workers = workers}), {}, {}, {}});
  for (entrant& e : all) job.run(*e.pool);  // threads start, pages are touched

  for (unsigned turn = 0; turn < turns; ++turn) {
    double const serial = m.run_serial();
    for (std::size_t i = 0; i < all.size(); ++i) {
      entrant& e = all[(turn + i) % all.size()];
      e.seconds.push_back(job.run(*e.pool));
    }
    for (entrant& e : all) {
      e.to_serial.push_back(e.seconds.back() / serial);
      e.to_base.push_back(e.seconds.back() / all[0].seconds.back());
    }
  }

  std::vector<against_row> rows;
  for (entrant const& e : all) {
    rows.push_back({std::string(w.what->name), w.size, std::string(e.who->name), workers, median(e.seconds),
                    median(e.to_serial), median_interval(e.to_base), least(e.seconds) / least(all[0].seconds)});
  }
  return rows;
}

nlohmann::ordered_json to_json(against_row const& r) {
  nlohmann::ordered_json j;
  j["workload"] = r.workload;
  j["size"] = r.size;
  j["scheduler"] = r.scheduler;
  j["workers"] = r.workers;
  j["seconds"] = r.seconds;
  j["to_serial"] = r.to_serial;
  j["to_base"] = {{"low", r.to_base.low}, {"median", r.to_base.median}, {"high", r.to_base.high}};
  j["least_to_least"] = r.least;
  return j;
}

void print_against_head(std::string_view base) {
  fmt::print("{:<20} {:>3}  {:<10} {:>10} {:>11} {:>11} {:>15} {:>9}\n", "workload", "P", "scheduler", "seconds",
             "over serial", fmt::format("over {}", base), "95% interval", "least");
}

void print_against_row(against_row const& r) {
  fmt::print("{:<20} {:>3}  {:<10} {:>10.6f} {:>11.3f} {:>11.3f} {:>15} {:>9.3f}\n", r.workload + "=" + r.size,
             r.workers, r.scheduler, r.seconds, r.to_serial, r.to_base.median,
             fmt::format("{:.3f} - {:.3f}", r.to_base.low, r.to_base.high), r.least);
  std::fflush(stdout);
}

void print_against_means(std::vector<against_row> const& rows, std::string_view base) {
  struct ratios {
    std::vector<double> medians, least;
  };
  std::map<std::pair<unsigned, std::string>, ratios> by;
  for (against_row const& r : rows) {
    if (r.scheduler == base) continue;
    ratios& of = by[{r.workers, r.scheduler}];
    of.medians.push_back(r.to_base.median);
    of.least.push_back(r.least);
  }
  for (auto const& [key, of] : by) {
    fmt::print("{} over {}, workers: {}, geometric mean over {} workloads: {:.3f} (least times: {:.3f})\n",
               key.second, base, key.first, of.medians.size(), geometric_mean(of.medians), geometric_mean(of.least));
  }
}

}  // namespace bench

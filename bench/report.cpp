// Prints rows as a table, as JSON or as CSV (report.hpp). main.cpp calls it.
#include "report.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cstdio>
#include <map>

namespace bench {
namespace {

using json = nlohmann::ordered_json;

template <class T> json or_null(std::optional<T> const& v) { return v ? json(*v) : json(nullptr); }

template <class T> std::optional<T> optional_of(json const& j) {
  return j.is_null() ? std::nullopt : std::optional<T>(j.get<T>());
}

std::string seconds(double s) { return s < 0.9995 ? fmt::format("{:.1f} ms", s * 1e3) : fmt::format("{:.2f} s", s); }

std::string nanoseconds(std::optional<double> ns) {
  if (!ns) return "";
  if (*ns < 999.5) return fmt::format("{:.1f} ns", *ns);
  if (*ns < 999.5e3) return fmt::format("{:.1f} us", *ns / 1e3);
  return fmt::format("{:.1f} ms", *ns / 1e6);
}

template <class T> std::string or_empty(std::optional<T> const& v) { return v ? fmt::format("{}", *v) : ""; }

}  // namespace

json to_json(row const& r) {
  json j;
  j["workload"] = r.workload;
  j["size"] = r.size;
  j["scheduler"] = r.scheduler;
  j["workers"] = r.workers;
  j["seconds"] = {{"min", r.seconds.low}, {"median", r.seconds.median}, {"max", r.seconds.high}};
  j["serial_seconds"] = r.serial_seconds;
  j["overhead"] = r.overhead
                      ? json{{"median", r.overhead->median}, {"low", r.overhead->low}, {"high", r.overhead->high}}
                      : json(nullptr);
  j["speedup"] = r.speedup;
  j["ceiling"] = or_null(r.ceiling);
  j["scaling"] = or_null(r.scaling);
  j["verified"] = r.verified;
  j["turns"] = r.turns;
  j["tasks"] = or_null(r.tasks);
  j["steals"] = or_null(r.steals);
  j["failed_steals"] = or_null(r.failed_steals);
  j["backoffs"] = or_null(r.backoffs);
  j["steals_per_second"] = or_null(r.steals_per_second);
  j["task_granularity_ns"] = or_null(r.task_granularity_ns);
  j["steal_granularity_ns"] = or_null(r.steal_granularity_ns);
  j["max_rss_bytes"] = r.max_rss_bytes;
  j["stack_bytes"] = or_null(r.stack_bytes);
  return j;
}

row from_json(json const& j) {
  row r;
  r.workload = j.at("workload");
  r.size = j.at("size");
  r.scheduler = j.at("scheduler");
  r.workers = j.at("workers");
  json const& s = j.at("seconds");
  r.seconds = {s.at("min"), s.at("median"), s.at("max")};
  r.serial_seconds = j.at("serial_seconds");
  if (json const& o = j.at("overhead"); !o.is_null())
    r.overhead = interval{o.at("low"), o.at("median"), o.at("high")};
  r.speedup = j.at("speedup");
  r.ceiling = optional_of<double>(j.at("ceiling"));
  r.scaling = optional_of<double>(j.at("scaling"));
  r.verified = j.at("verified");
  r.turns = j.at("turns");
  r.tasks = optional_of<std::uint64_t>(j.at("tasks"));
  r.task_granularity_ns = optional_of<double>(j.at("task_granularity_ns"));
  r.max_rss_bytes = j.at("max_rss_bytes");
  return r;
}

void print_table_head() {
  fmt::print("{:<12} {:>7} {:>10} {:>8} {:>15} {:>8} {:>7} {:>7} {:>9} {:>10} {:>9}\n", "scheduler", "workers",
             "median", "overhead", "95% interval", "speed-up", "ceiling", "scaling", "steals", "per steal", "rss");
}

void print_workload(std::string_view workload, std::string_view size, baseline const& b) {
  fmt::print("\n{}={}: sequential program {}, serial elision {}; {} forks", workload, size, seconds(b.plain_seconds),
             seconds(b.elision_seconds), b.tasks);
  if (b.tasks) {
    double const work = std::min(b.plain_seconds, b.elision_seconds) * 1e9;
    fmt::print(", one for {} of work", nanoseconds(work / static_cast<double>(b.tasks)));
  }
  fmt::print("; baseline: the {}\n", b.plain_is_faster ? "sequential program" : "elision");
  std::fflush(stdout);
}

void print_table_row(row const& r) {
  std::string overhead;
  std::string between;
  if (r.overhead) {
    overhead = fmt::format("{:.2f}", r.overhead->median);
    between = fmt::format("{:.2f} - {:.2f}", r.overhead->low, r.overhead->high);
  }
  fmt::print("{:<12} {:>7} {:>10} {:>8} {:>15} {:>8} {:>7} {:>7} {:>9} {:>10} {:>6} MiB\n", r.scheduler, r.workers,
             seconds(r.seconds.median), overhead, between, fmt::format("{:.3f}", r.speedup),
             r.ceiling ? fmt::format("{:.2f}", *r.ceiling) : "", r.scaling ? fmt::format("{:.3f}", *r.scaling) : "",
             or_empty(r.steals), nanoseconds(r.steal_granularity_ns), r.max_rss_bytes >> 20);
  std::fflush(stdout);
}

std::string json_text(std::vector<row> const& rows) {
  json all = json::array();
  for (row const& r : rows) all.push_back(to_json(r));
  return all.dump(2) + "\n";
}

void print_csv(std::vector<row> const& rows) {
  fmt::print(
      "workload,size,scheduler,workers,seconds_min,seconds_median,seconds_max,serial_seconds,overhead_median,"
      "overhead_low,overhead_high,speedup,ceiling,scaling,verified,turns,tasks,steals,failed_steals,backoffs,steals_"
      "per_second,"
      "task_granularity_ns,steal_granularity_ns,max_rss_bytes,stack_bytes\n");
  for (row const& r : rows) {
    fmt::print("{},{},{},{},{},{},{},{},", r.workload, r.size, r.scheduler, r.workers, r.seconds.low,
               r.seconds.median, r.seconds.high, r.serial_seconds);
    if (r.overhead) {
      fmt::print("{},{},{},", r.overhead->median, r.overhead->low, r.overhead->high);
    } else {
      fmt::print(",,,");
    }
    fmt::print("{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", r.speedup, or_empty(r.ceiling), or_empty(r.scaling),
               r.verified, r.turns, or_empty(r.tasks), or_empty(r.steals), or_empty(r.failed_steals),
               or_empty(r.backoffs), or_empty(r.steals_per_second), or_empty(r.task_granularity_ns),
               or_empty(r.steal_granularity_ns), r.max_rss_bytes, or_empty(r.stack_bytes));
  }
}

void print_error(std::exception const& e) {
  std::string line = e.what();
  std::replace(line.begin(), line.end(), '\n', ' ');
  // The library's messages begin with a name, too.
  if (std::string_view const library = "filch: "; line.starts_with(library)) line.erase(0, library.size());
  fmt::print(stderr, "filch-bench: {}\n", line);
}

std::string conclusion(std::vector<row> const& rows) {
  struct ratios {
    std::vector<double> overhead;  // on one worker
    std::vector<double> scaling;   // on more
  };
  std::map<std::string, ratios> by;
  for (row const& r : rows) {
    ratios& of = by[r.scheduler];
    if (r.overhead) {
      of.overhead.push_back(r.overhead->median);
    } else if (r.scaling) {
      of.scaling.push_back(*r.scaling);
    }
  }
  auto const direct = by.find("direct");
  if (direct == by.end() || direct->second.overhead.empty()) return "";
  std::string text = fmt::format(
      "In the geometric mean, filch::direct on one worker takes {:.2f} times as long as the "
      "best serial program",
      geometric_mean(direct->second.overhead));
  for (auto const& [name, of] : by) {
    if (name == "direct" || name == "serial" || of.overhead.empty()) continue;
    text += fmt::format(" ({}: {:.1f} times)", name, geometric_mean(of.overhead));
  }
  if (!direct->second.scaling.empty()) {
    text += fmt::format(
        ", and from there more workers bring {:.0f}% of the speed-up that this machine gives to independent programs",
        100 * geometric_mean(direct->second.scaling));
  }
  return text + ".";
}

}  // namespace bench

// Sums up what all threads measured, and prints it: a table for people, or comma-separated values.
#include "runtime/profile/report.hpp"

#include "runtime/profile/record.hpp"
#include "runtime/profile/source_lines.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

namespace filch::runtime::profile {
namespace {

constexpr unsigned k_most_lines = 30;

/// A place, summed up over all threads.
struct line {
  place of;
  cycles share = 0;   // of the span
  cycles faster = 0;  // the program's span, were the place twice as fast
  bool has_path = true;
  source_lines at;
};

struct totals {
  record::figures all;
  std::vector<record::figures> threads;  // that had runs
  std::map<code, line> lines;
  unsigned missing = 0;  // threads in a run
  bool has_others = false;
};

std::string& target() {
  static auto* const t = new std::string;
  return *t;
}
double seconds_of_measuring = 0;

void add(record::figures& sum, record::figures const& f) {
  sum.work += f.work;
  sum.path.span += f.path.span;
  sum.path.segments += f.path.segments;
  for (unsigned i = 0; i < k_burdens; ++i) sum.path.burdened[i] += f.path.burdened[i];
  sum.preempted += f.preempted;
  sum.in_stays += f.in_stays;
  sum.seconds_in_runs += f.seconds_in_runs;
  sum.runs += f.runs;
  sum.forks += f.forks;
  sum.segments += f.segments;
  sum.no_room += f.no_room;
  sum.stays += f.stays;
}

void add(line& sum, place const& p, spans const& path) {
  if (!sum.of.task) {
    sum.of = p;
  } else {
    sum.of.forks += p.forks;
    sum.of.small += p.small;
    sum.of.own += p.own;
    sum.of.work += p.work;
    sum.of.span += p.span;
    sum.of.burdened += p.burdened;
  }
  if (p.number >= k_own_paths) {
    sum.has_path = false;
    return;
  }
  sum.share += path.of(p.number).share;
  sum.faster += path.of(p.number).faster - path.span;  // so far the difference to the whole span
}

totals sum_up() {
  totals t;
  t.missing = each_record(
      [](record const& r, void* p) {
        auto& to = *static_cast<totals*>(p);
        auto const f = r.so_far();
        if (f.runs == 0) return;
        to.threads.push_back(f);
        add(to.all, f);
        for (unsigned i = 0; i < r.places().number(); ++i) add(to.lines[r.places()[i].task], r.places()[i], f.path);
        to.has_others = to.has_others || r.places().has_others();
      },
      &t);
  return t;
}

std::vector<line> sorted_lines(totals& t) {
  std::vector<line> lines;
  for (auto& [task, each] : t.lines) {
    each.faster += t.all.path.span;
    lines.push_back(each);
  }
  std::sort(lines.begin(), lines.end(), [](line const& a, line const& b) { return a.of.work > b.of.work; });
  std::vector<place const*> places;
  for (auto const& each : lines) {
    if (places.size() < k_most_lines) places.push_back(&each.of);
  }
  auto const at = source_lines_of(places);
  for (std::size_t i = 0; i < at.size(); ++i) lines[i].at = at[i];
  lines.resize(at.size());
  return lines;
}

double ratio(cycles work, cycles span) {
  return span > 0 ? std::max(1.0, static_cast<double>(work) / static_cast<double>(span)) : 1.0;
}
double ms(cycles c) { return calibrated.ns(c) / 1e6; }

void print_totals(std::FILE* to, totals const& t) {
  auto const& all = t.all;
  double const uncertain = calibrated.uncertain / calibrated.cycles_per_ns / 1e6;
  std::fprintf(to, "filch: work and span of %" PRIu64 " runs on %zu threads, with %" PRIu64 " forks\n", all.runs,
               t.threads.size(), all.forks);
  std::fprintf(to, "%14s %14.6f ms +- %.6f\n", "work", ms(all.work), uncertain * static_cast<double>(all.segments));
  std::fprintf(to, "%14s %14.6f ms +- %.6f\n", "span", ms(all.path.span),
               uncertain * static_cast<double>(all.path.segments));
  std::fprintf(to, "%14s %14.1f at least\n", "parallelism", ratio(all.work, all.path.span));
  for (unsigned i = 0; i < k_burdens; ++i) {
    char const* const whose[] = {calibrated.steal_is_measured ? "measured here" : "assumed", "Wool's", "Cilkscale's"};
    std::fprintf(to, "%14s %14.6f ms, parallelism at least %.1f, with %" PRId64 " cycles a steal (%s)\n",
                 "burdened span", ms(all.path.burdened[i]), ratio(all.work, all.path.burdened[i]),
                 static_cast<std::int64_t>(calibrated.burdens[i]), whose[i]);
  }
  double const outside = process_time() - seconds_of_measuring - all.seconds_in_runs;
  std::fprintf(to, "%14s %14.3f ms of processor time, not in these figures\n", "outside pools",
               std::max(0.0, outside) * 1e3);
  if (all.preempted > 0) std::fprintf(to, "%14s %14.3f ms, taken out\n", "preempted", ms(all.preempted));
  if (all.stays) {
    std::fprintf(to, "%14s %14.3f ms in %" PRIu64 " stays, whose forks run in order\n", "in order", ms(all.in_stays),
                 all.stays);
  }
  if (all.no_room) {
    std::fprintf(to, "%14s %14" PRIu64 " forks found no room for their task\n", "in order", all.no_room);
  }
  if (t.missing) std::fprintf(to, "%14s %14u threads that are in a run still\n", "not counted", t.missing);
  if (t.threads.size() < 2) return;
  for (auto const& each : t.threads) {
    std::fprintf(to, "%14s %14.6f ms of work, span %.6f ms, parallelism at least %.1f, %" PRIu64 " runs\n",
                 "a thread", ms(each.work), ms(each.path.span), ratio(each.work, each.path.span), each.runs);
  }
}

void print_lines(std::FILE* to, std::vector<line> const& lines, totals const& t) {
  if (lines.empty()) return;
  std::fprintf(to, "%-26s %-26s %10s %12s %12s %11s %7s %8s %s\n", "join at", "task at", "forks", "work ms",
               "span ms", "parallelism", "small", "of span", "program's parallelism, were this twice as fast");
  for (auto const& each : lines) {
    std::fprintf(to, "%-26.26s %-26.26s %10" PRIu64 " %12.6f %12.6f %11.1f %6.0f%%", each.at.join.c_str(),
                 each.at.task.c_str(), each.of.forks, ms(each.of.work), ms(each.of.span),
                 ratio(each.of.work, each.of.span),
                 100 * static_cast<double>(each.of.small) / static_cast<double>(each.of.forks));
    if (each.has_path) {
      std::fprintf(to, " %7.0f%% %.1f\n",
                   100 * static_cast<double>(each.share) / static_cast<double>(t.all.path.span),
                   ratio(t.all.work - each.of.own / 2, each.faster));
    } else {
      std::fprintf(to, " %8s -\n", "-");
    }
  }
  if (t.has_others) std::fprintf(to, "there are more places than a thread keeps apart\n");
}

void print_values_row(std::FILE* to, std::string const& tag, cycles work, cycles span, cycles burdened) {
  std::fprintf(to, "%s,%.9f,%.9f,%.3f,%.9f,%.3f\n", tag.c_str(), calibrated.seconds(work), calibrated.seconds(span),
               ratio(work, span), calibrated.seconds(burdened), ratio(work, burdened));
}

/// The columns of Cilkscale. The row without a tag is the program.
void print_values(std::FILE* to, std::vector<line> const& lines, totals const& t) {
  std::fprintf(to, "tag,work (seconds),span (seconds),parallelism,burdened_span (seconds),burdened_parallelism\n");
  for (auto const& each : lines) {
    std::string tag = each.at.join == "-" ? each.at.task : each.at.join;
    std::replace(tag.begin(), tag.end(), ',', ';');
    print_values_row(to, tag, each.of.work, each.of.span, each.of.burdened);
  }
  print_values_row(to, "", t.all.work, t.all.path.span, t.all.path.burdened.back());
}

}  // namespace

void report_goes_to(char const* name) { target() = name; }

void not_of_the_program(double seconds) noexcept { seconds_of_measuring += seconds; }

void report() {
  totals t = sum_up();
  if (t.threads.empty() && t.missing == 0) return;
  auto const lines = sorted_lines(t);
  std::string const& name = target();
  bool const is_console = name == "1" || name == "-";
  std::FILE* to = is_console ? stderr : std::fopen(name.c_str(), "w");
  if (!to) {
    std::fprintf(stderr, "filch: FILCH_PROFILE=%s: can't write to this file; the report follows\n", name.c_str());
    to = stderr;
  }
  if (name.ends_with(".csv")) {
    print_values(to, lines, t);
  } else {
    print_totals(to, t);
    print_lines(to, lines, t);
  }
  if (to != stderr) std::fclose(to);
}

}  // namespace filch::runtime::profile

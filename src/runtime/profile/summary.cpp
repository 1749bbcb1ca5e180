// Adds up the records of all threads, and their places. report.cpp
// and page.cpp call it when the process ends.
#include "runtime/profile/summary.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstdio>

namespace filch::runtime::profile {
namespace {

constexpr unsigned k_most_lines = 30;

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
  sum.off_by = std::max(sum.off_by, f.off_by);
}

void add(place_line& sum, place const& p, spans const& path) {
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

void add(summary& to, regions const& parts) {
  for (region const& r : parts.all()) {
    region& sum = to.regions[r.name];
    profile::add(sum.sum, r.sum);
    sum.calls += r.calls;
  }
}

double seconds_of_measuring = 0;

struct sums {
  summary all;
  std::map<code, place_line> lines;
};

std::vector<place_line> sorted(sums& s) {
  std::vector<place_line> lines;
  for (auto& [task, each] : s.lines) {
    each.faster += s.all.all.path.span;
    // An empty task may have taken less time than is taken off for the clock reads.
    for (cycles* const of : {&each.of.own, &each.of.work, &each.of.span, &each.of.burdened})
      *of = std::max<cycles>(*of, 0);
    lines.push_back(each);
  }
  std::sort(lines.begin(), lines.end(),
            [](place_line const& a, place_line const& b) { return a.of.work > b.of.work; });
  if (lines.size() > k_most_lines) {
    s.all.left_out = lines.size() - k_most_lines;
    lines.resize(k_most_lines);
  }
  std::vector<place const*> places;
  for (auto const& each : lines) places.push_back(&each.of);
  auto const at = source_lines_of(places);
  for (std::size_t i = 0; i < at.size(); ++i) lines[i].at = at[i];
  return lines;
}

}  // namespace

double ratio(cycles work, cycles span) noexcept {
  return span > 0 ? std::max(1.0, static_cast<double>(work) / static_cast<double>(span)) : 1.0;
}

char const* name_of_burden(unsigned number) noexcept {
  char const* const names[] = {calibrated.steal_is_measured ? "measured here" : "assumed", "Wool's", "Cilkscale's"};
  return names[number];
}

double uncertain_ms(summary const& s, std::uint64_t segments) noexcept {
  // Costs change between the checks, too.
  constexpr double k_margin = 2;
  double const of_segment = k_margin * std::max(calibrated.uncertain, s.all.off_by);
  return of_segment / calibrated.cycles_per_ns / 1e6 * static_cast<double>(segments);
}

void not_of_the_program(double seconds) noexcept { seconds_of_measuring += seconds; }

std::vector<std::pair<std::string, std::string>> notes_of(summary const& s) {
  std::vector<std::pair<std::string, std::string>> notes;
  auto const add = [&](char const* name, char const* format, auto... values) {
    char text[200];
    std::snprintf(text, sizeof(text), format, values...);
    notes.emplace_back(name, text);
  };
  auto const& all = s.all;
  add("outside pools", "%14.3f ms of processor time, not in these figures", s.outside_ms);
  if (all.preempted > 0) add("preempted", "%14.3f ms, taken out", ms(all.preempted));
  if (all.stays)
    add("in order", "%14.3f ms in %" PRIu64 " stays, whose forks run in order", ms(all.in_stays), all.stays);
  if (all.no_room) add("in order", "%14" PRIu64 " forks found no room for their task", all.no_room);
  if (s.missing) add("not counted", "%14u threads that are in a run still", s.missing);
  if (s.left_out) add("not shown", "%14zu places with less work", s.left_out);
  if (s.has_others) add("not told apart", "%14s", "there are more places than a thread keeps apart");
  if (s.coarse)
    add("fork tree", "%14" PRIu64 " tasks are in it as ones unlike them, for the limit of its memory", s.coarse);
  if (s.threads.size() < 2) return notes;
  for (auto const& each : s.threads) {
    add("a thread", "%14.6f ms of work, span %.6f ms, parallelism at least %.1f, %" PRIu64 " runs", ms(each.work),
        ms(each.path.span), ratio(each.work, each.path.span), each.runs);
  }
  return notes;
}

summary sum_up() {
  sums s;
  s.all.missing = each_record(
      [](record const& r, void* p) {
        auto& to = *static_cast<sums*>(p);
        auto const f = r.so_far();
        if (f.runs == 0) return;
        to.all.threads.push_back(f);
        add(to.all.all, f);
        for (unsigned i = 0; i < r.places().number(); ++i) add(to.lines[r.places()[i].task], r.places()[i], f.path);
        add(to.all, r.parts());
        to.all.coarse += r.tree().coarse();
        to.all.has_others = to.all.has_others || r.places().has_others();
      },
      &s);
  double const outside = process_time() - seconds_of_measuring - s.all.all.seconds_in_runs;
  s.all.outside_ms = std::max(0.0, outside) * 1e3;
  s.all.places = sorted(s);
  return std::move(s.all);
}

}  // namespace filch::runtime::profile

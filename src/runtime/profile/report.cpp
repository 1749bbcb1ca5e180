// Prints what all threads measured: a table for people, or comma-separated values. The process calls it when it ends;
// summary.cpp adds up.
#include "runtime/profile/report.hpp"

#include "runtime/page.hpp"
#include "runtime/profile/page.hpp"
#include "runtime/profile/summary.hpp"

#include <algorithm>
#include <charconv>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

namespace filch::runtime::profile {
namespace {

std::string& target() {
  static auto* const t = new std::string;
  return *t;
}
void print_totals(std::FILE* to, summary const& t) {
  auto const& all = t.all;
  std::fprintf(to, "filch: work and span of %" PRIu64 " runs on %zu threads, with %" PRIu64 " forks\n", all.runs,
               t.threads.size(), all.forks);
  std::fprintf(to, "%14s %14.6f ms +- %.6f\n", "work", ms(all.work), uncertain_ms(t, all.segments));
  std::fprintf(to, "%14s %14.6f ms +- %.6f\n", "span", ms(all.path.span), uncertain_ms(t, all.path.segments));
  std::fprintf(to, "%14s %14.1f at least\n", "parallelism", ratio(all.work, all.path.span));
  for (unsigned i = 0; i < k_burdens; ++i) {
    std::fprintf(to, "%14s %14.6f ms, parallelism at least %.1f, with %" PRId64 " cycles a steal (%s)\n",
                 "burdened span", ms(all.path.burdened[i]), ratio(all.work, all.path.burdened[i]),
                 static_cast<std::int64_t>(calibrated.burdens[i]), name_of_burden(i));
  }
  for (auto const& [name, text] : notes_of(t)) std::fprintf(to, "%14s %s\n", name.c_str(), text.c_str());
}

void print_regions(std::FILE* to, summary const& t) {
  if (t.regions.empty()) return;
  std::fprintf(to, "%-26s %10s %10s %12s %12s %11s %s\n", "region", "calls", "forks", "work ms", "span ms",
               "parallelism", "burdened");
  for (auto const& [name, r] : t.regions) {
    std::fprintf(to, "%-26.26s %10" PRIu64 " %10" PRIu64 " %12.6f %12.6f %11.1f %.1f\n", name.c_str(), r.calls,
                 r.sum.forks, ms(r.sum.work), ms(r.sum.span), ratio(r.sum.work, r.sum.span),
                 ratio(r.sum.work, r.sum.burdened));
  }
}

void print_lines(std::FILE* to, summary const& t) {
  if (t.places.empty()) return;
  std::fprintf(to, "%-26s %-26s %10s %12s %12s %11s %7s %8s %s\n", "join at", "task at", "forks", "work ms",
               "span ms", "parallelism", "small", "of span", "program's parallelism, were this twice as fast");
  for (auto const& each : t.places) {
    std::fprintf(to, "%-26.26s %-26.26s %10" PRIu64 " %12.6f %12.6f %11.1f %6.0f%%", each.at.join.c_str(),
                 each.at.task.c_str(), each.of.forks, ms(each.of.work), ms(each.of.span),
                 ratio(each.of.work, each.of.span),
                 100 * static_cast<double>(each.of.small) / static_cast<double>(each.of.forks));
    if (each.has_path) {
      std::fprintf(to, " %7.0f%% %.1f\n",
                   100 * static_cast<double>(each.share) / static_cast<double>(t.all.path.span),
                   parallelism_if_faster(t, each));
    } else {
      std::fprintf(to, " %8s -\n", "-");
    }
  }
}

/// With a point, whatever the program's locale has.
void print_value(std::FILE* to, int digits, double x) {
  char text[400];
  auto const end = std::to_chars(text, text + sizeof(text), x, std::chars_format::fixed, digits);
  std::fprintf(to, ",%.*s", static_cast<int>(end.ptr - text), text);
}
/// A tag may have no character that ends a field, or begins one in quotes.
void print_values_row(std::FILE* to, std::string tag, cycles work, cycles span, cycles burdened) {
  std::replace_if(tag.begin(), tag.end(), [](char c) { return c == ',' || c == '"' || c == '\n' || c == '\r'; }, ';');
  std::fputs(tag.c_str(), to);
  print_value(to, 9, calibrated.seconds(work));
  print_value(to, 9, calibrated.seconds(span));
  print_value(to, 3, ratio(work, span));
  print_value(to, 9, calibrated.seconds(burdened));
  print_value(to, 3, ratio(work, burdened));
  std::fputc('\n', to);
}

/// The columns of Cilkscale. The row without a tag is the program.
void print_values(std::FILE* to, summary const& t) {
  std::fprintf(to, "tag,work (seconds),span (seconds),parallelism,burdened_span (seconds),burdened_parallelism\n");
  for (auto const& each : t.places) {
    print_values_row(to, each.at.join == "-" ? each.at.task : each.at.join, each.of.work, each.of.span,
                     each.of.burdened);
  }
  for (auto const& [name, r] : t.regions) {
    print_values_row(to, name, r.sum.work, r.sum.span, r.sum.burdened);
  }
  print_values_row(to, "", t.all.work, t.all.path.span, t.all.path.burdened.back());
}

void print_table(std::FILE* to, summary const& t) {
  print_totals(to, t);
  print_lines(to, t);
  print_regions(to, t);
}

/// False: not all of it was written.
bool write_file(std::string const& name, summary const& t) {
  // A page takes some time. Until it is there, the file keeps what is in it.
  char* text = nullptr;
  std::size_t bytes = 0;
  std::FILE* const memory = open_memstream(&text, &bytes);
  if (!memory) return false;
  if (name.ends_with(".csv")) {
    print_values(memory, t);
  } else if (name.ends_with(".html")) {
    print_page(memory, t);
  } else {
    print_table(memory, t);
  }
  bool const is_whole = std::fclose(memory) == 0;
  std::unique_ptr<char, decltype(&std::free)> const owner(text, std::free);
  std::FILE* const to = is_whole ? std::fopen(name.c_str(), "w") : nullptr;
  if (!to) return false;
  bool const is_written = std::fwrite(text, 1, bytes, to) == bytes;
  return std::fclose(to) == 0 && is_written;
}

}  // namespace

void report_goes_to(char const* name) { target() = name_of_report(name); }

void report() {
  summary const t = sum_up();
  if (t.threads.empty() && t.missing == 0) return;
  if (is_console(target())) return print_table(stderr, t);
  std::string const name = name_of_own_report(target());
  if (write_file(name, t)) return;
  std::fprintf(stderr, "filch: FILCH_PROFILE=%s: can't write to this file; the report follows\n", name.c_str());
  print_table(stderr, t);
}

}  // namespace filch::runtime::profile

// The text of the short table: heads, cells, legend and conclusion (short_table.hpp). measure_short.cpp calls it.
#include "short_table.hpp"

#include "statistics.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

namespace bench {
namespace {

constexpr std::string_view k_green = "\033[32m";
constexpr std::string_view k_red = "\033[31m";
constexpr std::string_view k_plain = "\033[0m";

comparison compare(short_cell const& mine, short_cell const& other) {
  if (mine.seconds == 0 || other.seconds == 0) return comparison::unknown;
  if (mine.speedup > other.speedup * (1 + k_equal)) return comparison::faster;
  if (mine.speedup < other.speedup * (1 - k_equal)) return comparison::slower;
  return comparison::equal;
}

std::string cell_text(short_cell const& c) {
  if (c.seconds == 0) return fmt::format("{:>15}", "-");
  std::string const time = (c.is_estimate ? "~" : "") + duration_text(c.seconds);
  return fmt::format("{:>8} {:>6}", time + (c.has_fewer_turns ? "'" : ""), speedup_text(c.speedup) + "x");
}

std::string coloured(std::string const& text, comparison c) {
  if (c == comparison::faster) return fmt::format("{}{}{}", k_green, text, k_plain);
  if (c == comparison::slower) return fmt::format("{}{}{}", k_red, text, k_plain);
  return text;
}

/// Numbers of the rows in which both columns are measured.
struct counts {
  unsigned all = 0;
  unsigned faster = 0;
  unsigned equal = 0;
  unsigned slower = 0;
};
counts count(short_table const& t, std::size_t mine, std::size_t peer) {
  counts n;
  for (short_row const& r : t.rows) {
    comparison const c = compare(r.cells[mine], r.cells[peer]);
    n.all += c != comparison::unknown;
    n.faster += c == comparison::faster;
    n.equal += c == comparison::equal;
    n.slower += c == comparison::slower;
  }
  return n;
}

std::string against_peer(short_table const& t, std::size_t mine, std::size_t peer) {
  short_column const& c = t.columns[mine];
  counts const n = count(t, mine, peer);
  if (n.all == 0) return "";
  return fmt::format(
      "On {} {} is faster than {} on {} of {} workloads, equal (within {:.0f}%) on {}, slower on {}.\n",
      workers_text(c.workers), c.title, t.columns[peer].title, n.faster, n.all, 100 * k_equal, n.equal, n.slower);
}

std::optional<double> mean_speedup(short_table const& t, std::size_t column) {
  std::vector<double> all;
  for (short_row const& r : t.rows) {
    if (r.cells[column].seconds > 0) all.push_back(r.cells[column].speedup);
  }
  return all.empty() ? std::nullopt : std::optional(geometric_mean(all));
}

std::optional<double> mean_limit(short_table const& t) {
  std::vector<double> all;
  for (short_row const& r : t.rows) {
    if (r.limit > 0) all.push_back(r.limit);
  }
  return all.empty() ? std::nullopt : std::optional(geometric_mean(all));
}

std::string against_serial(short_table const& t, std::size_t column) {
  short_column const& c = t.columns[column];
  auto const mean = mean_speedup(t, column);
  if (!mean) return "";
  if (c.workers == 1)
    return fmt::format("On 1 worker {} takes {:.2f} times as long as the serial program.\n", c.title, 1 / *mean);
  std::string text =
      fmt::format("On {} {} is {:.2f} times as fast as the serial program", workers_text(c.workers), c.title, *mean);
  auto const limit = mean_limit(t);
  if (limit && c.workers == most_workers(t.columns))
    text += fmt::format("; this machine allows {:.2f} times", *limit);
  return text + ".\n";
}

/// A sentence if other programs leave little to gain; else empty.
std::string about_machine(short_table const& t) {
  constexpr double k_least_part = 0.75;
  unsigned const workers = most_workers(t.columns);
  auto const limit = mean_limit(t);
  if (!limit || *limit >= k_least_part * workers) return "";
  return fmt::format("This machine gave {:.2f} in place of {} processors. Do other programs run on it?\n", *limit,
                     workers);
}

bool has_limit(std::vector<short_column> const& columns) { return most_workers(columns) > 1; }

}  // namespace

std::string duration_text(double seconds) {
  if (seconds < 9.995e-3) return fmt::format("{:.2f} ms", seconds * 1e3);
  if (seconds < 0.9995) return fmt::format("{:.0f} ms", seconds * 1e3);
  if (seconds < 9.995) return fmt::format("{:.2f} s", seconds);
  return fmt::format("{:.0f} s", seconds);
}

std::string speedup_text(double speedup) {
  if (speedup < 0.0995) return fmt::format("{:.3f}", speedup);
  if (speedup < 99.5) return fmt::format("{:.2f}", speedup);
  return fmt::format("{:.0f}", speedup);
}

unsigned most_workers(std::vector<short_column> const& columns) {
  unsigned most = 1;
  for (short_column const& c : columns) most = std::max(most, c.workers);
  return most;
}

std::string workers_text(unsigned workers) { return workers == 1 ? "1 worker" : fmt::format("{} workers", workers); }

comparison compare(std::vector<short_column> const& columns, short_row const& r, std::size_t column) {
  comparison worst = comparison::unknown;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (!columns[i].is_peer || columns[i].workers != columns[column].workers) continue;
    worst = std::max(worst, compare(r.cells[column], r.cells[i]));
  }
  return worst;
}

std::string short_head(std::vector<short_column> const& columns) {
  std::string titles = fmt::format("{:<18} {:>8}", "", "");
  std::string second = fmt::format("{:<18} {:>8}", "workload", "serial");
  for (short_column const& c : columns) {
    titles += fmt::format("{:>15}", c.title);
    second += fmt::format("{:>15}", workers_text(c.workers));
  }
  if (has_limit(columns)) second += fmt::format("{:>7}", "limit");
  return titles + "\n" + second + "\n";
}

std::string short_line(std::vector<short_column> const& columns, short_row const& r, bool with_colours) {
  std::string line = fmt::format("{:<18} {:>8}", r.workload, duration_text(r.serial_seconds));
  for (std::size_t i = 0; i < columns.size(); ++i) {
    std::string const text = cell_text(r.cells[i]);
    line += with_colours && !columns[i].is_peer ? coloured(text, compare(columns, r, i)) : text;
  }
  if (has_limit(columns)) line += fmt::format("{:>7}", r.limit > 0 ? speedup_text(r.limit) + "x" : "-");
  return line + "\n";
}

std::string short_legend(short_table const& t, bool with_colours) {
  std::string text = "x: times as fast as the serial program.";
  if (has_limit(t.columns))
    text += fmt::format(" limit: {} copies of the serial program, side by side.", most_workers(t.columns));
  text += "\n";
  if (!t.remark.empty()) text += t.remark + "\n";
  bool const has_peer =
      std::any_of(t.columns.begin(), t.columns.end(), [](short_column const& c) { return c.is_peer; });
  if (with_colours && has_peer)
    text += fmt::format("{}Green{}: faster than every peer. {}Red{}: slower than a peer.\n", k_green, k_plain, k_red,
                        k_plain);
  bool const has_fewer_turns = std::any_of(t.rows.begin(), t.rows.end(), [](short_row const& r) {
    return std::any_of(r.cells.begin(), r.cells.end(), [](short_cell const& c) { return c.has_fewer_turns; });
  });
  if (has_fewer_turns) text += "': of fewer turns, since the peer takes seconds.\n";
  for (short_column const& c : t.columns) {
    if (c.scheduler.empty()) text += fmt::format("-: {} was not found when filch-bench was built.\n", c.title);
  }
  return text;
}

std::string short_conclusion(short_table const& t) {
  std::string text;
  for (std::size_t i = 0; i < t.columns.size(); ++i) {
    if (t.columns[i].is_peer) continue;
    text += against_serial(t, i);
    for (std::size_t p = 0; p < t.columns.size(); ++p) {
      if (t.columns[p].is_peer && t.columns[p].workers == t.columns[i].workers) text += against_peer(t, i, p);
    }
  }
  return text + about_machine(t);
}

bool colours_are_wanted() {
  char const* const no_colour = std::getenv("NO_COLOR");
  return isatty(STDOUT_FILENO) && !(no_colour && *no_colour);
}

}  // namespace bench

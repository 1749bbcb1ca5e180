// Prints tables and figures, and writes sections of docs/papers.md. See report.hpp.
#include "report.hpp"

#include "../request.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>

namespace bench::papers {
namespace {

std::string_view word_of(source s) {
  switch (s) {
    case source::paper: return "paper";
    case source::measured: return "measured";
    case source::predicted: break;
  }
  return "predicted";
}

std::string_view word_of(claim::result r) {
  switch (r) {
    case claim::result::repeated: return "repeated";
    case claim::result::not_repeated: return "not repeated";
    case claim::result::not_repeatable: break;
  }
  return "not repeatable here";
}

/// The first column is text, the others are numbers.
void print_rows(std::vector<std::vector<std::string>> const& rows) {
  std::vector<std::size_t> widths;
  for (auto const& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  for (auto const& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i)
      line += i == 0 ? fmt::format("  {:<{}}", row[i], widths[i]) : fmt::format("  {:>{}}", row[i], widths[i]);
    fmt::print("{}\n", line.erase(line.find_last_not_of(' ') + 1));
  }
}

}  // namespace

std::string digits(double x, int n) {
  if (x == 0 || !std::isfinite(x)) return x == 0 ? "0" : "-";
  int const before = static_cast<int>(std::floor(std::log10(std::abs(x)))) + 1;
  return fmt::format("{:.{}f}", x, std::clamp(n - before, 0, 6));
}

void report::add(table const& t) {
  for (auto const& row : t.rows) {
    if (row.size() != t.columns.size()) throw std::logic_error("a row of other columns: " + t.title);
  }
  fmt::print("\n{}\n", t.title);
  std::vector<std::vector<std::string>> rows{t.columns};
  rows.insert(rows.end(), t.rows.begin(), t.rows.end());
  print_rows(rows);
  if (!t.note.empty()) fmt::print("  {}\n", t.note);
  std::fflush(stdout);
}

void report::add(figure f) {
  fmt::print("\n{}\n", f.title);
  std::vector<double> xs;
  for (series const& s : f.lines) {
    for (auto const& [x, y] : s.points) xs.push_back(x);
  }
  std::sort(xs.begin(), xs.end());
  xs.erase(std::unique(xs.begin(), xs.end()), xs.end());
  std::vector<std::vector<std::string>> rows{{fmt::format("{} by {}", f.y, f.x), ""}};
  for (double const x : xs) rows[0].push_back(digits(x, 4));
  for (series const& s : f.lines) {
    std::map<double, double> const at(s.points.begin(), s.points.end());
    auto& row = rows.emplace_back(std::vector{s.label, std::string(word_of(s.from))});
    for (double const x : xs) row.push_back(at.contains(x) ? digits(at.at(x)) : "");
  }
  print_rows(rows);
  std::fflush(stdout);
  figures_.push_back(std::move(f));
}

void report::add(claim c) {
  fmt::print("\n{}: {}\n  theirs: {}\n  ours: {}\n", c.item, word_of(c.outcome), c.theirs, c.ours);
  if (!c.why.empty()) fmt::print("  {}\n", c.why);
  std::fflush(stdout);
  claims_.push_back(std::move(c));
}

void report::write_drawings(std::string const& folder) const {
  for (figure const& f : figures_) {
    std::string const name = fmt::format("{}/{}-{}.svg", folder, name_, f.file);
    auto file = opened(name);
    write(file, name, drawing(f));
  }
}

std::string report::section() const {
  std::string text = fmt::format("## {}\n\n    filch-bench paper {}\n\n", citation_, name_);
  text += "| | theirs | ours | |\n|---|---|---|---|\n";
  for (claim const& c : claims_) {
    text += fmt::format("| {} | {} | {} | {}{} |\n", c.item, c.theirs, c.ours, word_of(c.outcome),
                        c.why.empty() ? "" : ": " + c.why);
  }
  return text;
}

// A section begins with "## " and ends before the next one.
void report::write_section(std::string const& page) const {
  std::string before;
  std::string after;
  bool is_there = false;
  bool is_inside = false;
  std::ifstream in(page);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("## ")) {
      is_inside = line == "## " + citation_;
      is_there = is_there || is_inside;
    }
    if (!is_inside) (is_there ? after : before) += line + '\n';
  }
  in.close();
  if (!before.empty() && !before.ends_with("\n\n")) before += '\n';
  auto out = opened(page);
  write(out, page, before + section() + (after.empty() ? "" : "\n" + after));
}

}  // namespace bench::papers

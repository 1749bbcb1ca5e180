// Writes the page of html_page.hpp: text and bars as HTML, with a style of its own and no scripts. measure_short.cpp
// calls it.
#include "html_page.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace bench {
namespace {

constexpr std::string_view k_style =
    R"(:root { color-scheme: light dark; --bar: #98a1ad; --mine: #2f6fb0; --line: #c8c8c8; }
@media (prefers-color-scheme: dark) { :root { --bar: #6b7480; --mine: #6aa7e6; --line: #555; } }
body { font: 15px/1.45 sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.4rem; }
h2 { font-size: 1rem; margin: 1.4rem 0 .3rem; }
.row { display: grid; grid-template-columns: 10rem 1fr 9rem; gap: .6rem; align-items: center; }
.track { position: relative; height: 1rem; border-left: 1px solid var(--line); }
.bar { height: 100%; background: var(--bar); }
.mine { background: var(--mine); }
.limit { position: absolute; top: -2px; bottom: -2px; border-left: 2px dashed currentColor; }
)";

std::string escaped(std::string_view text) {
  std::string safe;
  for (char const c : text) {
    switch (c) {
      case '&': safe += "&amp;"; break;
      case '<': safe += "&lt;"; break;
      case '>': safe += "&gt;"; break;
      case '"': safe += "&quot;"; break;
      case '\n': safe += "<br>\n"; break;
      default: safe += c;
    }
  }
  return safe;
}

/// The speed-up that fills the width.
double widest(short_row const& r) {
  double most = std::max(1.0, r.limit);
  for (short_cell const& c : r.cells) most = std::max(most, c.speedup);
  return most;
}

std::string bar(short_column const& c, short_cell const& cell, short_row const& r, unsigned most_workers) {
  std::string const name = escaped(fmt::format("{}, {}", c.title, workers_text(c.workers)));
  if (cell.seconds == 0)
    return fmt::format("<div class=\"row\"><span>{}</span><span>not measured</span></div>\n", name);
  double const percent = 100 / widest(r);
  std::string limit;
  if (c.workers > 1 && c.workers == most_workers && r.limit > 0)
    limit = fmt::format("<div class=\"limit\" style=\"left:{:.1f}%\"></div>", percent * r.limit);
  return fmt::format(
      "<div class=\"row\"><span>{}</span><div class=\"track\"><div class=\"bar{}\" style=\"width:{:.1f}%\"></div>{}"
      "</div><span>{}x, {}{}</span></div>\n",
      name, c.is_peer ? "" : " mine", percent * cell.speedup, limit, speedup_text(cell.speedup),
      cell.is_estimate ? "~" : "", duration_text(cell.seconds));
}

std::string chart(short_table const& t, short_row const& r) {
  std::string text = fmt::format("<h2>{} (serial: {})</h2>\n", escaped(r.workload), duration_text(r.serial_seconds));
  for (std::size_t i = 0; i < t.columns.size(); ++i)
    text += bar(t.columns[i], r.cells[i], r, most_workers(t.columns));
  return text;
}

}  // namespace

std::string html_page(short_table const& t) {
  std::string page = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" "
      "content=\"width=device-width\">\n<title>filch-bench</title>\n<style>\n{}</style>\n</head>\n"
      "<body>\n<h1>filch-bench</h1>\n<p>{}</p>\n<p>{}</p>\n"
      "<p>Bars show how many times as fast as the serial program a run was: longer is better. The dashed line is the "
      "limit, copies of the serial program side by side. {}</p>\n",
      k_style, escaped(t.machine), escaped(short_conclusion(t)), escaped(t.remark));
  for (short_row const& r : t.rows) page += chart(t, r);
  return page + "</body>\n</html>\n";
}

}  // namespace bench

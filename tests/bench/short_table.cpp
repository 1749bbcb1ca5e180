// The text of filch-bench's short table and its page, over invented figures: bench/short_table.hpp,
// bench/html_page.hpp.
#include "short_table.hpp"
#include "html_page.hpp"

#include <gtest/gtest.h>
#include <sstream>

namespace {

using bench::comparison;
using bench::short_column;
using bench::short_row;
using bench::short_table;

std::vector<short_column> const k_columns = {{"Filch", "direct", 1, false},
                                             {"Filch", "direct", 2, false},
                                             {"oneTBB", "onetbb", 2, true},
                                             {"OpenMP", "openmp-gcc", 2, true}};

/// The serial program takes 200 ms. A speed-up of 0 is a cell that was not measured.
short_row row(std::string name, std::vector<double> const& speedups) {
  short_row r{std::move(name), 0.2, {}, 1.9};
  for (double const s : speedups) r.cells.push_back({s > 0 ? 0.2 / s : 0, s, false});
  return r;
}

short_table table() {
  short_row first = row("fib=40", {0.8, 1.6, 0.04, 0.004});
  first.cells[2].is_estimate = first.cells[3].is_estimate = true;
  return {"Filch on two processors",
          k_columns,
          {first, row("rows=100:together", {1, 1.9, 1.91, 1.9}), row("uts=T1", {0.8, 1.6, 1.7, 0})},
          "~: estimated from fib=32."};
}

std::vector<std::string> lines_of(std::string const& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}
bool has(std::string const& text, std::string_view part) { return text.find(part) != std::string::npos; }
unsigned count(std::string const& text, std::string_view part) {
  unsigned n = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != text.npos; ++at) ++n;
  return n;
}

TEST(short_table_text, has_lines_of_a_hundred_characters_at_most) {
  short_table const t = table();
  std::string text = bench::short_head(t.columns) + bench::short_legend(t, false) + bench::short_conclusion(t);
  for (short_row const& r : t.rows) text += bench::short_line(t.columns, r, false);
  for (std::string const& line : lines_of(text)) EXPECT_LE(line.size(), 100u) << line;
}

TEST(short_table_text, lines_up_heads_and_cells) {
  short_table const t = table();
  std::string const head = lines_of(bench::short_head(t.columns)).at(1);
  for (short_row const& r : t.rows)
    EXPECT_EQ(bench::short_line(t.columns, r, false).size(), head.size() + 1) << r.workload;
}

TEST(short_table_text, shows_times_and_speedups) {
  short_table const t = table();
  std::string const line = bench::short_line(t.columns, t.rows[0], false);
  EXPECT_EQ(line.substr(0, 27), "fib=40               200 ms") << line;
  EXPECT_TRUE(has(line, "  250 ms  0.80x  125 ms  1.60x ~5.00 s 0.040x   ~50 s 0.004x  1.90x\n")) << line;
}

TEST(short_table_text, shows_a_dash_for_a_cell_that_was_not_measured) {
  short_table const t = table();
  EXPECT_TRUE(has(bench::short_line(t.columns, t.rows[2], false), "1.70x              -  1.90x\n"));
}

TEST(short_table_text, has_no_limit_on_one_worker) {
  std::vector<short_column> const columns(k_columns.begin(), k_columns.begin() + 1);
  short_row const r = row("fib=40", {0.8});
  EXPECT_FALSE(has(bench::short_head(columns), "limit"));
  EXPECT_TRUE(has(bench::short_line(columns, r, false), "0.80x\n"));
}

TEST(short_table_text, keeps_three_digits) {
  EXPECT_EQ(bench::duration_text(0.00123), "1.23 ms");
  EXPECT_EQ(bench::duration_text(0.00999), "9.99 ms");
  EXPECT_EQ(bench::duration_text(0.0099999), "10 ms");
  EXPECT_EQ(bench::duration_text(0.99951), "1.00 s");
  EXPECT_EQ(bench::duration_text(57.1), "57 s");
  EXPECT_EQ(bench::speedup_text(0.0312), "0.031");
  EXPECT_EQ(bench::speedup_text(0.0996), "0.10");
  EXPECT_EQ(bench::speedup_text(123.4), "123");
}

TEST(short_table_comparison, is_with_all_peers_on_as_many_workers) {
  short_table const t = table();
  EXPECT_EQ(compare(t.columns, t.rows[0], 0), comparison::unknown);
  EXPECT_EQ(compare(t.columns, t.rows[0], 1), comparison::faster);
  EXPECT_EQ(compare(t.columns, t.rows[1], 1), comparison::equal);
  EXPECT_EQ(compare(t.columns, t.rows[2], 1), comparison::slower);
}

TEST(short_table_comparison, is_slower_where_one_peer_is_faster) {
  EXPECT_EQ(compare(k_columns, row("fib=40", {1, 1.6, 0.5, 1.9}), 1), comparison::slower);
  EXPECT_EQ(compare(k_columns, row("fib=40", {1, 1.6, 1.9, 0.5}), 1), comparison::slower);
}

TEST(short_table_colours, are_only_on_request) {
  short_table const t = table();
  EXPECT_FALSE(has(bench::short_line(t.columns, t.rows[0], false), "\033"));
  EXPECT_FALSE(has(bench::short_legend(t, false), "\033"));
  EXPECT_TRUE(has(bench::short_line(t.columns, t.rows[0], true), "\033[32m  125 ms  1.60x\033[0m"));
  EXPECT_FALSE(has(bench::short_line(t.columns, t.rows[1], true), "\033"));
  EXPECT_TRUE(has(bench::short_line(t.columns, t.rows[2], true), "\033[31m"));
}

TEST(short_table_colours, are_left_out_in_a_file) {
  ::testing::internal::CaptureStdout();  // a file from here on
  bool const wanted = bench::colours_are_wanted();
  ::testing::internal::GetCapturedStdout();
  EXPECT_FALSE(wanted);
}

TEST(short_table_legend, names_peers_that_are_missing) {
  short_table t = table();
  EXPECT_FALSE(has(bench::short_legend(t, false), "not found"));
  t.columns[3].scheduler = "";
  EXPECT_TRUE(has(bench::short_legend(t, false), "-: OpenMP was not found when filch-bench was built.\n"));
}

TEST(short_table_legend, explains_estimates) {
  short_table t = table();
  EXPECT_TRUE(has(bench::short_legend(t, false), "~: estimated from fib=32.\n"));
  t.remark = "";
  EXPECT_FALSE(has(bench::short_legend(t, false), "~"));
}

TEST(short_table_legend, explains_cells_of_fewer_turns) {
  short_table t = table();
  EXPECT_FALSE(has(bench::short_legend(t, false), "turns"));
  t.rows[2].cells[2].has_fewer_turns = true;
  EXPECT_TRUE(has(bench::short_legend(t, false), "': of fewer turns, since the peer takes seconds.\n"));
  EXPECT_TRUE(has(bench::short_line(t.columns, t.rows[2], false), " 118 ms'  1.70x "));
}

TEST(short_table_conclusion, counts_workloads) {
  std::vector<std::string> const lines = lines_of(bench::short_conclusion(table()));
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[0], "On 1 worker Filch takes 1.16 times as long as the serial program.");
  EXPECT_EQ(lines[1],
            "On 2 workers Filch is 1.69 times as fast as the serial program; this machine allows 1.90 times.");
  EXPECT_EQ(lines[2],
            "On 2 workers Filch is faster than oneTBB on 1 of 3 workloads, equal (within 5%) on 1, slower on 1.");
  EXPECT_EQ(lines[3],
            "On 2 workers Filch is faster than OpenMP on 1 of 2 workloads, equal (within 5%) on 1, slower on 0.");
}

TEST(short_table_conclusion, says_nothing_of_a_peer_that_is_missing) {
  short_table t = table();
  for (short_row& r : t.rows) r.cells[2] = {};
  EXPECT_FALSE(has(bench::short_conclusion(t), "oneTBB"));
}

TEST(short_table_conclusion, says_that_the_machine_is_busy) {
  short_table t = table();
  std::string const busy = "This machine gave 1.30 in place of 2 processors. Do other programs run on it?\n";
  EXPECT_FALSE(has(bench::short_conclusion(t), "This machine gave"));
  for (short_row& r : t.rows) r.limit = 1.3;
  EXPECT_TRUE(has(bench::short_conclusion(t), busy));
  for (short_row& r : t.rows) r.limit = 0;
  EXPECT_FALSE(has(bench::short_conclusion(t), "This machine gave"));
}

TEST(html_page, has_a_bar_for_each_cell_that_was_measured) {
  std::string const page = bench::html_page(table());
  EXPECT_EQ(count(page, "<div class=\"bar"), 11u);
  EXPECT_EQ(count(page, "<div class=\"bar mine\""), 6u);
  EXPECT_EQ(count(page, "not measured"), 1u);
  EXPECT_EQ(count(page, "<div class=\"limit\""), 8u);
}

TEST(html_page, has_the_limit_of_the_most_workers_only) {
  short_table t = table();
  for (short_column& c : t.columns) c.workers = c.workers == 1 ? 2 : 3;
  EXPECT_EQ(count(bench::html_page(t), "<div class=\"limit\""), 8u);
  EXPECT_EQ(bench::most_workers(t.columns), 3u);
}

TEST(html_page, draws_bars_in_proportion) {
  std::string const page = bench::html_page(table());  // in the row of fib the limit, 1.9, has the full width
  EXPECT_TRUE(
      has(page, "width:84.2%\"></div><div class=\"limit\" style=\"left:100.0%\"></div></div><span>1.60x, 125 ms"));
  EXPECT_TRUE(has(page, "<span>0.004x, ~50 s</span>"));
}

TEST(html_page, opens_and_closes_each_element) {
  std::string const page = bench::html_page(table());
  for (std::string const name : {"html", "head", "body", "style", "title", "h1", "h2", "div", "span", "p"})
    EXPECT_EQ(count(page, "<" + name + ">") + count(page, "<" + name + " "), count(page, "</" + name + ">")) << name;
}

TEST(html_page, escapes_text) {
  short_table t = table();
  t.rows[0].workload = "<b>&\"";
  std::string const page = bench::html_page(t);
  EXPECT_TRUE(has(page, "<h2>&lt;b&gt;&amp;&quot; (serial: 200 ms)</h2>"));
  EXPECT_FALSE(has(page, "<b>"));
}

TEST(html_page, loads_nothing) {
  std::string const page = bench::html_page(table());
  for (std::string_view const loads : {"<script", "<link", "<img", "@import", "url(", "http"})
    EXPECT_FALSE(has(page, loads)) << loads;
}

}  // namespace

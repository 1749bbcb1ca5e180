// FILCH_PROFILE on programs that know nothing of it. They have clocks and counters in their source and print what the
// profile should find.
#include "edges/browser.hpp"
#include "edges/process.hpp"
#include "scale.hpp"

#include <filch/config.hpp>

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <vector>

namespace filch_test {
namespace {

constexpr bool k_times_count = !is_sanitized;
#if defined(__clang__)
constexpr bool k_is_clang = true;
#else
constexpr bool k_is_clang = false;
#endif

/// The program's own figures, by name; a line that is no figure is in `text`.
struct printed {
  std::map<std::string, double> figures;
  std::string text;

  double operator[](char const* name) const {
    auto const found = figures.find(name);
    EXPECT_NE(found, figures.end()) << name;
    return found == figures.end() ? -1 : found->second;
  }
};

/// The program's lines, "name value", or the report's: its first words are the name, then the first number follows.
printed read(std::string const& text) {
  printed p;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::size_t const digit = line.find_first_of("0123456789");
    std::size_t const begin = line.find_first_not_of(' ');
    if (digit == std::string::npos || begin >= digit || line[begin] == '-') continue;
    // The work of a tiny program may be less than the error: then it may be negative.
    std::size_t const value = line.compare(digit - 1, 1, "-") == 0 ? digit - 1 : digit;
    std::size_t const end = line.find_last_not_of(' ', value - 1);
    p.figures.emplace(line.substr(begin, end - begin + 1), std::strtod(line.c_str() + value, nullptr));
    auto const error = line.find("+- ");
    if (error != std::string::npos) {
      p.figures.emplace("error of " + line.substr(begin, end - begin + 1),
                        std::strtod(line.c_str() + error + 3, nullptr));
    }
    auto const forks = line.find(" forks");
    if (line.find("work and span of") != std::string::npos && forks != std::string::npos) {
      p.figures.emplace("forks", std::strtod(line.c_str() + line.rfind(' ', forks - 1), nullptr));
    }
  }
  p.text = text;
  return p;
}

struct result {
  printed own;
  printed profile;
};

result profiled(char const* scenario, char const* argument = "0") {
  scratch_file report;
  auto const e = run_program(EDGE_PROGRAM, {scenario, argument}, {{"FILCH_PROFILE", report.path()}});
  EXPECT_EQ(e.exit_code, 0) << e;
  EXPECT_EQ(e.err, "") << e;
  return {read(e.out), read(report.text())};
}

/// Is `found` what the program says, to this part and the printed uncertainty?
bool is_near(result const& r, char const* name, double part) {
  double const expected = r.own[name];
  return std::abs(r.profile[name] - expected) <=
         part * expected + r.profile[(std::string("error of ") + name).c_str()];
}

/// The program's clocks see the same run. A few tries, since the system may take the time between two clock reads.
void expect_right_figures(char const* scenario) {
  constexpr int k_tries = 5;
  for (int i = 1; i <= k_tries; ++i) {
    auto const r = profiled(scenario);
    EXPECT_EQ(r.profile["forks"], r.own["forks"]) << r.profile.text;
    if (!k_times_count || (is_near(r, "work", 0.03) && is_near(r, "span", 0.05))) return;
    if (i == k_tries) ADD_FAILURE() << scenario << ": program\n" << r.own.text << "profile\n" << r.profile.text;
  }
}

TEST(profile, finds_work_and_span_of_a_tree) { expect_right_figures("profiled-tree"); }
TEST(profile, finds_work_and_span_of_an_uneven_tree) { expect_right_figures("profiled-uneven-tree"); }
TEST(profile, finds_work_and_span_of_nested_invoke) { expect_right_figures("profiled-invoke"); }
TEST(profile, finds_work_and_span_of_a_scope) { expect_right_figures("profiled-scope"); }
TEST(profile, sees_through_nested_pools) { expect_right_figures("profiled-nested-pools"); }
TEST(profile, counts_the_parts_of_a_stay_one_after_the_other) { expect_right_figures("profiled-stay"); }
TEST(profile, adds_up_what_two_threads_run) { expect_right_figures("profiled-threads"); }
TEST(profile, finds_work_and_span_of_channel) { expect_right_figures("profiled-channel"); }
TEST(profile, sees_through_a_pool_of_channel_in_one_of_direct) { expect_right_figures("profiled-channel-in-direct"); }
#if FILCH_HAS_CACTUS
TEST(profile, finds_work_and_span_of_cactus) { expect_right_figures("profiled-cactus"); }
TEST(profile, sees_through_a_pool_of_cactus_in_one_of_direct) { expect_right_figures("profiled-cactus-in-direct"); }
#endif

/// The program prints "at line work span" of each place.
void expect_right_places(char const* scenario) {
  SCOPED_TRACE(scenario);
  constexpr int k_tries = 5;
  for (int i = 1; i <= k_tries; ++i) {
    scratch_file unused;
    scratch_file const file{std::string(unused.path()) + ".csv"};
    auto const e = run_program(EDGE_PROGRAM, {scenario}, {{"FILCH_PROFILE", file.path()}});
    EXPECT_EQ(e.exit_code, 0) << e;
    std::string const values = file.text();
    std::istringstream own(e.out);
    std::string at;
    int line = 0;
    double work = 0;
    double span = 0;
    int places = 0;
    bool is_right = true;
    for (; own >> at >> line >> work >> span; ++places) {
      std::string const tag = "profiles.cpp:" + std::to_string(line) + ",";
      auto const row = values.find(tag);
      ASSERT_NE(row, std::string::npos) << tag << "\n" << values;
      std::istringstream figures(values.substr(row + tag.size()));
      double found_work = 0;
      double found_span = 0;
      char comma = 0;
      figures >> found_work >> comma >> found_span;
      is_right = is_right && std::abs(1e3 * found_work - work) <= 0.05 * work &&
                 std::abs(1e3 * found_span - span) <= 0.05 * span;
    }
    EXPECT_EQ(places, 3) << e;
    if (!k_times_count || is_right) return;
    if (i == k_tries) ADD_FAILURE() << "program\n" << e.out << "profile\n" << values;
  }
}

TEST(profile, tells_of_each_line_of_a_scope_s_tasks) {
  expect_right_places("profiled-places");
  expect_right_places("profiled-places-of-channel");
#if FILCH_HAS_CACTUS
  // GNU's addr2line misses some calls that Clang inlines: it finds the function around them.
  if (!k_is_clang || !(is_sanitized || FILCH_TEST_FORCED)) expect_right_places("profiled-places-of-cactus");
#endif
}

TEST(profile, tells_of_each_thread_and_of_stays) {
  auto const threads = profiled("profiled-threads").profile;
  EXPECT_NE(threads.text.find("on 2 threads"), std::string::npos) << threads.text;
  EXPECT_NE(threads.text.find("a thread"), std::string::npos) << threads.text;
  auto const stay = profiled("profiled-stay").profile;
  EXPECT_NE(stay.text.find("stays, whose forks run in order"), std::string::npos) << stay.text;
}

void expect_every_fork(char const* scenario) {
  SCOPED_TRACE(scenario);
  auto const r = profiled(scenario);
  EXPECT_EQ(r.profile["forks"], r.own["forks"]) << r.profile.text;
  EXPECT_EQ(r.own["fib"], 6765);
  EXPECT_EQ(r.own["tasks"], 10'000);
  EXPECT_EQ(r.own["iterations"], 3'000);
  EXPECT_GE(r.own["pieces"], 16) << "loops split";
  EXPECT_LE(r.own["pieces"], 2'047) << "but not to the last iteration";
  EXPECT_NE(r.own.text.find("threw leaf"), std::string::npos) << r.own.text;
}

TEST(profile, counts_every_fork_of_joins_scopes_loops_and_exceptions) {
  expect_every_fork("profiled-forks");
  expect_every_fork("profiled-forks-of-channel");
#if FILCH_HAS_CACTUS
  expect_every_fork("profiled-forks-of-cactus");
#endif
}

TEST(profile, tells_a_program_the_figures_of_its_parts) {
  constexpr int k_tries = 5;
  for (int i = 1; i <= k_tries; ++i) {
    auto const r = profiled("profiled-regions");
    auto const& p = r.own;
    EXPECT_EQ(p["measured"], 1);
    EXPECT_EQ(p["told forks"], p["forks"]);
    EXPECT_EQ(p["whole measured"], 1);
    EXPECT_EQ(p["whole forks"], p["forks"] + 3);
    EXPECT_EQ(p["nothing measured"], 0);
    EXPECT_EQ(p["nothing work"], 0);
    EXPECT_GE(p["told burdened span"], p["told span"]);
    // Its line of the report: calls, forks, work, span.
    EXPECT_EQ(r.profile["inner part"], 1) << r.profile.text;
    EXPECT_EQ(r.profile["recursion"], 4) << r.profile.text;
    EXPECT_EQ(r.profile["throws"], 1) << r.profile.text;
    auto const near = [](double a, double b, double part) { return std::abs(a - b) <= part * b; };
    bool const is_right = near(p["told work"], p["work"], 0.03) && near(p["told span"], p["span"], 0.05) &&
                          near(p["told parallelism"], p["told work"] / p["told span"], 1e-6) &&
                          near(p["whole work"], r.profile["work"], 0.01) && p["whole work"] > 1.1 * p["told work"];
    if (!k_times_count || is_right) return;
    if (i == k_tries) ADD_FAILURE() << p.text << r.profile.text;
  }
}

TEST(profile, runs_parts_of_a_program_where_it_is_off) {
  auto const e = run_program(EDGE_PROGRAM, {"profiled-regions"});
  EXPECT_EQ(e.exit_code, 0) << e;
  EXPECT_EQ(e.err, "") << e;
  auto const p = read(e.out);
  EXPECT_GT(p["work"], 0);
  EXPECT_EQ(p["measured"], 0);
  EXPECT_EQ(p["told work"], 0);
  EXPECT_EQ(p["told parallelism"], 1);
}

TEST(profile, says_that_tasks_may_wait_for_each_other) {
  auto const e = run_program(EDGE_PROGRAM, {"profiled-waiting"},
                             {{"FILCH_PROFILE", "/dev/null"}, {"FILCH_PROFILE_TIMEOUT", "1"}});
  EXPECT_EQ(e.exit_code, 0) << e;
  EXPECT_EQ(e.error_lines(), 1) << e;
  EXPECT_TRUE(e.says("no fork, join or end of a task for 1 s")) << e;
  EXPECT_EQ(e.out, "met 1\n") << "after f had given up";
  auto const refused = run_program(EDGE_PROGRAM, {"profiled-waiting"},
                                   {{"FILCH_PROFILE", "/dev/null"}, {"FILCH_PROFILE_TIMEOUT", "soon"}});
  EXPECT_TRUE(refused.says("FILCH_PROFILE_TIMEOUT=soon: expected a whole number")) << refused;
}

TEST(profile, finds_the_work_of_bodies_of_a_microsecond) {
  constexpr int k_tries = 20;
  constexpr double k_limit = is_optimised ? 0.03 : 0.1;  // else forks that are not inlined are work, too
  std::vector<double> ratios;  // within a process, since a host may change its speed between two of them
  for (int i = 0; i < k_tries; ++i) {
    auto const r = profiled("profiled-small-bodies", "1200");
    EXPECT_EQ(r.profile["forks"], r.own["forks"]) << r.profile.text;
    if (!k_times_count) return;
    ratios.push_back(r.profile["work"] / r.own["work"]);
    auto const middle = ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2);
    std::nth_element(ratios.begin(), middle, ratios.end());
    if (ratios.size() >= 3 && std::abs(*middle - 1) <= k_limit) return;
  }
  ADD_FAILURE() << "of what takes 1 in order, the profile found " << testing::PrintToString(ratios);
}

/// Where bodies take less than the hooks, the report says how little it knows.
TEST(profile, knows_how_uncertain_it_is_of_tiny_bodies) {
  // Hooks that are not optimised take longer than the report knows.
  constexpr bool k_hooks_count = k_times_count && is_optimised;
  constexpr int k_tries = k_hooks_count ? 10 : 1;
  int right = 0;
  std::string all;
  for (int i = 0; i < k_tries; ++i) {
    auto const r = profiled("profiled-small-bodies", "2");
    double const off = std::abs(r.profile["work"] - r.own["work"]);
    right += off <= r.profile["error of work"];
    all += std::to_string(r.profile["work"]) + " +- " + std::to_string(r.profile["error of work"]) + ", in order " +
           std::to_string(r.own["work"]) + "\n";
  }
  if (k_hooks_count) {
    EXPECT_GE(right, k_tries - 2) << all;
  }
}

TEST(profile, tells_of_forks_that_find_no_room) {
  auto const r = profiled("profiled-full-array");
  EXPECT_EQ(r.own["ran"], r.own["spawned"]);
  EXPECT_EQ(r.own["fib"], 55);
  EXPECT_NE(r.profile.text.find("forks found no room"), std::string::npos) << r.profile.text;
}

TEST(profile, keeps_the_number_of_workers_and_starts_no_thread) {
  scratch_file report;
  auto const with = run_program(EDGE_PROGRAM, {"profiled-workers", "7"},
                                {{"FILCH_PROFILE", report.path()}, {"FILCH_PROFILE_TIMEOUT", "0"}});
  auto const without = run_program(EDGE_PROGRAM, {"profiled-workers", "7"}, {{"FILCH_PROFILE", "0"}});
  EXPECT_EQ(read(with.out)["workers"], 7) << with;
  EXPECT_EQ(read(without.out)["workers"], 7) << without;
  EXPECT_EQ(read(with.out)["threads"], read(without.out)["threads"] - 6);
  if (k_times_count) {
    EXPECT_LT(read(report.text())["outside pools"], 100) << "ms: making a pool is quick, measured or not";
  }
  EXPECT_EQ(read(report.text())["forks"], 88);
}

TEST(profile, is_written_by_exit_in_a_task) {
  scratch_file report;
  auto const e = run_program(EDGE_PROGRAM, {"profiled-exit", "3"}, {{"FILCH_PROFILE", report.path()}});
  expect_quiet_end(e, 3, "");
  EXPECT_EQ(read(report.text())["forks"], 88) << report.text();
}

TEST(profile, predicts_nothing_of_a_run_that_has_not_ended) {
  scratch_file const unused;
  scratch_file const page{std::string(unused.path()) + ".html"};
  auto const e = run_program(EDGE_PROGRAM, {"profiled-exit", "3"}, {{"FILCH_PROFILE", page.path()}});
  expect_quiet_end(e, 3, "");
  EXPECT_NE(page.text().find("\"predicted\":[]"), std::string::npos) << page.text().substr(0, 2000);
}

TEST(profile, bears_scopes_in_scopes_that_fill_the_stack) {
  scratch_file report;
  auto const e = run_program(EDGE_PROGRAM, {"profiled-nested-scopes"}, {{"FILCH_PROFILE", report.path()}});
  EXPECT_EQ(e.exit_code, 0) << e;
  EXPECT_EQ(e.out,
            FILCH_HAS_CACTUS ? "direct right\nchannel right\ncactus right\n" : "direct right\nchannel right\n");
  EXPECT_GT(read(report.text())["forks"], 0) << report.text();
}

TEST(profile, says_how_many_places_it_leaves_out) {
  auto const r = profiled("profiled-many-places");
  EXPECT_EQ(r.own["sum"], 40 * 40);
  EXPECT_NE(r.profile.text.find(" 10 places with less work"), std::string::npos) << r.profile.text;
}

TEST(profile, says_how_coarse_its_fork_tree_is) {
  auto const r = profiled("profiled-long-scopes", "10");
  EXPECT_EQ(r.own["tasks"], 200'000);
  EXPECT_GT(r.profile["fork tree"], 100) << r.profile.text;
  EXPECT_NE(r.profile.text.find(" tasks are in it as ones unlike them"), std::string::npos) << r.profile.text;
  auto const exact = profiled("profiled-tree");
  EXPECT_EQ(exact.profile.text.find("fork tree"), std::string::npos) << exact.profile.text;
}

TEST(profile, measures_a_steal_in_no_pool_of_the_programs) {
  scratch_file report;
  auto const e =
      run_program(EDGE_PROGRAM, {"profiled-workers", "2"}, {{"FILCH_PROFILE", report.path()}, {"FILCH_STATS", "1"}});
  EXPECT_EQ(e.exit_code, 0) << e;
  std::size_t pools = 0;
  for (auto at = e.err.find("filch: pool "); at != std::string::npos; at = e.err.find("filch: pool ", at + 1))
    ++pools;
  EXPECT_EQ(pools, 1u) << e;
}

TEST(profile, has_nothing_of_a_child_of_fork) {
  scratch_file report;
  auto const e = run_program(EDGE_PROGRAM, {"profiled-fork"}, {{"FILCH_PROFILE", report.path()}});
  expect_quiet_end(e, 0, "parent 55\nchild 89\nstatus 0\n");
  EXPECT_EQ(read(report.text())["forks"], 88) << report.text();
}

TEST(profile, has_another_file_for_a_child_before_the_first_pool) {
  namespace fs = std::filesystem;
  scratch_file unused;
  fs::path const folder = std::string(unused.path()) + ".d";
  fs::create_directory(folder);
  auto const e = run_program(EDGE_PROGRAM, {"profiled-early-fork"}, {{"FILCH_PROFILE", (folder / "%p").c_str()}});
  expect_quiet_end(e, 0, "fib 89\nfib 55\n");
  std::set<double> forks;
  for (auto const& file : fs::directory_iterator(folder)) {
    std::ostringstream text;
    text << std::ifstream(file.path()).rdbuf();
    forks.insert(read(text.str())["forks"]);
  }
  EXPECT_EQ(forks, (std::set<double>{88, 143}));
  fs::remove_all(folder);
}

TEST(profile, goes_to_stderr_or_is_off) {
  for (char const* value : {"1", "-"}) {
    auto const e = run_program(EDGE_PROGRAM, {"profiled-workers", "2"}, {{"FILCH_PROFILE", value}});
    EXPECT_EQ(e.exit_code, 0) << e;
    EXPECT_TRUE(e.says("parallelism")) << e;
    EXPECT_TRUE(e.says("profiles.cpp:")) << "the line of the join; " << e;
  }
  auto const off = run_program(EDGE_PROGRAM, {"profiled-workers", "2"}, {{"FILCH_PROFILE", "0"}});
  EXPECT_EQ(off.exit_code, 0) << off;
  EXPECT_EQ(off.err, "") << off;
}

TEST(profile, is_printed_if_its_file_can_t_be_written) {
  for (char const* name : {"/dev/full", "/nonexistent/report.html", "/nonexistent/report.csv"}) {
    auto const e = run_program(EDGE_PROGRAM, {"profiled-workers", "2"}, {{"FILCH_PROFILE", name}});
    EXPECT_EQ(e.exit_code, 0) << e;
    EXPECT_TRUE(e.says(std::string("filch: FILCH_PROFILE=") + name + ": can't write to this file")) << e;
    EXPECT_TRUE(e.says("parallelism")) << e;
    EXPECT_EQ(e.err.find("<html"), std::string::npos) << e;
  }
}

TEST(profile, is_where_the_program_began) {
  scratch_file report;
  auto const e = run_program(EDGE_PROGRAM, {"leaves-its-folder"}, {{"FILCH_PROFILE", report.name_in_its_folder()}});
  expect_quiet_end(e, 0, "55\n");
  EXPECT_EQ(read(report.text())["forks"], 88) << report.text();
}

TEST(profile, and_trace_have_files_for_each_process) {
  namespace fs = std::filesystem;
  scratch_file unused;
  fs::path const folder = std::string(unused.path()) + ".d";
  fs::create_directory(folder);
  for (int i = 0; i < 2; ++i) {
    auto const e = run_program(
        EDGE_PROGRAM, {"profiled-workers", "2"},
        {{"FILCH_PROFILE", (folder / "%p.profile").c_str()}, {"FILCH_TRACE", (folder / "%h-%p-100%.trace").c_str()}});
    EXPECT_EQ(e.exit_code, 0) << e;
  }
  char host[256] = "";
  ASSERT_EQ(gethostname(host, sizeof(host) - 1), 0);
  std::set<std::string> processes;
  for (auto const& file : fs::directory_iterator(folder)) {
    std::string name = file.path().filename();
    if (file.path().extension() == ".profile") {
      std::ostringstream text;
      text << std::ifstream(file.path()).rdbuf();
      EXPECT_EQ(read(text.str())["forks"], 88) << name;
      name.resize(name.find('.'));
      EXPECT_EQ(name.find_first_not_of("0123456789"), std::string::npos) << name;
      processes.insert(name);
    }
  }
  EXPECT_EQ(processes.size(), 2u);
  for (auto const& process : processes) {
    EXPECT_TRUE(fs::exists(folder / (std::string(host) + "-" + process + "-100%.trace")));
  }
  fs::remove_all(folder);
}

TEST(profile, names_the_closures_of_loops) {
  auto const text = profiled("profiled-forks").profile.text;
  EXPECT_NE(text.find("profiles.cpp:"), std::string::npos) << text;
  EXPECT_NE(text.find(" half of a loop: "), std::string::npos) << text;
  EXPECT_EQ(text.find(" filch::"), std::string::npos) << text;
}

TEST(profile, has_cilkscale_s_columns_in_a_csv_file) {
  scratch_file unused;
  std::string const name = std::string(unused.path()) + ".csv";
  auto const e = run_program(EDGE_PROGRAM, {"profiled-tree"}, {{"FILCH_PROFILE", name}});
  EXPECT_EQ(e.exit_code, 0) << e;
  std::ifstream file(name);
  std::string line;
  std::getline(file, line);
  EXPECT_EQ(line, "tag,work (seconds),span (seconds),parallelism,burdened_span (seconds),burdened_parallelism");
  std::string last;
  int rows = 0;
  for (; std::getline(file, line); ++rows) {
    EXPECT_EQ(std::count(line.begin(), line.end(), ','), 5) << line;
    last = line;
  }
  EXPECT_EQ(rows, 2) << "the join's place, and the program";
  EXPECT_EQ(last.find(','), 0u) << last;
  double const work = std::strtod(last.c_str() + 1, nullptr) * 1e3;
  if (k_times_count) {
    EXPECT_NEAR(work, read(e.out)["work"], 0.1 * work) << last;
  }
  unlink(name.c_str());
}

TEST(profile, is_a_page_for_browsers) {
  scratch_file unused;
  std::string const name = std::string(unused.path()) + ".html";
  auto const e = run_program(EDGE_PROGRAM, {"profiled-regions"}, {{"FILCH_PROFILE", name}});
  EXPECT_EQ(e.exit_code, 0) << e;
  EXPECT_EQ(e.err, "") << e;
  std::ostringstream page;
  page << std::ifstream(name).rdbuf();
  unlink(name.c_str());
  expect_needs_no_network(page.str());
  if (std::string(EDGE_CHROMIUM).empty()) GTEST_SKIP() << "there is no Chromium";
  std::string const dom = shown(page.str(), "document.querySelectorAll('#places th button')[2].click()");
  auto const p = read(e.out);
  double const forks = p["whole forks"];
  char expected[40];
  std::snprintf(expected, sizeof(expected), "<b>%.0f</b><span>forks</span>", forks);
  EXPECT_NE(dom.find(expected), std::string::npos) << dom;
  EXPECT_NE(text_of(dom, "<p id=\"verdict\"").find("Parallelism is at least "), std::string::npos) << dom;
  // The curve, its bounds, and both pictures.
  EXPECT_NE(dom.find("<path class=\"main\" d=\"M"), std::string::npos) << dom;
  EXPECT_NE(dom.find("<td>speed-up at most</td><td>1.00</td><td>2.00</td>"), std::string::npos) << dom;
  EXPECT_NE(dom.find("<td>predicted</td><td>"), std::string::npos) << dom;
  EXPECT_NE(dom.find("id=\"flame-work\""), std::string::npos);
  EXPECT_NE(dom.find("id=\"flame-span\""), std::string::npos);
  EXPECT_NE(dom.find("100%</div><div class=\"box\""), std::string::npos) << "all runs, and a place in them; " << dom;
  EXPECT_NE(dom.find("inner part</td><td>1</td>"), std::string::npos) << dom;
  // A click sorts, here by the number of forks: 7 + 3 of the trees, 3 of the uneven one.
  EXPECT_NE(dom.find("aria-sort=\"descending\"><button type=\"button\">forks"), std::string::npos) << dom;
  auto const first = dom.find("<tbody>");
  EXPECT_LT(dom.find("<td>10</td>", first), dom.find("<td>3</td>", first)) << dom;
  expect_only_numbers(dom);
}

#if FILCH_HAS_CACTUS
TEST(profile, tells_once_that_a_scheduler_is_not_measured) {
  auto const e = run_program(EDGE_PROGRAM, {"unprofiled-scheduler"}, {{"FILCH_PROFILE", "1"}});
  EXPECT_EQ(e.exit_code, 0) << e;
  EXPECT_EQ(e.out, "sum 3\nsum 3\n") << e;
  EXPECT_EQ(e.error_lines(), 1) << e;
  EXPECT_TRUE(e.says("FILCH_PROFILE does not measure pools of implicit")) << e;
}
#endif

}  // namespace
}  // namespace filch_test

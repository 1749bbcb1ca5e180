// Environment variables: valid ones are used, invalid ones are refused in one line.
#include "edges/process.hpp"

#include <filch/default_scheduler.hpp>

#include <sched.h>

namespace filch_test {
namespace {

ending run(char const* scenario, variables const& set) { return run_program(EDGE_PROGRAM, {scenario}, set); }

struct setting {
  char const* name;
  char const* value;
};
void PrintTo(setting const& s, std::ostream* stream) { *stream << s.name << "='" << s.value << "'"; }

class bad_setting : public ::testing::TestWithParam<setting> {};

TEST_P(bad_setting, is_refused_by_an_explicit_pool) {
  auto const e = run("explicit-pool", {{GetParam().name, GetParam().value}});
  EXPECT_EQ(e.exit_code, 0) << e;
  EXPECT_EQ(e.out.rfind("refused: filch: " + std::string(GetParam().name) + "=", 0), 0u) << e;
  EXPECT_EQ(std::count(e.out.begin(), e.out.end(), '\n'), 1) << e;
  EXPECT_EQ(e.err, "") << e;
}

TEST_P(bad_setting, ends_the_process_at_the_first_use_of_the_default_pool) {
  auto const e = run("default-pool", {{GetParam().name, GetParam().value}});
  EXPECT_EQ(e.exit_code, 2) << e;
  EXPECT_EQ(e.out, "") << e;
  EXPECT_EQ(e.error_lines(), 1) << e;
  EXPECT_EQ(e.err.rfind("filch: " + std::string(GetParam().name) + "=", 0), 0u) << e;
}

std::vector<setting> bad_values() {
  struct values {
    char const* name;
    std::vector<char const*> bad;
  };
  values const all[] = {
      {"FILCH_NUM_THREADS",
       {"0", "-1", "abc", "", "1e9", "99999999999999999999", "4 ", " 4", "+4", "4,2", "0x4", "1025", "4294967297"}},
      {"FILCH_STACK_SIZE",
       {"0", "abc", "1", "64x", "99999999999g", "", "-64m", "63k", "1025g", "64mb", "64 m", "17179869184g"}},
      {"FILCH_PIN", {"2", "yes", ""}},
      {"FILCH_INTERRUPTS", {"off"}},
      {"FILCH_STATS", {"yes", "2", ""}},
      {"FILCH_STACK_GIVE_BACK", {"", "yes", "MADVISE", "madvise,mmap"}},
      {"FILCH_PROFILE", {""}},
      {"FILCH_TRACE", {""}},
  };
  std::vector<setting> result;
  for (auto const& [name, bad] : all) {
    for (char const* value : bad) result.push_back({name, value});
  }
  return result;
}

INSTANTIATE_TEST_SUITE_P(all, bad_setting, ::testing::ValuesIn(bad_values()));

TEST(bad_settings, of_any_length_are_told_in_one_short_line) {
  for (std::string const& value :
       {std::string(100'000, '9'), std::string(1'000, 'a').append("\n\n").append(100, 'b')}) {
    auto const e = run("default-pool", {{"FILCH_NUM_THREADS", value}});
    EXPECT_EQ(e.exit_code, 2);
    EXPECT_LT(e.err.size(), 200u);
    EXPECT_EQ(e.error_lines(), 1) << e;
  }
}

TEST(bad_settings, with_line_breaks_are_told_in_one_line) {
  auto const e = run("default-pool", {{"FILCH_NUM_THREADS", "4\n5"}});
  EXPECT_EQ(e.exit_code, 2) << e;
  EXPECT_EQ(e.error_lines(), 1) << e;
}

TEST(good_settings, are_used_by_both_kinds_of_pool) {
  for (char const* scenario : {"explicit-pool", "default-pool"}) {
    auto const expect = [&](variables const& set, std::string const& out) {
      auto const e = run(scenario, set);
      EXPECT_EQ(e.exit_code, 0) << e;
      EXPECT_EQ(e.err, "") << e;
      EXPECT_NE(e.out.find(out), std::string::npos) << "expected: " << out << "; " << e;
    };
    expect({{"FILCH_NUM_THREADS", "3"}}, "610 on 3 workers");
    expect({{"FILCH_NUM_THREADS", "1"}}, "610 on 1 workers");
    expect({{"FILCH_NUM_THREADS", "64"}, {"FILCH_STACK_SIZE", "64k"}}, "610 on 64 workers with 65536 bytes");
    expect({{"FILCH_STACK_SIZE", "8m"}}, "with 8388608 bytes");
    expect({{"FILCH_STACK_SIZE", "8M"}}, "with 8388608 bytes");
    expect({{"FILCH_STACK_SIZE", "1048576"}}, "with 1048576 bytes");
    expect({{"FILCH_STACK_SIZE", "1g"}, {"FILCH_NUM_THREADS", "2"}}, "on 2 workers with 1073741824 bytes");
    expect({{"FILCH_PIN", "1"}}, "610 on");
    expect({{"FILCH_PIN", "0"}, {"FILCH_STATS", "0"}}, "610 on");
    for (char const* policy : {"madvise", "mmap", "none"}) expect({{"FILCH_STACK_GIVE_BACK", policy}}, "610 on");
    expect({}, "610 on");
  }
}

TEST(good_settings, yield_to_a_pool_s_options) {
  auto const e = run("options-beat-the-environment", {{"FILCH_NUM_THREADS", "3"}, {"FILCH_STACK_SIZE", "8m"}});
  expect_quiet_end(e, 0, "5 workers with 1048576 bytes of stack\n");
}

TEST(good_settings, of_a_pool_name_a_give_back_policy_or_are_refused) {
  expect_quiet_end(run("give-back-options", {}), 0, "refused: 2, 3 of 3 policies run\n");
}

TEST(good_settings, bind_workers_but_never_the_caller) {
  expect_quiet_end(run("pinned-worker", {{"FILCH_PIN", "1"}}), 0, "worker: 1, caller unchanged: 1\n");
}

class a_pinned_worker : public ::testing::Test {
  void SetUp() override {
    if (processors() < 2) GTEST_SKIP() << "one processor";
  }
  static int processors() {
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
  }
};

TEST_F(a_pinned_worker, makes_pools_for_all_processors) {
  expect_quiet_end(run("pools-of-pinned-workers", {}), 0, "ended\n");
}

TEST_F(a_pinned_worker, makes_pools_for_the_processors_that_the_program_has_moved_it_to) {
  expect_quiet_end(run("pools-of-pinned-workers-that-the-program-moves", {}), 0, "1\n");
}

TEST_F(a_pinned_worker, has_a_stand_in_for_all_processors) {
  expect_quiet_end(run("stand-in-for-a-pinned-worker", {}), 0, "1\n");
}

TEST_F(a_pinned_worker, has_children_for_all_processors) {
  expect_quiet_end(run("fork-of-a-pinned-worker", {}), 0, "child exited with 5\n");
}

TEST(statistics, are_printed_at_exit_for_every_pool) {
  auto const e = run("three-pools", {{"FILCH_STATS", "1"}, {"FILCH_NUM_THREADS", "2"}});
  EXPECT_EQ(e.exit_code, 0) << e;
  EXPECT_EQ(e.out, "end of main\n") << e;
  for (char const* word :
       {"steals", "failed steals", "back-offs", "leapfrogs", "publications", "sleeps", "wake-ups", "suspensions",
        "give-backs", "page faults", "pool 1 ", "pool 2 ", "pool 3 ", "3 workers"}) {
    EXPECT_TRUE(e.says(word)) << word << "; " << e;
  }
  // Under channel there is one line more for each pool in which a worker requested tasks; under cactus and implicit
  // there is one for the stacks.
  std::ptrdiff_t own = 0;
  for (std::string const word : {"steal requests", "stacks at the peak"}) {
    for (auto at = e.err.find(word); at != std::string::npos; at = e.err.find(word, at + 1)) ++own;
  }
  bool const has_fibers = filch::default_scheduler::name == "cactus" || filch::default_scheduler::name == "implicit";
  EXPECT_EQ(e.says("stacks at the peak"), has_fibers) << e;
  // Three tables: a title, a heading, a row for each worker, the sum, and page faults.
  EXPECT_EQ(e.error_lines() - own, 3 * 4 + 2 + 2 + 3) << e;
}

TEST(statistics, are_printed_on_request_only) {
  expect_quiet_end(run("three-pools", {{"FILCH_NUM_THREADS", "2"}}), 0, "end of main\n");
}

}  // namespace
}  // namespace filch_test

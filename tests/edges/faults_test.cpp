// A system that refuses threads, address space or memory: clear errors, nothing lost, nothing leaked.
#include "edges/process.hpp"

#include <filch/config.hpp>

namespace filch_test {
namespace {

class system_faults : public ::testing::Test {
 protected:
  void SetUp() override {
    if (is_sanitized) GTEST_SKIP() << "the sanitizer replaces the same functions";
  }
  static ending run(char const* scenario, int argument = 0) {
    return run_program(EDGE_FAULTS, {scenario, std::to_string(argument)}, {{"FILCH_NUM_THREADS", "4"}});
  }
  static bool begins(std::string const& text, std::string const& with) { return text.rfind(with, 0) == 0; }
};

TEST_F(system_faults, of_any_thread_s_start_refuse_a_pool_and_leave_nothing) {
  expect_quiet_end(run("threads-explicit"), 0, "made 1, refused 3, out of memory 0\n");
}

TEST_F(system_faults, of_the_default_pool_s_threads_leave_fewer_and_one_line) {
  for (int call : {1, 2, 3}) {
    auto const e = run("threads-default", call);
    EXPECT_EQ(e.exit_code, 0) << e;
    EXPECT_EQ(e.out, "610\n6765\n") << e;
    EXPECT_EQ(e.error_lines(), 1) << e;
    EXPECT_TRUE(e.says("continuing with " + std::to_string(call))) << e;
  }
}

TEST_F(system_faults, of_any_map_refuse_a_pool_with_a_stack_size) {
  auto const e = run("maps-explicit-size");
  EXPECT_EQ(e.exit_code, 0) << e;
  EXPECT_EQ(e.err, "") << e;
  EXPECT_TRUE(begins(e.out, "made ")) << e;
  EXPECT_NE(e.out.find(", refused 8, out of memory 0\n"), std::string::npos) << e;  // two calls a worker
}

TEST_F(system_faults, of_one_map_are_survived_without_a_stack_size) {
  auto const e = run("maps-explicit");
  EXPECT_EQ(e.exit_code, 0) << e;
  EXPECT_EQ(e.err, "") << e;
  EXPECT_TRUE(begins(e.out, "made ")) << e;
  EXPECT_NE(e.out.find(", refused 0, out of memory 0\n"), std::string::npos) << e;
  for (int call = 1; call <= 12; ++call) expect_quiet_end(run("maps-default", call), 0, "610\n");
}

TEST_F(system_faults, of_all_maps_end_the_default_pool_in_one_line) {
  auto const e = run("maps-default-never");
  EXPECT_EQ(e.exit_code, 2) << e;
  EXPECT_EQ(e.out, "") << e;
  EXPECT_EQ(e.error_lines(), 1) << e;
  EXPECT_TRUE(e.says("FILCH_STACK_SIZE")) << e;
}

TEST_F(system_faults, of_any_allocation_refuse_a_pool_and_leave_nothing) {
  auto const e = run("allocations-explicit");
  EXPECT_EQ(e.exit_code, 0) << e;
  EXPECT_EQ(e.err, "") << e;
  EXPECT_TRUE(begins(e.out, "made ")) << e;
}

TEST_F(system_faults, of_all_allocations_do_not_affect_a_nested_run) {
  expect_quiet_end(run("allocations-nested-never"), 0, "ran, ran, ran, ran, ");
}

TEST_F(system_faults, of_any_allocation_of_the_default_pool_end_in_a_line_or_in_the_answer) {
  bool reached = true;
  for (int call = 1; reached && call < 200; ++call) {
    auto const e = run("allocations-default", call);
    if (e.exit_code == 0) {
      EXPECT_TRUE(begins(e.out, "610")) << call << ": " << e;
    } else {
      EXPECT_EQ(e.exit_code, 2) << call << ": " << e;
      EXPECT_EQ(e.error_lines(), 1) << call << ": " << e;
    }
    reached = e.out.find("not reached") == std::string::npos;
  }
  EXPECT_FALSE(reached && !FILCH_TEST_FORCED);  // where nearly every join makes a stack
}

#if FILCH_HAS_CACTUS
TEST_F(system_faults, of_giving_stack_pages_back_lose_nothing) {
  expect_quiet_end(run("give-back"), 0, "1024 leaves, 1024 leaves, 1024 leaves, 1024 leaves, ");
}
#endif

TEST_F(system_faults, of_address_space_refuse_a_stack_size) {
  auto const e = run("address-space-explicit", 100);
  EXPECT_EQ(e.exit_code, 0) << e;
  EXPECT_EQ(e.err, "") << e;
  EXPECT_TRUE(begins(e.out, "refused: filch: can't reserve")) << e;
  EXPECT_NE(e.out.find("\n610\n"), std::string::npos) << e;
}

TEST_F(system_faults, of_address_space_leave_smaller_stacks_without_a_stack_size) {
  expect_quiet_end(run("address-space-default", 10'000), 0, "610 with all the stack\n");
  expect_quiet_end(run("address-space-default", 400), 0, "610 with less stack\n");
}

#if FILCH_HAS_CACTUS
TEST_F(system_faults, of_address_space_for_fibers_leave_the_home_stack) {
  expect_quiet_end(run("no-stacks-for-fibers"), 0, "610, given back; 610, given back; ");
}

TEST_F(system_faults, of_address_space_leave_fibers_smaller_stacks) {
  expect_quiet_end(run("address-space-fibers", 20'000), 0,
                   "665, with steals, all the stack, 665, with steals, all the stack, ");
  expect_quiet_end(run("address-space-fibers", 1'000), 0,
                   "665, with steals, less stack, 665, with steals, less stack, ");
}
#endif

#if FILCH_HAS_CACTUS
TEST(shadow_stacks, leave_cactus_and_implicit_in_order_with_one_line_and_direct_in_parallel) {
  if (is_sanitized) GTEST_SKIP() << "the sanitizer replaces the same function";
  auto const on = run_program(EDGE_FAULTS, {"shadow-stacks", "1"});
  EXPECT_EQ(on.exit_code, 0) << on;
  EXPECT_EQ(on.out,
            "cactus: 665 in order, without steals, outside 665 in order\n"
            "implicit: 665 in order, without steals, outside 665 in order\n"
            "direct: 665 in parallel, with steals, outside 665 in parallel\n");
  EXPECT_EQ(on.error_lines(), 1) << on;
  EXPECT_TRUE(on.says("shadow stacks are on")) << on;
  expect_quiet_end(run_program(EDGE_FAULTS, {"shadow-stacks", "0"}), 0,
                   "cactus: 665 in parallel, with steals, outside 665 in parallel\n"
                   "implicit: 665 in parallel, with steals, outside 665 in parallel\n"
                   "direct: 665 in parallel, with steals, outside 665 in parallel\n");
}
#endif

TEST_F(system_faults, of_nearly_all_address_space_end_in_a_line_or_in_the_answer) {
  for (int mebibytes : {0, 1, 2, 4, 8, 12, 16, 20, 24, 32, 40, 48, 64}) {
    auto const e = run("address-space-default", mebibytes);
    if (e.exit_code == 0) {
      EXPECT_TRUE(begins(e.out, "610 with less stack")) << mebibytes << ": " << e;
      EXPECT_LE(e.error_lines(), 1) << mebibytes << ": " << e;
    } else {
      EXPECT_EQ(e.exit_code, 2) << mebibytes << ": " << e;
      EXPECT_EQ(e.error_lines(), 1) << mebibytes << ": " << e;
    }
  }
}

}  // namespace
}  // namespace filch_test

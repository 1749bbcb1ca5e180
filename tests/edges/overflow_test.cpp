// Stack overflow in a task is reported in one line; other faults are as without Filch.
#include "edges/process.hpp"

namespace filch_test {
namespace {

class stack_overflow : public ::testing::Test {
 protected:
  void SetUp() override {
    if (is_sanitized) GTEST_SKIP() << "the sanitizer reports faults itself";
  }
  static ending run(char const* scenario) {
    return run_program(EDGE_PROGRAM, {scenario}, {{"FILCH_NUM_THREADS", "2"}});
  }
  /// Expects that the program died of an overflow, with one line that names the worker, the size and the setting.
  static void expect_report(char const* scenario, std::string const& worker, std::string const& size) {
    SCOPED_TRACE(scenario);
    auto const e = run(scenario);
    EXPECT_EQ(e.signal, SIGSEGV) << e;
    EXPECT_EQ(e.error_lines(), 1) << e;
    EXPECT_TRUE(e.says("stack overflow")) << e;
    EXPECT_TRUE(e.says(worker)) << e;
    EXPECT_TRUE(e.says(size)) << e;
    EXPECT_TRUE(e.says("FILCH_STACK_SIZE")) << e;
  }
};

TEST_F(stack_overflow, on_the_calling_thread_is_reported_in_one_line) {
  expect_report("overflow-on-caller", "worker 0", "KiB");
  expect_report("overflow-by-joins", "worker 0", "KiB");
}

TEST_F(stack_overflow, on_a_worker_is_reported_in_one_line) {
  expect_report("overflow-on-worker", "worker 1", "KiB");
}

TEST_F(stack_overflow, in_a_nested_pool_names_that_pool) {
  expect_report("overflow-in-nested-pool", "worker 0", "KiB");
}

#if FILCH_HAS_CACTUS
TEST_F(stack_overflow, of_tasks_beside_a_stack_of_the_program_s_own_is_reported_in_one_line) {
  expect_quiet_end(run("some-joins-on-a-stack-of-its-own"), 0, "10000\n");
  auto const e = run("too-many-joins-on-a-stack-of-its-own");
  EXPECT_EQ(e.signal, SIGSEGV) << e;
  EXPECT_EQ(e.error_lines(), 1) << e;
  EXPECT_TRUE(e.says("too many joins inside each other")) << e;
  EXPECT_TRUE(e.says("FILCH_STACK_SIZE")) << e;
}
#endif

TEST_F(stack_overflow, outside_all_tasks_is_not_reported) {
  auto const e = run("overflow-outside");
  EXPECT_EQ(e.signal, SIGSEGV) << e;
  EXPECT_EQ(e.err, "") << e;
}

TEST_F(stack_overflow, is_distinguished_from_other_faults) {
  auto const e = run("null-in-task");
  EXPECT_EQ(e.signal, SIGSEGV) << e;
  EXPECT_EQ(e.err, "") << e;
}

TEST_F(stack_overflow, is_distinguished_from_faults_that_were_sent) {
  auto const e = run("fault-is-sent");
  EXPECT_EQ(e.signal, SIGSEGV) << e;
  EXPECT_EQ(e.out + e.err, "") << e;
  expect_quiet_end(run("fault-is-sent-and-ignored"), 0, "went on\n");
}

TEST_F(stack_overflow, leaves_other_faults_to_the_program_s_handler) {
  auto const e = run("null-in-task-with-handler");
  expect_quiet_end(e, 3, "the program's own handler\n");
}

TEST_F(stack_overflow, leaves_other_faults_to_a_one_shot_handler_once) {
  auto const e = run("null-in-task-with-handler-for-one");
  EXPECT_EQ(e.signal, SIGSEGV) << e;
  EXPECT_EQ(e.out, "fault\n") << e;
  EXPECT_EQ(e.err, "") << e;
}

TEST_F(stack_overflow, leaves_other_faults_to_a_handler_with_its_mask) {
  expect_quiet_end(run("null-in-task-with-handler-and-mask"), 3, "");
}

}  // namespace
}  // namespace filch_test

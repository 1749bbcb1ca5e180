// Joins in threads that end, and under signals.
#include "edges/process.hpp"

#include <filch/config.hpp>

namespace filch_test {
namespace {

ending run(char const* scenario) { return run_program(EDGE_PROGRAM, {scenario}, {{"FILCH_NUM_THREADS", "2"}}); }

TEST(a_thread_that_ends, may_join_in_the_destructors_of_its_thread_locals) {
  expect_quiet_end(run("join-in-thread-local-destructor-after-use"), 0, "1\n1\n");
  expect_quiet_end(run("join-in-thread-local-destructor-only"), 0, "1\n");
}

TEST(a_thread_that_ends, may_be_a_pool_s) {
  expect_quiet_end(run("join-in-thread-local-destructor-of-a-worker"), 0, "1\n");
}

TEST(signals, that_interrupt_tasks_and_sleepers_change_nothing) {
  expect_quiet_end(run("under-alarms"), 0, "wrong: 0\n");
  expect_quiet_end(run("under-alarms-on-signal-stack"), 0, "wrong: 0\n");
  expect_quiet_end(run("under-profiling"), 0, "wrong: 0\n");
}

TEST(locked_memory, is_not_filled_by_pools) {
  ending const e = run("pools-in-locked-memory");
  if (e.out == "not allowed\n") GTEST_SKIP() << "mlockall";
  expect_quiet_end(e, 0, "ended\n");
}

TEST(locked_memory, that_was_filled_under_pools_is_given_back) {
  if (FILCH_TEST_FORCED) GTEST_SKIP() << "forced steals use very many stacks";
  ending const e = run("pools-before-memory-is-locked");
  if (e.out == "not allowed\n") GTEST_SKIP() << "mlockall";
  expect_quiet_end(e, 0, "ended\n");
}

#if FILCH_HAS_CACTUS
TEST(signals, of_the_program_reach_its_handler) {
  expect_quiet_end(run("own-handler-of-the-interrupts-signal"), 0, "arrived\n");
}
#endif

}  // namespace
}  // namespace filch_test

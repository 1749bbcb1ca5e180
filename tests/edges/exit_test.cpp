// exit() from tasks, and static destruction with live pools.
#include "edges/process.hpp"

namespace filch_test {
namespace {

ending run(char const* scenario) { return run_program(EDGE_PROGRAM, {scenario}, {{"FILCH_NUM_THREADS", "2"}}); }

TEST(exit_in_a_task, of_the_default_pool_ends_the_process) {
  expect_quiet_end(run("exit-from-first"), 7, "");
  expect_quiet_end(run("exit-from-second"), 7, "before\n");
  expect_quiet_end(run("exit-from-spawned"), 9, "");
}

TEST(exit_in_a_task, that_was_stolen_ends_the_process) { expect_quiet_end(run("exit-from-stolen"), 8, ""); }

TEST(exit_in_a_task, of_a_pool_that_exit_destroys_ends_the_process) {
  expect_quiet_end(run("exit-from-static-pool"), 10, "");
  expect_quiet_end(run("exit-from-stolen-of-static-pool"), 11, "");
}

TEST(exit_in_a_task, of_a_pool_inside_another_ends_the_process) {
  expect_quiet_end(run("exit-from-nested-static-pools"), 12, "");
  expect_quiet_end(run("exit-from-stolen-of-nested-static-pools"), 14, "");
}

TEST(exit_in_a_signal_handler, on_the_signal_stack_of_a_thread_that_has_joined_ends_the_process) {
  if (is_thread_sanitized) GTEST_SKIP() << "it has much to say of exit() in a handler";
  expect_quiet_end(run("exit-on-signal-stack"), 15, "");
}

TEST(exit_beside_tasks, of_other_threads_ends_the_process) {
  for (std::size_t i = 0; i < scaled(20); ++i) expect_quiet_end(run("exit-beside-running-threads"), 14, "");
}

TEST(static_destruction, may_join_with_a_live_default_pool) {
  for (std::size_t i = 0; i < scaled(20); ++i) {
    expect_quiet_end(run("static-destructor-beside-running-threads"), 0, "610\n");
  }
}

TEST(static_destruction, ends_static_pools_used_or_not) {
  expect_quiet_end(run("static-pool-destroyed-unused"), 0, "end of main\n");
}

TEST(static_destruction, and_initialisation_may_join_in_any_order) {
  for (char const* workers : {"1", "2", "5"}) {
    auto const e = run_program(EDGE_STATIC, {}, {{"FILCH_NUM_THREADS", workers}});
    expect_quiet_end(e, 0,
                     "6765 4181 987\nthread: 610\npool: 2584\nlast made, first destroyed: 610\n"
                     "first made, last destroyed: 610\n");
  }
}

}  // namespace
}  // namespace filch_test

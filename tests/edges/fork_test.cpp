// fork() outside and inside tasks: the child gets a fresh pool at its first call.
#include "edges/process.hpp"

#include <filch/default_scheduler.hpp>

#include <type_traits>

namespace filch_test {
namespace {

ending run(char const* scenario, std::size_t argument = 0) {
  return run_program(EDGE_PROGRAM, {scenario, std::to_string(argument)}, {{"FILCH_NUM_THREADS", "2"}});
}

TEST(a_child_of_fork, has_fresh_pools_after_a_fork_outside_tasks) {
  expect_quiet_end(run("fork-outside"), 0, "child exited with 5\nparent: 13530\n");
}

TEST(a_child_of_fork, may_destroy_a_pool_that_it_never_used) {
  expect_quiet_end(run("fork-outside-pool-destroyed-unused"), 0, "child exited with 5\n");
}

TEST(a_child_of_fork, has_a_fresh_pool_inside_a_task) {
  expect_quiet_end(run("fork-in-first"), 0, "child exited with 5\nparent: 6765\n");
  expect_quiet_end(run("fork-in-stolen"), 0, "child exited with 5\nparent: 6765\n");
  expect_quiet_end(run("fork-in-explicit-pool"), 0, "child exited with 5\nparent: 6765\n");
  expect_quiet_end(run("fork-in-explicit-pool-and-join"), 0, "child exited with 5\n");
  expect_quiet_end(run("fork-in-first-asked-for"), 0, "child exited with 5\n");
  expect_quiet_end(run("fork-in-scope"), 0, "child exited with 5\nparent: 4\n");
}

TEST(a_child_of_fork, may_exit_inside_a_task_of_a_static_pool) {
  expect_quiet_end(run("fork-in-static-pool-and-exit"), 0, "child exited with 5\n");
  expect_quiet_end(run("fork-in-static-pool-beside-default-and-exit"), 0, "child exited with 5\n");
}

TEST(a_child_of_fork, may_return_from_the_task_that_forked_it) {
#if FILCH_HAS_CACTUS
  constexpr bool k_default_moves = std::is_same_v<filch::default_scheduler, filch::cactus> ||
                                   std::is_same_v<filch::default_scheduler, filch::implicit>;
#else
  constexpr bool k_default_moves = false;
#endif
  if (FILCH_TEST_FORCED && k_default_moves) GTEST_SKIP() << "what is beside the task is always stolen here";
  expect_quiet_end(run("fork-in-task-and-return"), 0, "child exited with 5\nparent: 1\n");
  expect_quiet_end(run("fork-in-spawned-and-return"), 0, "child exited with 5\nparent: 1\n");
}

TEST(a_child_of_fork, may_return_from_the_stay_that_forked_it) {
  std::string const one = "child exited with 5\nparent: 10\n";
  expect_quiet_end(run("fork-in-stay"), 0, one + one + one + one);
}

TEST(a_child_of_fork, may_return_from_the_nested_run_that_forked_it) {
  if (is_thread_sanitized) GTEST_SKIP() << "in the child it ignores what the fiber that forked does: false races";
  std::string const one = "child exited with 5\nparent: 1\n";
  for (std::size_t outer = 0; outer < 4; ++outer) {
    expect_quiet_end(run("fork-in-nested-run", outer), 0, one + one + one + one + one + one + one + one);
  }
}

/// Each child says why it can't go on, and its parent ends well.
void expect_children_end_with_a_line(ending const& e, std::ptrdiff_t children) {
  std::string killed;
  for (std::ptrdiff_t i = 0; i < children; ++i) killed += "child was killed by 6\n";
  EXPECT_EQ(e.exit_code, 0) << e;
  EXPECT_EQ(e.out, killed) << e;
  EXPECT_EQ(e.error_lines(), children) << e;
  EXPECT_TRUE(e.says("child of fork()")) << e;
}

TEST(a_child_of_fork, ends_with_a_line_when_it_waits_for_a_task_of_its_parent) {
  expect_children_end_with_a_line(run("fork-in-task-and-return-to-stolen"), 1);
}

TEST(a_child_of_fork, ends_with_a_line_when_it_returns_to_a_wait) {
  expect_children_end_with_a_line(run("fork-on-top-of-waits-and-return"), 2);
}

TEST(a_child_of_fork, ends_with_a_line_when_it_ends_a_thread_of_its_parents_pool) {
  expect_children_end_with_a_line(run("fork-at-the-end-of-a-pool"), 1);
}

TEST(a_child_of_fork, leaves_detached_tasks_to_its_parent) {
  expect_quiet_end(run("fork-beside-detached-and-return"), 0, "child exited with 5\nparent: 3\n");
}

TEST(a_child_of_fork, may_have_children) { expect_quiet_end(run("fork-chain", 6), 0, "all right\n"); }

TEST(a_fork, may_wait_for_a_lock_whose_holder_makes_pools) {
  expect_quiet_end(run("fork-beside-a-maker-of-pools"), 0, "child exited with 5\nparent: 1\n");
}

TEST(a_fork, may_have_handlers_that_make_pools) {
  expect_quiet_end(run("fork-with-handlers-that-make-pools"), 0, "child exited with 5\nparent: 2\n");
}

TEST(a_child_of_fork, has_fresh_pools_beside_a_thread_that_sets_fiber_hooks) {
  if (is_sanitized) GTEST_SKIP() << "a child may find the lock of the sanitizer's own allocator taken";
  expect_quiet_end(run("fork-beside-fiber-hooks", scaled(200)), 0, "wrong: 0\n");
}

TEST(a_child_of_fork, may_exit_beside_a_thread_that_makes_pinned_pools) {
  if (is_sanitized) GTEST_SKIP() << "a child may find the lock of the sanitizer's own allocator taken";
  expect_quiet_end(run("fork-beside-a-maker-of-pinned-pools", scaled(300)), 0, "wrong: 0\n");
}

TEST(a_child_of_fork, has_thread_numbers_after_any_chain_of_forks) {
  if (is_sanitized || FILCH_TEST_EMULATED) GTEST_SKIP() << "67000 threads take too long";
  expect_quiet_end(run("fork-chain-beside-threads", 66), 0, "all right\n");
}

TEST(a_child_of_fork, is_whole_beside_any_other_threads) {
  if (is_sanitized) GTEST_SKIP() << "a child may find the lock of the sanitizer's own allocator taken";
  expect_quiet_end(run("fork-while-busy", scaled(100)), 0, "wrong: 0\n");
}

#if FILCH_HAS_CACTUS
TEST(a_child_of_fork, may_return_from_a_scope_whose_tasks_were_requested) {
  if (FILCH_TEST_FORCED) GTEST_SKIP() << "the tasks are always stolen here";
  if (is_thread_sanitized) GTEST_SKIP() << "in the child it ignores what the fiber that forked does: false races";
  std::string const one = "child exited with 5\nparent: 1\n";
  expect_quiet_end(run("fork-in-asked-scope-and-return"), 0, one + one);
}

TEST(a_child_of_fork, may_ask_an_old_pool_what_it_counted) {
  expect_quiet_end(run("fork-beside-questions", 2), 0, "wrong: 0\nwrong: 0\n");
}
#endif

TEST(a_child_of_fork, may_enter_an_old_pool_from_several_threads_at_once) {
  expect_quiet_end(run("fork-and-enter-from-several-threads", scaled(50)), 0, "wrong: 0\n");
}

}  // namespace
}  // namespace filch_test

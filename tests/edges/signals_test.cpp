// SIGSEGV and SIGURG, which the library uses, in programs that use them, too.
#include "edges/process.hpp"

#include <filch/config.hpp>

namespace filch_test {
namespace {

ending run(char const* scenario) { return run_program(EDGE_PROGRAM, {scenario}, {{"FILCH_NUM_THREADS", "2"}}); }
ending run(char const* scenario, int argument) {
  return run_program(EDGE_PROGRAM, {scenario, std::to_string(argument)}, {{"FILCH_NUM_THREADS", "2"}});
}

class signals : public ::testing::Test {};

TEST_F(signals, stay_ignored_or_at_their_default_with_any_flags) {
  if (is_sanitized) GTEST_SKIP() << "the sanitizer handles faults itself";
  expect_quiet_end(run("fault-is-sent-and-ignored-with-siginfo"), 0, "went on\n");
  auto const e = run("null-in-task-with-siginfo");
  EXPECT_EQ(e.signal, SIGSEGV) << e;
  EXPECT_EQ(e.err, "") << e;
}

TEST_F(signals, leave_no_stack_to_threads_with_one_of_their_own) {
  if (is_sanitized) GTEST_SKIP() << "the sanitizer's allocations are counted, too";
  expect_quiet_end(run("threads-with-a-signal-stack-of-their-own"), 0, "left behind: 0\n");
}

TEST_F(signals, find_the_library_s_stack_at_the_end_of_a_thread) {
  expect_quiet_end(run("signal-stack-is-put-back-at-the-end-of-a-thread"), 0, "handled\n");
}

#if FILCH_HAS_CACTUS
TEST_F(signals, of_the_program_are_ignored_with_any_flags) {
  expect_quiet_end(run("urgent-ignored-with-siginfo"), 0, "went on\n");
  expect_quiet_end(run("urgent-by-default-with-siginfo"), 0, "went on\n");
}

TEST_F(signals, of_the_program_reach_a_one_shot_handler_once) {
  expect_quiet_end(run("urgent-with-handler-for-one"), 0, "handled\n");
}

TEST_F(signals, of_the_program_reach_a_handler_with_its_mask) {
  if (is_thread_sanitized) GTEST_SKIP() << "ThreadSanitizer blocks all signals in handlers";
  expect_quiet_end(run("urgent-with-handler-and-mask"), 0, "1110\n");
  expect_quiet_end(run("urgent-with-handler-that-is-not-deferred"), 0, "0110\n");
}

TEST_F(signals, of_the_program_reach_a_handler_on_the_signal_stack) {
  if (is_sanitized) GTEST_SKIP() << "sanitizers are not told of the stack";
  expect_quiet_end(run("urgent-on-signal-stack"), 0, "1\n");
}

TEST_F(signals, that_interrupt_a_victim_need_no_room_on_its_stack) {
  if (is_sanitized) GTEST_SKIP() << "frames of sanitizers are larger";
  for (int left : {2'000, 3'000, 4'000, 6'000, 8'000})
    expect_quiet_end(run("interrupt-near-the-end-of-a-stack", left), 0, "stolen\n");
}

TEST_F(signals, that_interrupt_a_victim_need_little_of_its_signal_stack) {
  if (is_sanitized) GTEST_SKIP() << "frames of sanitizers are larger";
  expect_quiet_end(run("interrupt-on-a-small-signal-stack"), 0, "stolen\n");
}

TEST_F(signals, of_thieves_are_known_without_a_sender) {
  if (is_thread_sanitized) GTEST_SKIP() << "no interrupts under ThreadSanitizer";
  expect_quiet_end(run("interrupt-without-its-sender"), 0, "stolen\n");
}

TEST_F(signals, of_thieves_are_seen_when_merged_with_a_pending_one) {
  if (is_thread_sanitized) GTEST_SKIP() << "no interrupts under ThreadSanitizer";
  expect_quiet_end(run("urgent-while-urgent-is-pending"), 0, "handled\nstolen\n");
}

TEST_F(signals, with_a_later_handler_are_not_sent_and_one_line_says_so) {
  if (is_thread_sanitized) GTEST_SKIP() << "no interrupts under ThreadSanitizer";
  if (FILCH_TEST_FORCED) GTEST_SKIP() << "every frame is offered at its fork, and no worker is interrupted";
  auto const e = run("urgent-handler-is-replaced");
  EXPECT_EQ(e.exit_code, 0) << e;
  EXPECT_EQ(e.out, "1 1, handled 0\n");
  EXPECT_EQ(e.error_lines(), 1) << e;
  EXPECT_TRUE(e.says("SIGURG")) << e;
}

TEST_F(signals, taken_from_a_queue_are_the_program_s_with_interrupts_off) {
  expect_quiet_end(run("urgent-is-waited-for"), 0, "took 20, nothing handles it: 1\n");
  expect_quiet_end(run_program(EDGE_PROGRAM, {"urgent-is-waited-for-by-environment"}, {{"FILCH_INTERRUPTS", "0"}}), 0,
                   "took 20, nothing handles it: 1\n");
}

TEST_F(signals, of_thieves_end_the_waits_of_the_manual_s_list_early) {
  if (is_sanitized) GTEST_SKIP() << "sanitizers have waits of their own";
  expect_quiet_end(run("waits-that-end-early"), 0,
                   "sleep\nusleep\nnanosleep\nclock_nanosleep\npoll\nselect\npselect\nepoll_wait\nsem_timedwait\n"
                   "sigtimedwait\nrecv with SO_RCVTIMEO\n");
}

TEST_F(signals, of_thieves_come_in_tasks_alone) {
  std::string const none = "strays: 0, ended early: 0\n";
  int const rounds = static_cast<int>(scaled(10'000));
  expect_quiet_end(run("waits-between-runs", rounds), 0, none);
  expect_quiet_end(run("waits-in-stays", rounds), 0, none);
  expect_quiet_end(run("signals-blocked-in-runs", rounds / 10), 0, none);
}
#endif

}  // namespace
}  // namespace filch_test

// A task that is left by no C++ exception ends the process, in one line.
#include "edges/process.hpp"
#include "scale.hpp"

#include <filch/filch.hpp>

#include <string>

namespace filch_test {
namespace {

ending run(std::string const& scenario, int kind) {
  return run_program(EDGE_PROGRAM, {scenario, std::to_string(kind)}, {{"FILCH_NUM_THREADS", "2"}});
}

/// For another language's exception, and pthread_exit().
void expect_one_line(std::string const& where, std::string const& scheduler) {
  // ThreadSanitizer allows pthread_exit() on the stacks of threads only.
  bool const may_exit = !is_thread_sanitized || (scheduler != "cactus" && scheduler != "implicit");
  for (int kind : {0, 1}) {
    if (kind == 1 && !may_exit) break;
    std::string const scenario = "foreign-" + where + "-" + scheduler;
    auto const e = run(scenario, kind);
    EXPECT_EQ(e.signal, SIGABRT) << scenario << " " << kind << ": " << e;
    EXPECT_EQ(e.error_lines(), 1) << scenario << " " << kind << ": " << e;
    EXPECT_TRUE(e.says("filch: an exception that is not C++'s left a task")) << scenario << " " << kind << ": " << e;
  }
}

void expect_one_line_in_all(std::initializer_list<char const*> places) {
  for (char const* where : places) {
    for (char const* scheduler : {"direct", "channel"}) expect_one_line(where, scheduler);
    if (!FILCH_HAS_CACTUS) continue;
    for (char const* scheduler : {"cactus", "implicit"}) expect_one_line(where, scheduler);
  }
}

constexpr auto k_with_handlers = {"join-f", "join-g",  "join-small",    "join-after-an-exception",
                                  "scope",  "spawned", "spawned-large", "stay"};

TEST(foreign_exceptions, end_a_run_or_a_loop_in_one_line) {
  expect_one_line_in_all({"run", "invoke", "for-index", "outside"});
}
TEST(foreign_exceptions, end_a_join_or_a_scope_in_one_line) { expect_one_line_in_all(k_with_handlers); }
TEST(foreign_exceptions, end_a_stolen_task_in_one_line) {
  expect_one_line_in_all({"stolen", "f-of-a-stolen", "both-of-a-stolen", "in-a-stolen", "stolen-spawned"});
}
TEST(foreign_exceptions, end_a_detached_task_in_one_line) { expect_one_line("detached", "channel"); }

TEST(foreign_exceptions, of_serial_end_a_join_or_a_scope_in_one_line) {
  for (char const* where : k_with_handlers) {
    // If f does not throw, nothing is kept of g's exception.
    if (std::string(where) != "join-g") expect_one_line(where, "serial");
  }
}

TEST(foreign_exceptions, of_serial_pass_unless_a_frame_keeps_them) {
  for (char const* where : {"run", "invoke", "for-index", "join-g"}) {
    for (int kind : {0, 1}) {
      auto const e = run("foreign-" + std::string(where) + "-serial", kind);
      EXPECT_EQ(e.exit_code, 21) << where << ": " << e;
      EXPECT_EQ(e.err, "") << where;
    }
  }
}

TEST(exceptions, of_a_detached_task_are_named_at_the_end) {
  auto const e = run("detached-throws", 0);
  EXPECT_EQ(e.signal, SIGABRT) << e;
  EXPECT_TRUE(e.says("a C++ exception")) << e;
}

}  // namespace
}  // namespace filch_test

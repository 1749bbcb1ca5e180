// A debugger's backtraces, from one side of a join and from the other, stolen one, pass through every frame.
#include "edges/process.hpp"

#include <filch/filch.hpp>

namespace filch_test {
namespace {

/// gdb's backtraces at the program's first stop, and at its second.
std::vector<std::string> backtraces(ending const& e) {
  std::vector<std::string> all;
  for (std::size_t at = e.out.find("#0 "); at != std::string::npos;) {
    std::size_t const next = e.out.find("#0 ", at + 1);
    all.push_back(e.out.substr(at, next == std::string::npos ? next : next - at));
    at = next;
  }
  return all;
}

std::size_t times(std::string const& text, std::string const& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

bool has(std::string const& text, std::string const& part) { return times(text, part) > 0; }

/// Does the backtrace end where the thread begins, over all stacks?
bool is_whole(std::string const& trace) { return has(trace, " start_thread ") || has(trace, " clone3 "); }

class a_debugger : public ::testing::TestWithParam<std::string> {};

TEST_P(a_debugger, sees_the_frames_below_both_sides_of_a_stolen_join) {
  if (is_sanitized || is_emulated) GTEST_SKIP() << "other names, or nothing that a debugger could attach to";
  std::string const gdb = EDGE_GDB;
  if (gdb.empty()) GTEST_SKIP() << "there is no gdb";
  auto const e = run_program(gdb.c_str(), {"-q",
                                           "-nx",
                                           "-batch",
                                           "-ex",
                                           "set startup-with-shell off",
                                           "-ex",
                                           "set debuginfod enabled off",
                                           "-ex",
                                           "break filch_test_stops",
                                           "-ex",
                                           "run",
                                           "-ex",
                                           "backtrace",
                                           "-ex",
                                           "continue",
                                           "-ex",
                                           "backtrace",
                                           "-ex",
                                           "continue",
                                           "--args",
                                           EDGE_PROGRAM,
                                           "stop-" + GetParam()});
  if (e.says("ptrace: ") || e.says("Could not trace")) GTEST_SKIP() << "nothing may be traced here: " << e;
  auto const traces = backtraces(e);
  ASSERT_EQ(traces.size(), 2u) << e;
  EXPECT_FALSE(e.says("inner to this frame")) << e;
  std::size_t frames_of_f = 0;
  for (auto const& trace : traces) {
    EXPECT_TRUE(is_whole(trace)) << trace;
    frames_of_f += times(trace, " filch_test_below ") == 4;
  }
  EXPECT_EQ(frames_of_f, 1u) << e;
  EXPECT_EQ(times(traces[0] + traces[1], " filch_test_below "), 6u) << e;
  EXPECT_TRUE(has(e.out, "exited normally")) << e;
}

/// The schedulers whose joins are stolen.
template <class... S> std::vector<std::string> names_of(::testing::Types<S...>) {
  std::vector<std::string> names{std::string(S::name)...};
  std::erase(names, filch::serial::name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(of, a_debugger, ::testing::ValuesIn(names_of(::testing::Types<FILCH_SCHEDULERS>())),
                         [](auto const& test) { return test.param; });

}  // namespace
}  // namespace filch_test

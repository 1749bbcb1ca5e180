// Libraries that bring Filch along, or use it while they are loaded and unloaded.
#include "edges/process.hpp"

#include <algorithm>

namespace filch_test {
namespace {

TEST(a_library, may_use_pools_while_it_is_initialised_and_go_when_threads_have_used_them) {
  expect_quiet_end(run_program(EDGE_HOST, {EDGE_GUEST, std::to_string(scaled(20))}), 0, "done\n");
}

TEST(a_library, may_bring_a_copy_of_filch_of_its_own) {
  auto const e = run_program(EDGE_FIRST_COPY, {EDGE_SECOND_COPY, std::to_string(scaled(20))});
  EXPECT_EQ(e.exit_code, 0);
  EXPECT_EQ(e.out, "right\n");
  // The copy that came first has one line to say, at most: the second one's handler is there since.
  EXPECT_LE(std::count(e.err.begin(), e.err.end(), '\n'), 1) << e.err;
  EXPECT_TRUE(e.err.empty() || e.says("a second copy of Filch")) << e.err;
}

TEST(a_library, with_a_copy_of_filch_writes_a_report_of_its_own) {
  for (char const* setting : {"FILCH_TRACE", "FILCH_PROFILE"}) {
    scratch_file report;
    scratch_file second(report.path() + std::string(".2"));
    auto const e = run_program(EDGE_FIRST_COPY, {EDGE_SECOND_COPY, "1"}, {{setting, report.path()}});
    EXPECT_EQ(e.exit_code, 0) << setting;
    EXPECT_TRUE(
        e.says("another report of this process, perhaps by another copy of Filch, is " + std::string(report.path())))
        << e.err;
    EXPECT_GT(report.text().size(), 100u) << setting;
    EXPECT_GT(second.text().size(), 100u) << setting;
  }
}

}  // namespace
}  // namespace filch_test

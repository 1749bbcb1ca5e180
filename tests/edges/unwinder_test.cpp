// Programs in which another unwinder than libgcc's comes first.
#include "edges/process.hpp"

namespace filch_test {
namespace {

TEST(llvm_s_unwinder, walks_through_stolen_joins_without_a_word) {
  if (*EDGE_LLVM_UNWINDER == 0) GTEST_SKIP() << "there is no LLVM libunwind";
  expect_quiet_end(run_program(EDGE_LLVM_UNWINDER, {}), 0, "right\n");
}

}  // namespace
}  // namespace filch_test

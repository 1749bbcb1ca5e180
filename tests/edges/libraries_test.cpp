// Libraries that bring Filch along, or use it while they are loaded and unloaded.
#include "edges/process.hpp"

namespace filch_test {
namespace {

TEST(a_library, may_use_pools_while_it_is_initialised_and_go_when_threads_have_used_them) {
  expect_quiet_end(run_program(EDGE_HOST, {EDGE_GUEST, std::to_string(scaled(20))}), 0, "done\n");
}

}  // namespace
}  // namespace filch_test

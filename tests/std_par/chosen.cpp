// The calls of the scheduler that the environment names, so that a program with filch::std_par is compiled once for
// all.
#include <filch/detail/std_par/calls.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace filch {
inline namespace FILCH_ABI {
namespace std_par {

// FILCH_TEST_EACH(X): X(direct), and so on.
#define FILCH_TEST_DECLARE(name) extern scheduler_calls const name##_calls;
FILCH_TEST_EACH(FILCH_TEST_DECLARE)
extern scheduler_calls const chosen_calls;

namespace {
scheduler_calls const& by_environment() {
  char const* const chosen = std::getenv("FILCH_TEST_SCHEDULER");
#define FILCH_TEST_RETURN(name) \
  if (chosen != nullptr && std::strcmp(chosen, #name) == 0) return name##_calls;
  FILCH_TEST_EACH(FILCH_TEST_RETURN)
  std::fprintf(stderr, "FILCH_TEST_SCHEDULER=%s: expected a scheduler of this build\n", chosen ? chosen : "");
  std::exit(2);
}
}  // namespace

scheduler_calls const chosen_calls = by_environment();

}  // namespace std_par
}  // namespace FILCH_ABI
}  // namespace filch

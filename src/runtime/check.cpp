// The end of a program whose invariants do not hold. Called by check(), in builds with FILCH_CHECK.
#include "runtime/check.hpp"

#include <cstdio>
#include <cstdlib>

namespace filch::runtime {

void end_with_broken(char const* object, broken_condition condition) noexcept {
  std::fprintf(stderr, "filch: an invariant of a %s does not hold: %s\n", object, condition);
  std::abort();
}

}  // namespace filch::runtime

// The end of a program whose invariants do not hold. check()
// calls it, in builds with FILCH_CHECK.
#include "runtime/check.hpp"

#include "os/linux/fatal.hpp"

#include <cstdio>

namespace filch::runtime {

void end_with_broken(char const* object, broken_condition condition) noexcept {
  char line[512];
  std::snprintf(line, sizeof line, "filch: an invariant of a %s does not hold: %s\n", object, condition);
  os::end_with_line(line);
}

}  // namespace filch::runtime

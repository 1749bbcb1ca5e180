// All workloads, compiled for filch::implicit. bench/contenders.cpp lists the contenders.
#include "contender_of.hpp"

#include <filch/implicit.hpp>

namespace bench {

template <> contender contender_under<filch::implicit>() {
  return contender_of<filch::implicit>(
      "the call stack as the deque (papers: try-catch work stealing, return barriers)", false);
}

}  // namespace bench

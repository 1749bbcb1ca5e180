// All workloads, compiled for filch::cactus. bench/contenders.cpp lists the contenders.
#include "contender_of.hpp"

#include <filch/cactus.hpp>

namespace bench {

template <> contender contender_under<filch::cactus>() {
  return contender_of<filch::cactus>("continuations on cactus stacks (paper: Fibril)", false);
}

}  // namespace bench

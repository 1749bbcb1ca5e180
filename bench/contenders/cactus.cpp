#include "contender_of.hpp"

#include <filch/default_scheduler.hpp>

namespace bench {

#if FILCH_HAS_CACTUS
contender cactus_contender() {
  return contender_of<filch::cactus>("continuations on cactus stacks (paper: Fibril)", false);
}
#endif

}  // namespace bench

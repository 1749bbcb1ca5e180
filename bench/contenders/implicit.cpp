#include "contender_of.hpp"

#include <filch/default_scheduler.hpp>

namespace bench {

#if FILCH_HAS_CACTUS
contender implicit_contender() {
  return contender_of<filch::implicit>(
      "the call stack as the deque (papers: try-catch work stealing, return barriers)", false);
}
#endif

}  // namespace bench

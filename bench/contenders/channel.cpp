#include "contender_of.hpp"

#include <filch/channel.hpp>

namespace bench {

contender channel_contender() {
  return contender_of<filch::channel>("private deques, steal requests and tasks as messages", false);
}

}  // namespace bench

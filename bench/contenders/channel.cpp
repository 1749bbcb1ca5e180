#include "contender_of.hpp"

#include <filch/channel.hpp>

namespace bench {

template <> contender contender_under<filch::channel>() {
  return contender_of<filch::channel>("private deques, steal requests and tasks as messages", false);
}

}  // namespace bench

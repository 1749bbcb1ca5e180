// All workloads, compiled for filch::channel. bench/contenders.cpp lists the contenders.
#include "contender_of.hpp"

#include <filch/channel.hpp>

namespace bench {

template <> contender contender_under<filch::channel>() {
  return contender_of<filch::channel>("private deques, steal requests and tasks as messages", false);
}

std::unique_ptr<running_pool> make_channel_pool(filch::channel_options const& options) {
  return std::make_unique<pool_of<filch::channel>>(options);
}

}  // namespace bench

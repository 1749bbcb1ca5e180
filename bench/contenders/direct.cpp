// All workloads, compiled for filch::direct. bench/contenders.cpp lists the contenders.
#include "contender_of.hpp"

#include <filch/direct.hpp>

namespace bench {

template <> contender contender_under<filch::direct>() {
  return contender_of<filch::direct>("the direct task stack (paper: Wool)", false);
}

}  // namespace bench

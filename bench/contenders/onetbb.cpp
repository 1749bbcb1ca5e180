// All workloads, compiled for oneTBB (peers/onetbb.hpp). bench/contenders.cpp lists the contenders.
#include "../peers/onetbb.hpp"
#include "contender_of.hpp"

namespace bench {

contender onetbb_contender() { return contender_of<onetbb>("oneTBB, parallel_invoke", true); }

}  // namespace bench

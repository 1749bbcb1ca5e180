// All workloads, compiled for OpenMP tasks (peers/openmp.hpp). bench/contenders.cpp lists the contenders.
#include "../peers/openmp.hpp"
#include "contender_of.hpp"

namespace bench {

contender openmp_contender() { return contender_of<openmp>("OpenMP tasks, the compiler's own runtime", true); }

}  // namespace bench

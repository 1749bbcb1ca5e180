#include "contender_of.hpp"

#include <filch/direct.hpp>

namespace bench {

contender direct_contender() { return contender_of<filch::direct>("the direct task stack (paper: Wool)", false); }

}  // namespace bench

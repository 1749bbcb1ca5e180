// Functions that a program and a library spawn. Both are compiled with hidden symbols.
#pragma once

#include <filch/cluster.hpp>

namespace filch_test {

__attribute__((visibility("default"))) inline long shared_by_both(filch::rank&) { return 1; }
inline long hidden_in_each(filch::rank&) { return 2; }

}  // namespace filch_test

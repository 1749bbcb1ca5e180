// Which processors this process may use.
#pragma once

#include <vector>

namespace filch::os {

/// Processors in the affinity mask, in the order in which workers should take them: one of each core
/// first where hwloc knows, by number otherwise. Never empty.
std::vector<int> allowed_processors();
/// Processors that the container's CPU quota (cgroup v2 or v1) leaves, rounded up; 0: no quota.
unsigned processor_quota();
/// Binds the calling thread to one processor. False where the system refuses.
bool bind_to_processor(int processor) noexcept;

}  // namespace filch::os

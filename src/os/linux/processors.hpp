// The processors that this process may use.
#pragma once

#include <vector>

namespace filch::os {

/// Processors in the affinity mask, by number. Never empty.
std::vector<int> allowed_processors();
/// Puts them in the order in which workers should be bound to them: one of each core first, if hwloc knows. Takes
/// milliseconds, and hwloc's own locks: not for a child of fork(), where another thread of the parent may hold them
/// for ever.
void spread_over_cores(std::vector<int>& processors);
/// Processors that the container's CPU quota (cgroup v2 or v1) leaves, rounded up; 0: no quota.
unsigned processor_quota();
/// Binds the calling thread to one processor. False where the system refuses.
bool bind_to_processor(int processor) noexcept;

}  // namespace filch::os

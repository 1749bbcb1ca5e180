// The processors that this process may use.
#pragma once

#include <filch/config.hpp>
#include <filch/detail/platform.hpp>

#include <vector>

namespace filch::os {

/// Processors in the calling thread's affinity mask, by number. Never empty. For a thread that is bound, those of
/// which its processor is one.
FILCH_API std::vector<int> allowed_processors();
/// Puts them in the order in which workers should be bound to them: one of each core first, if hwloc knows. The first
/// call that may read the machine's tree takes milliseconds, and hwloc's own locks: a child of fork() may not, since
/// another thread of the parent may hold them for ever. Without the tree the order stays.
void spread_over_cores(std::vector<int>& processors, bool may_read);
/// Processors that the container's CPU quota (cgroup v2 or v1) leaves, rounded up; 0: no quota.
FILCH_API unsigned processor_quota();
/// Binds the calling thread to a processor of these, which it keeps a reference to. False where the system refuses.
bool bind_to_processor(int processor, std::vector<int> const& of) noexcept;
/// Is the calling thread bound by bind_to_processor()? Not if the program has changed its mask since. A thread that
/// it starts has the same mask.
bool is_bound() noexcept;
/// Lets the calling thread run on all of these.
void run_on_all(std::vector<int> const& processors) noexcept;
/// Lets the calling thread run on all of those of which its processor is one, if it is bound.
void unbind() noexcept;

}  // namespace filch::os

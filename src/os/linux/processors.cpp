// Processors of the process: the affinity mask, the order of cores by hwloc, and the CPU quota of the cgroup. Read
// when the settings of a pool are made, and when its threads are bound.
#include "os/linux/processors.hpp"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <span>
#include <sstream>
#include <string>

#if defined(FILCH_WITH_HWLOC)
#include <hwloc.h>
#endif

namespace filch::os {
namespace {

std::vector<int> in_affinity_mask() {
  std::vector<int> found;
  // A machine may have more processors than cpu_set_t holds: the set grows until the kernel accepts it.
  for (int capacity = CPU_SETSIZE; capacity <= 1 << 20; capacity *= 2) {
    cpu_set_t* const set = CPU_ALLOC(static_cast<std::size_t>(capacity));
    if (!set) break;
    std::size_t const bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(capacity));
    bool const got = sched_getaffinity(0, bytes, set) == 0;
    for (int i = 0; got && i < capacity; ++i) {
      if (CPU_ISSET_S(static_cast<std::size_t>(i), bytes, set)) found.push_back(i);
    }
    CPU_FREE(set);
    if (got) break;
  }
  if (found.empty()) found.push_back(0);
  return found;
}

/// Makes these the calling thread's affinity mask.
bool run_on(std::span<int const> processors) noexcept {
  auto const capacity = static_cast<std::size_t>(*std::max_element(processors.begin(), processors.end())) + 1;
  cpu_set_t* const set = CPU_ALLOC(capacity);
  if (!set) return false;
  std::size_t const bytes = CPU_ALLOC_SIZE(capacity);
  CPU_ZERO_S(bytes, set);
  for (int const each : processors) CPU_SET_S(static_cast<std::size_t>(each), bytes, set);
  bool const is_set = sched_setaffinity(0, bytes, set) == 0;
  CPU_FREE(set);
  return is_set;
}

/// To what bind_to_processor() has bound the calling thread.
struct binding {
  int processor = 0;
  std::vector<int> const* of = nullptr;  // null: it did not
};
constinit thread_local binding bound;

unsigned rounded_up(double quota, double period) {
  if (!(quota > 0) || !(period > 0)) return 0;
  return static_cast<unsigned>(std::max(1.0, std::ceil(quota / period)));
}

unsigned quota_v2(std::string const& folder) {
  std::ifstream file(folder + "/cpu.max");
  std::string quota;
  double period = 0;
  if (!(file >> quota >> period) || quota == "max") return 0;
  return rounded_up(std::atof(quota.c_str()), period);
}

unsigned quota_v1(std::string const& folder) {
  std::ifstream quota_file(folder + "/cpu.cfs_quota_us");
  std::ifstream period_file(folder + "/cpu.cfs_period_us");
  double quota = 0;
  double period = 0;
  if (!(quota_file >> quota) || !(period_file >> period)) return 0;
  return rounded_up(quota, period);
}

unsigned smaller_nonzero(unsigned a, unsigned b) { return a == 0 ? b : b == 0 ? a : std::min(a, b); }

// The quota of a group limits its descendants, too: every folder from the process's own to the root is read.
template <class Quota> unsigned along_path(std::string const& mount, std::string path, Quota quota) {
  unsigned least = 0;
  for (;;) {
    least = smaller_nonzero(least, quota(mount + path));
    auto const slash = path.find_last_of('/');
    if (path.empty() || slash == std::string::npos) return least;
    path.resize(slash);
  }
}

}  // namespace

std::vector<int> allowed_processors() {
  if (!is_bound()) return in_affinity_mask();
  std::vector<int> all = *bound.of;
  std::sort(all.begin(), all.end());
  return all;
}

void spread_over_cores([[maybe_unused]] std::vector<int>& processors) {
#if defined(FILCH_WITH_HWLOC)
  // Cores before their second hardware threads.
  hwloc_topology_t topology;
  if (hwloc_topology_init(&topology) != 0) return;
  if (hwloc_topology_load(topology) == 0) {
    auto const rank = [topology](int processor) -> std::pair<unsigned, unsigned> {
      hwloc_obj_t const pu = hwloc_get_pu_obj_by_os_index(topology, static_cast<unsigned>(processor));
      if (!pu) return {0, static_cast<unsigned>(processor)};
      return {pu->sibling_rank, pu->logical_index};
    };
    std::sort(processors.begin(), processors.end(), [&](int a, int b) { return rank(a) < rank(b); });
  }
  hwloc_topology_destroy(topology);
#endif
}

unsigned processor_quota() {
  std::ifstream groups("/proc/self/cgroup");
  unsigned least = 0;
  for (std::string line; std::getline(groups, line);) {  // "id:controllers:path"
    auto const first = line.find(':');
    auto const second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    std::string const controllers = line.substr(first + 1, second - first - 1);
    std::string const path = line.substr(second + 1);
    if (controllers.empty()) {
      least = smaller_nonzero(least, along_path("/sys/fs/cgroup", path, quota_v2));
    } else if (("," + controllers + ",").find(",cpu,") != std::string::npos) {
      least = smaller_nonzero(least, along_path("/sys/fs/cgroup/cpu", path, quota_v1));
    }
  }
  return least;
}

bool bind_to_processor(int processor, std::vector<int> const& of) noexcept {
  if (!run_on({&processor, 1})) return false;
  bound = {processor, &of};
  return true;
}

bool is_bound() noexcept { return bound.of && in_affinity_mask() == std::vector{bound.processor}; }

void run_on_all(std::vector<int> const& processors) noexcept { static_cast<void>(run_on(processors)); }

void unbind() noexcept {
  if (is_bound()) run_on_all(*bound.of);
  bound = {};
}

}  // namespace filch::os

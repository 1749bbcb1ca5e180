// Processors of the process: the affinity mask, the order of cores by hwloc, and the CPU quota of the cgroup. Read
// when the settings of a pool are made, and when its threads are bound.
#include "os/linux/processors.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <span>
#include <sstream>
#include <string>
#include <tuple>

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

#if defined(FILCH_WITH_HWLOC)
/// Where a processor is in the tree of the machine: its number from left to right, and that of its core's first one.
struct tree_place {
  unsigned order;
  unsigned core;
  /// To the right of all that are known.
  static tree_place of_unknown(int processor) noexcept {
    unsigned const number = static_cast<unsigned>(processor) | 1U << 31;
    return {number, number};
  }
};
/// The place of each of the machine's processors, also of those that the process may not use now.
using tree = std::map<unsigned, tree_place>;

/// Null: hwloc can't read it.
std::unique_ptr<tree const> read_tree() {
  hwloc_topology_t topology;
  if (hwloc_topology_init(&topology) != 0) return nullptr;
  std::unique_ptr<hwloc_topology, void (*)(hwloc_topology_t)> const owned(topology, hwloc_topology_destroy);
  hwloc_topology_set_flags(topology, 1UL << 0);  // all processors; the flag's name depends on hwloc's release
  if (hwloc_topology_load(topology) != 0) return nullptr;
  auto all = std::make_unique<tree>();
  tree_place last{};
  hwloc_obj_t core_of_last = nullptr;
  for (hwloc_obj_t pu = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, nullptr); pu; pu = pu->next_cousin) {
    hwloc_obj_t const core = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_CORE, pu);
    last = {pu->logical_index, core && core == core_of_last ? last.core : pu->logical_index};
    core_of_last = core;
    all->emplace(pu->os_index, last);
  }
  return all;
}

/// Read once: that loads hwloc's plugins, beside which a child of fork() may find the lock of exit() taken. Without a
/// lock, for which a child might wait for ever: of two threads that read it, one wins. Never destroyed.
tree const* tree_of_machine(bool may_read) {
  static constinit std::atomic<tree const*> the_tree{nullptr};
  // acquire: its places.
  if (tree const* const there = the_tree.load(std::memory_order_acquire)) return there;
  if (!may_read) return nullptr;
  auto made = read_tree();
  tree const* before = nullptr;
  // acq_rel: the thread that reads the pointer reads the places.
  if (!the_tree.compare_exchange_strong(before, made.get(), std::memory_order_acq_rel)) return before;
  return made.release();
}
#endif

}  // namespace

std::vector<int> allowed_processors() {
  if (!is_bound()) return in_affinity_mask();
  std::vector<int> all = *bound.of;
  std::sort(all.begin(), all.end());
  return all;
}

void spread_over_cores([[maybe_unused]] std::vector<int>& processors, [[maybe_unused]] bool may_read) {
#if defined(FILCH_WITH_HWLOC)
  tree const* const all = tree_of_machine(may_read);
  if (!all) return;
  auto const place = [all](int processor) {
    auto const found = all->find(static_cast<unsigned>(processor));
    return found != all->end() ? found->second : tree_place::of_unknown(processor);
  };
  std::sort(processors.begin(), processors.end(), [&](int a, int b) { return place(a).order < place(b).order; });
  // Cores before their second hardware threads, of those that the process has: a core's are in a row.
  std::vector<std::tuple<unsigned, unsigned, int>> by_rank;
  unsigned rank = 0;
  for (unsigned i = 0; i < processors.size(); ++i) {
    bool const same_core = i > 0 && place(processors[i]).core == place(processors[i - 1]).core;
    rank = same_core ? rank + 1 : 0;
    by_rank.emplace_back(rank, place(processors[i]).order, processors[i]);
  }
  std::sort(by_rank.begin(), by_rank.end());
  std::transform(by_rank.begin(), by_rank.end(), processors.begin(),
                 [](auto const& each) { return std::get<2>(each); });
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

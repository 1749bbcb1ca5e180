// The kinds of tasks, by name: a message names a kind by its id, and each process finds its own function for it.
// Called before main() and by the endpoint, which unpacks tasks.
#include "runtime/fnv1a.hpp"

#include <filch/detail/cluster_task.hpp>

#include <algorithm>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <unordered_map>

namespace filch::inline FILCH_ABI::detail {
namespace {

/// A library that is loaded or unloaded while a cluster runs brings its kinds, and takes them away.
struct known_kinds {
  std::shared_mutex mutex;
  std::unordered_multimap<std::uint64_t, task_kind const*> by_id;  // under mutex
};
/// Never destroyed: other libraries' kinds may go at the end of the process.
known_kinds& kinds() {
  static known_kinds* const all = new known_kinds;
  return *all;
}

}  // namespace

task_kind::task_kind(std::string_view its_name, run_function r, pack_function p, unpack_function u, drop_function d)
    : name(its_name), id(runtime::fnv1a(its_name)), run(r), pack(p), unpack(u), drop(d) {
  std::lock_guard const lock(kinds().mutex);
  kinds().by_id.emplace(id, this);
}

task_kind::~task_kind() {
  std::lock_guard const lock(kinds().mutex);
  auto const [first, last] = kinds().by_id.equal_range(id);
  auto const mine = std::find_if(first, last, [this](auto const& known) { return known.second == this; });
  if (mine != last) kinds().by_id.erase(mine);
}

task_kind const* find_kind(std::uint64_t id) noexcept {
  std::shared_lock const lock(kinds().mutex);
  auto const found = kinds().by_id.find(id);
  return found == kinds().by_id.end() ? nullptr : found->second;
}

bool is_ambiguous(task_kind const& kind) noexcept {
  std::shared_lock const lock(kinds().mutex);
  return kinds().by_id.count(kind.id) > 1;
}

task_kind const* ambiguous_kind() noexcept {
  std::shared_lock const lock(kinds().mutex);
  for (auto const& [id, kind] : kinds().by_id) {
    if (kinds().by_id.count(id) > 1) return kind;
  }
  return nullptr;
}

std::string text_of_ambiguity(task_kind const& kind) {
  return "two spawned functions have one name: " + std::string(kind.name) +
         "; rename one, or, for one inline function in two libraries, give it default visibility";
}

}  // namespace filch::inline FILCH_ABI::detail

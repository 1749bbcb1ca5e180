// Profilers take the address of a name for the fiber, and may read the text later. So names are never freed, and
// stacks that exist at the same time have different ones.
#include "runtime/fiber/hooks.hpp"

#include "runtime/fiber/team.hpp"
#include "runtime/fork_generation.hpp"

#include <array>
#include <deque>
#include <exception>
#include <mutex>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace filch::runtime {
namespace {

struct list_of_names {
  std::deque<std::string> all;
  std::vector<char const*> free;  // has room for all
  list_of_names* of_parent = nullptr;
};
struct hook_state {
  std::mutex mutex;
  // under mutex
  std::array<fiber_hooks, 2> hooks;  // whole is hooks[current], whenever the process forks
  std::size_t current = 0;
  list_of_names* names = new list_of_names;
  std::size_t made = 0;
};
// Never destroyed: workers of the default pool go on while the process ends.
hook_state& state() {
  static auto* const s = new hook_state;
  return *s;
}
// Made when the library is loaded: a child that was forked during another thread's first call would wait for that
// thread for ever.
[[maybe_unused]] hook_state const& made_early = state();

// Another thread of the parent may have held the lock, and may have been changing the lists, which are not read
// again. The parent's stacks keep their names.
void forget_in_child() {
  hook_state& s = state();
  ::new (static_cast<void*>(&s.mutex)) std::mutex;
  s.names = new list_of_names{.all = {}, .free = {}, .of_parent = s.names};
}

/// Before the lock is used.
hook_state& watched_state() {
  watch_forks(forget_in_child);
  return state();
}

constexpr char const* k_without_memory = "fiber";

char const* new_name() noexcept {
  hook_state& s = state();
  std::lock_guard const lock(s.mutex);
  try {
    list_of_names& names = *s.names;
    if (!names.free.empty()) {
      char const* const name = names.free.back();
      names.free.pop_back();
      return name;
    }
    names.free.reserve(names.all.size() + 1);
    char const* const name = names.all.emplace_back("fiber " + std::to_string(s.made + 1)).c_str();
    ++s.made;
    return name;
  } catch (std::exception const&) {
    return k_without_memory;
  }
}

/// The fiber in which the calling thread is, for hooks; null: none.
constinit thread_local char const* here = nullptr;

void enter(fiber_hooks const& hooks, char const* fiber) noexcept {
  here = fiber;
  if (fiber && hooks.enter) hooks.enter(fiber);
}
/// Returns the fiber that was left.
char const* leave(fiber_hooks const& hooks) noexcept {
  char const* const fiber = std::exchange(here, nullptr);
  if (fiber && hooks.leave) hooks.leave(fiber);
  return fiber;
}

}  // namespace

fiber_hooks fiber_hooks_now() noexcept {
  hook_state& s = watched_state();
  std::lock_guard const lock(s.mutex);
  return s.hooks[s.current];
}

void fiber_is_entered(fiber_hooks const& hooks, fiber_member& w) noexcept {
  w.fiber_around = leave(hooks);
  if (!w.stack->name) w.stack->name = new_name();
  enter(hooks, w.stack->name);
}

void fiber_is_left(fiber_hooks const& hooks, fiber_member& w) noexcept {
  leave(hooks);
  enter(hooks, std::exchange(w.fiber_around, nullptr));
}

void give_fiber_name_back(char const* name) noexcept {
  if (!name || name == k_without_memory) return;
  hook_state& s = state();
  std::lock_guard const lock(s.mutex);
  s.names->free.push_back(name);
}

}  // namespace filch::runtime

namespace filch::inline FILCH_ABI {

void set_fiber_hooks(fiber_hooks hooks) noexcept {
  runtime::hook_state& s = runtime::watched_state();
  std::lock_guard const lock(s.mutex);
  s.hooks[1 - s.current] = hooks;
  s.current = 1 - s.current;
}

}  // namespace filch::inline FILCH_ABI

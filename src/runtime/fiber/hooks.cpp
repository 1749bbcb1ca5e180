// Profilers take the address of a name for the fiber, and may read the text later. So names are never freed, and
// stacks that exist at the same time have different ones.
#include "runtime/fiber/hooks.hpp"

#include "runtime/fiber/team.hpp"

#include <deque>
#include <exception>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace filch::runtime {
namespace {

struct hook_state {
  std::mutex mutex;
  // under mutex
  fiber_hooks hooks;
  std::deque<std::string> names;
  std::vector<char const*> free;  // has room for all
};
// Never destroyed: workers of the default pool go on while the process ends.
hook_state& state() {
  static auto* const s = new hook_state;
  return *s;
}

constexpr char const* k_without_memory = "fiber";

char const* new_name() noexcept {
  hook_state& s = state();
  std::lock_guard const lock(s.mutex);
  if (!s.free.empty()) {
    char const* const name = s.free.back();
    s.free.pop_back();
    return name;
  }
  try {
    s.free.reserve(s.names.size() + 1);
    return s.names.emplace_back("fiber " + std::to_string(s.names.size() + 1)).c_str();
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
  std::lock_guard const lock(state().mutex);
  return state().hooks;
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
  std::lock_guard const lock(state().mutex);
  state().free.push_back(name);
}

}  // namespace filch::runtime

namespace filch::inline FILCH_ABI {

void set_fiber_hooks(fiber_hooks hooks) noexcept {
  std::lock_guard const lock(runtime::state().mutex);
  runtime::state().hooks = hooks;
}

}  // namespace filch::inline FILCH_ABI

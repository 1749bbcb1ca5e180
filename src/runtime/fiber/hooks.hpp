// filch::set_fiber_hooks: the hooks of new pools, and the names that hooks are called with.
#pragma once

#include <filch/fiber_hooks.hpp>

namespace filch::runtime {

struct fiber_member;

/// The hooks of a new pool.
fiber_hooks fiber_hooks_now() noexcept;

/// The worker, on its home stack, is about to go to the fiber on w.stack; or it has just left that fiber.
void fiber_is_entered(fiber_hooks const& hooks, fiber_member& w) noexcept;
void fiber_is_left(fiber_hooks const& hooks, fiber_member& w) noexcept;

/// At the end of a stack.
void give_fiber_name_back(char const* name) noexcept;

}  // namespace filch::runtime

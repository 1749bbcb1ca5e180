// The process of the pools: a lock under which some are made, and the errors that end it.
#pragma once

#include <atomic>
#include <exception>
#include <mutex>

namespace filch::runtime {

/// Guards objects that the first thread makes. New in a child of fork(): another thread may have held it.
std::mutex& making_pools();
/// One line on stderr, exit code 2.
[[noreturn]] void no_default_pool(std::exception const& why) noexcept;
/// sync() of a scope by a fiber that does not own it, or inside a stay that the scope is outside of: one line on
/// stderr, and the end.
[[noreturn]] void not_the_scope_s_owner() noexcept;
/// A child of fork() waits for a task of its parent: one line on stderr, and the end.
[[noreturn]] void child_can_t_go_on() noexcept;
/// A task was left by something that is no C++ exception, and can't be thrown elsewhere: one line on stderr, and the
/// end of the process.
[[noreturn]] void no_cxx_exception() noexcept;
/// Sets `place` to null in a child of fork(). `place` is static.
void forget_in_child(std::atomic<void*>& place);

}  // namespace filch::runtime

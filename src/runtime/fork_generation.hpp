// Distinguishes a child of fork() from its parent.
#pragma once

namespace filch::runtime {

/// The number of fork()s between the process in which the first pool was made and this one.
unsigned fork_generation() noexcept;
/// Calls `in_child` in every child of fork(), after the count went up. Once for each function, however
/// often it is asked for.
void watch_forks(void (*in_child)());

}  // namespace filch::runtime

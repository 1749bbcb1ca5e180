// Distinguishes a child of fork() from its parent.
#pragma once

namespace filch::runtime {

/// The number of fork()s between the process in which the first pool was made and this one.
unsigned fork_generation() noexcept;
/// Before a pool is made: from now on they are counted.
void count_forks() noexcept;
/// Calls `in_child` in every child of fork(). Once for each function, however often it is asked for. Takes no lock.
/// `in_child` runs beside whatever other threads of the parent left half done: it makes locks new, and looks at
/// nothing that they guard, unless that is whole at any time.
void watch_forks(void (*in_child)()) noexcept;

}  // namespace filch::runtime

// The state of the calling thread for the schedulers that move fibers. team.cpp makes it a worker, and keeps the
// state before. nesting.cpp has the rest: stays, runs of other pools, children of fork(). Page: ../migration.md,
// "filch::stay".
#pragma once

#include <filch/detail/fiber.hpp>

namespace filch::runtime {

struct fiber_member;

/// Makes the calling thread that worker. Never inlined: a caller may be on another thread after a join.
void become(detail::fiber_worker*) noexcept;
/// Null: the thread is no team's worker at this moment.
fiber_member* member_or_null(detail::fiber_worker*) noexcept;
/// See ../workers_around.hpp.
unsigned fiber_workers_around() noexcept;
/// For each team, before its first worker: registers its workers for children of fork() and runs of other pools.
void watch_nesting();

}  // namespace filch::runtime

// Calls of pool.run on the calling thread.
#pragma once

#include "races/sections.hpp"

namespace filch::races {

struct run_record {
  run_record* outer;
  void const* pool;
  unsigned scheduler;
  bool is_checked;
  fork_place detached;  // tasks without a join
  bool is_entered(void const* p) const noexcept;
};

/// The innermost call of the calling thread, or null.
run_record* my_run() noexcept;
/// How many stays are around the calling thread's code.
std::uint32_t& stays_here() noexcept;

void open_detached(fork_place& place) noexcept;
void join_detached(fork_place& place) noexcept;
void keep_detached(fork_place& of_call, fork_place& of_pool) noexcept;

}  // namespace filch::races

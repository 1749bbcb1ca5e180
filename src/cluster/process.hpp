// The process of a transport: its processors, and its last line. Called by mpi.cpp and threads.cpp.
#pragma once

#include <filch/config.hpp>

#include <sched.h>
#include <cstdio>
#include <string_view>

namespace filch::inline FILCH_ABI::detail {

/// The processors that the process may use; empty if the system does not say.
inline cpu_set_t affinity() noexcept {
  cpu_set_t mine;
  CPU_ZERO(&mine);
  sched_getaffinity(0, sizeof mine, &mine);
  return mine;
}

/// The line on stderr before all ranks end.
inline void say_that_all_end(int rank, std::string_view text) noexcept {
  std::fprintf(stderr, "filch: rank %d: %.*s; ending all ranks\n", rank, static_cast<int>(text.size()), text.data());
  std::fflush(stderr);
}

}  // namespace filch::inline FILCH_ABI::detail

// The process of a transport: its processors, and its last line. Called by mpi.cpp and threads.cpp.
#pragma once

#include "os/linux/processors.hpp"

#include <filch/config.hpp>

#include <algorithm>
#include <cstdio>
#include <string_view>
#include <vector>

namespace filch::inline FILCH_ABI::detail {

/// The number of workers of a rank that shares these processors, and the container's quota, with others: `ranks` in
/// all. 0 for a lone rank, whose pool counts itself.
inline unsigned workers_of_each(std::vector<int> const& processors, std::size_t ranks) {
  constexpr std::size_t k_most = 1024;  // of a pool
  if (ranks == 1) return 0;
  std::size_t const quota = os::processor_quota();
  std::size_t const all = quota ? std::min(quota, processors.size()) : processors.size();
  return static_cast<unsigned>(std::clamp<std::size_t>(all / ranks, 1, k_most));
}

/// The line on stderr before all ranks end.
inline void say_that_all_end(int rank, std::string_view text) noexcept {
  std::fprintf(stderr, "filch: rank %d: %.*s; ending all ranks\n", rank, static_cast<int>(text.size()), text.data());
  std::fflush(stderr);
}

}  // namespace filch::inline FILCH_ABI::detail

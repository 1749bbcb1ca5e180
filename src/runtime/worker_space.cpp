#include "runtime/worker_space.hpp"

#include <cerrno>
#include <cstdint>

namespace filch::runtime {

worker_space::worker_space(std::size_t stack_bytes, std::size_t upper_bytes) noexcept {
  std::size_t const bytes = stack_bytes + upper_bytes + k_block;
  if (bytes < stack_bytes || bytes < upper_bytes) {
    errno = ENOMEM;
    return;
  }
  all_ = os::reservation(bytes);
  if (!all_.valid()) return;
  std::size_t const past_middle =
      (reinterpret_cast<std::uintptr_t>(all_.low()) + stack_bytes + k_block / 2) % k_block;
  middle_ = all_.low() + stack_bytes + (past_middle ? k_block - past_middle : 0);
}

}  // namespace filch::runtime

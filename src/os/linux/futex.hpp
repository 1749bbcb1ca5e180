// Sleeping on a word of memory.
#pragma once

#include <atomic>
#include <cstdint>

namespace filch::os {

/// Sleeps while `word` is `expected`. May return early; the caller looks again.
void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected) noexcept;
/// Wakes one sleeper of `word`, which need not exist any more: nothing is read from it.
void futex_wake(std::atomic<std::uint32_t>& word) noexcept;

}  // namespace filch::os

// Sleeping on a word of memory.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace filch::os {

/// Sleeps while `word` is `expected`. May return early; the caller looks again.
void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected) noexcept;
/// The same, for so long at most.
void futex_wait_for(std::atomic<std::uint32_t>& word, std::uint32_t expected,
                    std::chrono::nanoseconds limit) noexcept;
/// Wakes one sleeper of `word`, which need not exist any more: nothing is read from it.
void futex_wake(std::atomic<std::uint32_t>& word) noexcept;
/// The same for all sleepers.
void futex_wake_all(std::atomic<std::uint32_t>& word) noexcept;

}  // namespace filch::os

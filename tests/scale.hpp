// The size of long tests in builds that run slowly.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>

#ifndef FILCH_TEST_EMULATED
#define FILCH_TEST_EMULATED 0
#endif

#ifndef FILCH_TEST_FORCED
#define FILCH_TEST_FORCED 0
#endif

#if defined(__has_feature)
#define FILCH_TEST_HAS(x) __has_feature(x)
#else
#define FILCH_TEST_HAS(x) 0
#endif

namespace filch_test {

#if defined(__SANITIZE_ADDRESS__) || FILCH_TEST_HAS(address_sanitizer)
#define FILCH_TEST_ASAN 1
#else
#define FILCH_TEST_ASAN 0
#endif
#if defined(__SANITIZE_THREAD__) || FILCH_TEST_HAS(thread_sanitizer)
#define FILCH_TEST_TSAN 1
#else
#define FILCH_TEST_TSAN 0
#endif
inline constexpr bool is_address_sanitized = FILCH_TEST_ASAN;
inline constexpr bool is_thread_sanitized = FILCH_TEST_TSAN;
inline constexpr bool is_sanitized = is_address_sanitized || is_thread_sanitized;
/// Is the processor emulated? The tests were built for another machine.
inline constexpr bool is_emulated = FILCH_TEST_EMULATED;

#if defined(__OPTIMIZE__)
inline constexpr bool is_optimised = true;
#else
inline constexpr bool is_optimised = false;
#endif

/// `full` on a release build, less where each step costs more; at least one. FILCH_TEST_SCALE multiplies:
/// 0.1 for a quick look, 100 for a night.
inline std::size_t scaled(std::size_t full) {
  double share = is_thread_sanitized    ? 0.05
                 : is_address_sanitized ? 0.05
                 : is_emulated          ? 0.05
                 : FILCH_TEST_FORCED    ? 0.5
                 : is_optimised         ? 1
                                        : 0.2;
  if (char const* const text = std::getenv("FILCH_TEST_SCALE")) {
    double const asked = std::strtod(text, nullptr);
    if (asked > 0) share *= asked;
  }
  return std::max<std::size_t>(1, static_cast<std::size_t>(static_cast<double>(full) * share));
}

}  // namespace filch_test

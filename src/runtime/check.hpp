// Invariants, executed. In builds with FILCH_CHECK each slow path of a scheduler begins with check(): the first
// condition that does not hold ends the program with one line. In other builds check() is empty.
//
// The conditions of one kind of object stand in one function: it returns the text of the first one that does not
// hold, or null. Tests call that function, too, with objects that they have broken.
#pragma once

namespace filch::runtime {

#if defined(FILCH_CHECK)
inline constexpr bool k_checks = true;
#else
inline constexpr bool k_checks = false;
#endif

/// The text of a condition that does not hold; null: all hold.
using broken_condition = char const*;

/// Prints the object and the condition, and aborts.
[[noreturn]] void end_with_broken(char const* object, broken_condition condition) noexcept;

/// Ends the program if a condition of the object does not hold. `first_broken` is not called where checks are off.
template <class FirstBroken> void check(char const* object, FirstBroken const& first_broken) noexcept {
  if constexpr (k_checks) {
    if (broken_condition const condition = first_broken()) end_with_broken(object, condition);
  }
}

}  // namespace filch::runtime

/// In a function that returns a broken_condition.
#define FILCH_HOLDS(condition)           \
  do {                                   \
    if (!(condition)) return #condition; \
  } while (false)

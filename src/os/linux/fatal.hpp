// The end of the process after an error that no caller can handle: one line on stderr, then abort().
#pragma once

namespace filch::os {

/// Prints the line, which ends with a newline, and calls std::abort(). Where several threads fail at once the first
/// one prints; the others wait for the end. Safe in a signal handler.
[[noreturn]] void end_with_line(char const* line) noexcept;

}  // namespace filch::os

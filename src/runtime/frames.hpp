// Finds the stack on which the frames of running code lie.
#pragma once

#include <cstddef>

namespace filch::runtime {

/// The result of following the callers of code on a stack.
enum class [[nodiscard]] frames_lead {
  to_its_top,  // frame by frame
  elsewhere,   // the code is on a stack of its own, perhaps one inside this stack; or nothing tells
  too_far,     // more frames than are looked at
};

/// Follows the caller's frames up to the one at `top`, where the stack [low, top) begins. A stack of a program's own,
/// of a coroutine say, may lie in a frame of it, above live ones: no stack pointer tells what is unused then. Asks
/// the unwinder: 0.1 to 0.2 us a frame.
frames_lead where_frames_lead(std::byte const* low, std::byte const* top) noexcept;

}  // namespace filch::runtime

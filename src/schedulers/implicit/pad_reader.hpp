// Landing pads, read instead of run.
#pragma once

#include "schedulers/implicit/join_frames.hpp"

namespace filch::inline FILCH_ABI::detail {

struct implicit_state;

/// Can read_pad() follow the code at a landing pad? Reads the code alone.
bool can_read_pad(std::uint64_t pad) noexcept;
/// What filch_implicit_run_pad would find out, worked out instruction by instruction, on any thread, while the
/// frame's stack goes on being used below it. What the pad stores is stored, in the frame. False, and nothing has
/// happened: can_read_pad() would say no by now, since somebody has set a breakpoint there.
[[nodiscard]] bool read_pad(implicit_state& s, join_frame const& frame, void const* exception) noexcept;

}  // namespace filch::inline FILCH_ABI::detail

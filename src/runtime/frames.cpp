// Follows the frames of running code by the unwinder. Called before pages of a stack are given back, to see that no
// live frame lies outside it.
#include "runtime/frames.hpp"

#include <unwind.h>

#include <cstdint>

namespace filch::runtime {
namespace {

constexpr unsigned k_most_frames = 1000;
// Bytes above the frame address of the first function on a stack, at most: src/arch, and fiber_stack's constructor.
// Less than that function's own frame, so that no stack inside one of those that it calls comes so near.
constexpr std::uintptr_t k_near_top = 64;

struct frame_walk {
  std::uintptr_t at;
  std::uintptr_t top;
  unsigned frames = 0;
  frames_lead found = frames_lead::elsewhere;
};

_Unwind_Reason_Code look_at_frame(_Unwind_Context* context, void* p) {
  auto& walk = *static_cast<frame_walk*>(p);
  std::uintptr_t const frame = _Unwind_GetCFA(context);
  if (frame < walk.at || frame > walk.top) return _URC_END_OF_STACK;
  walk.at = frame;
  if (walk.top - frame <= k_near_top) {
    walk.found = frames_lead::to_its_top;
    return _URC_END_OF_STACK;
  }
  if (++walk.frames < k_most_frames) return _URC_NO_REASON;
  walk.found = frames_lead::too_far;
  return _URC_END_OF_STACK;
}

}  // namespace

frames_lead where_frames_lead(std::byte const* low, std::byte const* top) noexcept {
  frame_walk walk{reinterpret_cast<std::uintptr_t>(low), reinterpret_cast<std::uintptr_t>(top)};
  _Unwind_Backtrace(look_at_frame, &walk);
  return walk.found;
}

}  // namespace filch::runtime

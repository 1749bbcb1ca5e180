// The front of this folder, and the only header of it that the rest of implicit includes: a walk over a stack that
// finds join frames, and the values that their landing pads pass on. Victims walk when they answer a request
// (offer.cpp); thieves and owners read landing pads (enter_pad.cpp). See protocol.md, "A join frame".
#pragma once

#include "schedulers/implicit/unwind/call_frames.hpp"
#include "schedulers/implicit/unwind/pad_moves.hpp"

#include <unwind.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

namespace filch::inline FILCH_ABI::detail {

/// A join frame: the registers at its landing pad. Laid out for src/arch/x86_64/continuation.S.
struct join_frame {
  std::uint64_t rbx, rbp, r12, r13, r14, r15, pad_rsp, pad;
  std::uint64_t selector;  // rdx on the landing pad
  std::uint64_t rsp;       // after the call; pad_rsp is higher by the arguments that were pushed for it
  pad_use pad_is;

  /// Where the return address of f lies.
  std::uint64_t* return_slot() const noexcept { return reinterpret_cast<std::uint64_t*>(rsp) - 1; }
};

/// The registers with which a frame continues at its landing pad, the result of entering it. Laid out for
/// src/arch/x86_64/continuation.S.
struct implicit_state {
  std::uint64_t rbx, rbp, r12, r13, r14, r15, rsp, rip;
  std::uint64_t rcx, rdx, rsi, rdi, r8, r9, r10;
  std::uint64_t offering_rsp;
};
static_assert(offsetof(implicit_state, rip) == 56 && offsetof(implicit_state, offering_rsp) == 120);

/// Reads the landing pad of a frame, instruction by instruction, on any thread: the result is that of
/// filch_implicit_run_pad. The pad's stores go into the frame; younger frames below it may run meanwhile. False, and
/// nothing was stored: can_read_pad() says no by now, since a breakpoint was set there. `cache` is the thread's; it
/// may be null.
[[nodiscard]] bool read_pad(implicit_state& s, join_frame const& frame, void const* exception,
                            pad_cache* cache) noexcept;
/// Can the owner run the code at a landing pad without a call or a push? Reads code only.
bool may_run_pad(std::uint64_t pad) noexcept;

/// From newer frames of a stack to older ones. A frame without unwind information ends the walk.
class join_frame_walk {
 public:
  /// begin.ip is a return address (`begins_after_call`) or the next instruction. Frames must lie on the stack, their
  /// stack pointers below `stop`. Without a cache each frame is worked out anew.
  join_frame_walk(frame_registers const& begin, bool begins_after_call, stack_bounds stack, std::uint64_t stop,
                  call_frame_cache* cache) noexcept
      : at_(begin), is_return_address_(begins_after_call), bounds_(stack), stop_(stop), cache_(cache) {}

  /// The address above which the walk saw nothing, for want of unwind information; ~0: it saw all.
  std::uint64_t reach() const noexcept { return reach_; }

  /// The next older frame whose landing pad can be entered. False: there is none.
  bool next(join_frame& found) noexcept {
    while (next_of_any_use(found)) {
      if (found.pad_is != pad_use::unfit) [[likely]]
        return true;
    }
    return false;
  }
  /// The same, also if its pad can't be entered, or if it may be no join frame (pad_use::unfit).
  bool next_of_any_use(join_frame& found) noexcept {
    for (;;) {
      std::uint64_t const rsp = at_[frame_registers::rsp];
      if (rsp < bounds_.low || rsp >= bounds_.high) {  // another stack, which hides what called it
        reach_ = 0;
        return false;
      }
      if (is_over_ || rsp >= stop_) return false;
      call_frame& f = frame_here();
      bool const is_join = f.pad != 0 || f.may_have_pad;
      if (is_join) {
        found = {at_.r[0],          at_.r[1], at_.r[2],   at_.r[3], at_.r[4], at_.r[5],
                 rsp + f.arguments, f.pad,    f.selector, rsp,      f.pad_is};
      }
      if (!step(at_, f, bounds_)) {
        // A join frame has a caller: where the call-frame information is wrong, this is none.
        is_over_ = true;
        reach_ = rsp;
        return false;
      }
      if (is_join) return true;
    }
  }

 private:
  call_frame& frame_here() noexcept {
    bool const is_return_address = std::exchange(is_return_address_, true);
    if (!cache_) return own_ = without_cache(at_.ip, is_return_address);
    if (!is_return_address) return own_ = cache_->of_instruction(at_.ip);
    callee_ = callee_ ? &cache_->caller_of(*callee_, at_.ip) : &cache_->at(at_.ip);
    return *callee_;
  }

  [[gnu::noinline]] static call_frame without_cache(std::uint64_t ip, bool is_return_address) noexcept {
    call_frame_scratch scratch;
    return find_call_frame(ip, is_return_address, scratch);
  }

  frame_registers at_;
  bool is_return_address_;
  bool is_over_ = false;
  std::uint64_t reach_ = ~std::uint64_t{0};
  stack_bounds bounds_;
  std::uint64_t stop_;
  call_frame_cache* cache_;
  call_frame* callee_ = nullptr;  // the last frame's entry in the cache
  call_frame own_;
};

/// The oldest join frames of a walk. It does not lie on the stack that is walked: a fiber that waits gives back the
/// pages below its frames, and pages that only offers touch would come and go all the time.
class oldest_join_frames {
 public:
  static constexpr std::size_t k_most = 32;

  void find(join_frame_walk const& from) noexcept {
    found_ = 0;
    join_frame_walk& walk = walk_.emplace(from);
    while (walk.next(frames_[found_ % k_most])) ++found_;
    reach_ = walk.reach();
  }
  std::uint64_t reach() const noexcept { return reach_; }
  std::size_t found() const noexcept { return found_; }
  /// Frame number i from the oldest; i < min(found(), k_most - 1).
  join_frame const& from_oldest(std::size_t i) const noexcept { return frames_[(found_ - 1 - i) % k_most]; }

 private:
  std::size_t found_ = 0;
  std::uint64_t reach_ = 0;
  std::array<join_frame, k_most> frames_;
  std::optional<join_frame_walk> walk_;
};

}  // namespace filch::inline FILCH_ABI::detail

extern "C" {
/// ../personality.cpp. Its address tells return barriers from other functions.
[[gnu::visibility("hidden")]] _Unwind_Reason_Code filch_implicit_personality(int, _Unwind_Action,
                                                                             _Unwind_Exception_Class,
                                                                             _Unwind_Exception*, _Unwind_Context*);
/// ../enter_pad.cpp. Set while a landing pad is run.
FILCH_API extern constinit thread_local filch::detail::implicit_state* filch_implicit_offering
    __attribute__((tls_model("initial-exec")));
}

namespace filch::inline FILCH_ABI::detail {

/// Thread-local variables lie at fixed distances from it.
inline std::uint64_t thread_pointer() noexcept {
  std::uint64_t at;
  asm("movq %%fs:0, %0" : "=r"(at));
  return at;
}

}  // namespace filch::inline FILCH_ABI::detail

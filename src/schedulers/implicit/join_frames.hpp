// Finding the join frames of a stack.
#pragma once

#include "schedulers/implicit/call_frames.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

namespace filch::inline FILCH_ABI::detail {

/// The registers at a landing pad. Laid out for src/arch/x86_64/continuation.S.
struct join_frame {
  std::uint64_t rbx, rbp, r12, r13, r14, r15, pad_rsp, pad;
  std::uint64_t selector;
  std::uint64_t rsp;  // after the call; on the landing pad, arguments that were pushed are gone
  pad_use pad_is;

  std::uint64_t* return_slot() const noexcept { return reinterpret_cast<std::uint64_t*>(rsp) - 1; }
};

/// From newer frames of a stack to older ones. Frames without unwind information end it.
class join_frame_walk {
 public:
  /// From `begin`, where the next instruction of its frame is, or its call returns to; as long as frames lie in
  /// [low, high), and their calls return below `stop`. Without a cache everything is worked out anew.
  join_frame_walk(frame_registers const& begin, bool begins_after_call, std::uint64_t low, std::uint64_t high,
                  std::uint64_t stop, call_frame_cache* cache) noexcept
      : at_(begin), is_return_address_(begins_after_call), bounds_{low, high}, stop_(stop), cache_(cache) {}

  /// Where it had to end for want of unwind information, if it had to: it saw what lies below.
  std::uint64_t reach() const noexcept { return reach_; }

  /// The next one that can be landed in, older than the last. False: there is none.
  bool next(join_frame& found) noexcept {
    while (next_of_any_use(found)) {
      if (found.pad_is != pad_use::unfit) [[likely]]
        return true;
    }
    return false;
  }
  /// The same, also where it can't be landed in, or may be no join frame: pad_use::unfit.
  bool next_of_any_use(join_frame& found) noexcept {
    for (;;) {
      std::uint64_t const rsp = at_[frame_registers::rsp];
      if (rsp < bounds_.low || rsp >= bounds_.high) {  // another stack: what it came from is hidden
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
        // Nor is a join frame one where call-frame information is wrong: each has a caller.
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
  call_frame* callee_ = nullptr;  // in the cache
  call_frame own_;
};

/// The oldest join frames that a walk came across. Too large to lie on the stacks that are walked: pages that offers
/// alone touch would be given back and come again whenever a fiber waits.
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
  /// Of those found, number i from the oldest; i < min(found(), k_most - 1).
  join_frame const& from_oldest(std::size_t i) const noexcept { return frames_[(found_ - 1 - i) % k_most]; }

 private:
  std::size_t found_ = 0;
  std::uint64_t reach_ = 0;
  std::array<join_frame, k_most> frames_;
  std::optional<join_frame_walk> walk_;
};

}  // namespace filch::inline FILCH_ABI::detail

// Finding the join frames of a stack: its walk, and the exception tables read as a map from a return address to the
// landing pad of a continuation.
#pragma once

#include <filch/detail/platform.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace filch::inline FILCH_ABI::detail {

/// The registers at a landing pad. Laid out for src/arch/x86_64/continuation.S.
struct join_frame {
  std::uint64_t rbx, rbp, r12, r13, r14, r15, rsp, pad;
  std::uint64_t selector;

  std::uint64_t* return_slot() const noexcept { return reinterpret_cast<std::uint64_t*>(rsp) - 1; }
};

/// The oldest join frames that a walk came across, in the order in which it met them: from the newest to the oldest.
class join_frames {
 public:
  static constexpr std::size_t k_most = 32;

  void add(join_frame const& f) noexcept { frames_[found_++ % k_most] = f; }
  std::size_t found() const noexcept { return found_; }
  /// Of those found, number i from the oldest; i < min(found(), k_most).
  join_frame const& from_oldest(std::size_t i) const noexcept { return frames_[(found_ - 1 - i) % k_most]; }

 private:
  std::size_t found_ = 0;
  std::array<join_frame, k_most> frames_;
};

/// Walks the calling thread's stack from here to older frames: as long as frames end in [low, high), and below
/// `stop`. Frames without unwind information end the walk.
void walk_join_frames(join_frames& found, std::uint64_t low, std::uint64_t high, std::uint64_t stop,
                      bool only_the_newest) noexcept;

}  // namespace filch::inline FILCH_ABI::detail

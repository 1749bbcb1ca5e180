// The return barrier: what f of an offered frame returns to. The assembly is in src/arch/x86_64/continuation.S; its
// calls come through personality.cpp.
#pragma once

#include "schedulers/implicit/record.hpp"

#include <exception>

namespace filch::inline FILCH_ABI::detail {

/// The registers that the barrier saves. Laid out for src/arch/x86_64/continuation.S.
struct implicit_returned {
  implicit_registers results;
  std::uint64_t rbx, rbp, r12, r13, r14, r15;
  std::uint64_t unused[4];
  std::uint64_t continues_at;  // f's return address; just below the frame's stack pointer

  /// The registers of the frame where f returns to.
  frame_registers frame() const noexcept {
    return {{rbx, rbp, r12, r13, r14, r15, reinterpret_cast<std::uint64_t>(this + 1)}, continues_at};
  }
};
static_assert(offsetof(implicit_returned, rbx) == 24 && offsetof(implicit_returned, continues_at) == 104 &&
              sizeof(implicit_returned) == 112);

/// f of the newest offered frame is done. `on_stack` lies on that frame's stack, which is 2^bits bytes large and
/// aligned. It has returned, or thrown. Waits for the thief if there is one. Returns how the frame continues at its
/// landing pad. Null: g has not run, and the frame continues where f returns to, as if there had been no offer.
implicit_state* child_returned(implicit_returned const& returned, unsigned bits) noexcept;
implicit_state* child_threw(void const* on_stack, unsigned bits, std::exception_ptr thrown) noexcept;

/// The frame of this record continues at its landing pad next, on this thread.
void continue_at_pad(implicit_record& r) noexcept;
/// The same for a frame outside all pools: outside.cpp.
implicit_state* child_returned_outside() noexcept;
/// The frame has taken its outcome.
void end_outside(implicit_record& r) noexcept;

}  // namespace filch::inline FILCH_ABI::detail

// personality.cpp: called by the assembly, and by the unwinder.
extern "C" {
[[gnu::visibility("hidden")]] filch::detail::implicit_state* filch_implicit_child_returned(
    filch::detail::implicit_returned const* returned, unsigned bits) noexcept;
[[gnu::visibility("hidden")]] filch::detail::implicit_state* filch_implicit_child_threw(void* exception,
                                                                                        void const* on_stack,
                                                                                        unsigned bits) noexcept;
[[gnu::visibility("hidden")]] filch::detail::implicit_state* filch_implicit_returned_outside() noexcept;
}

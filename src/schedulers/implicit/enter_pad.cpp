// Entering the landing pad of an offered frame: a destructor on the pad hands over what g is, where its result goes,
// and where the frame continues. A thief reads the pad (unwind/pad_reader.cpp). The owner can also run it. Called by
// the thief (steal.cpp), the owner that offers (offer.cpp) and the return barrier (barrier.cpp). See protocol.md, "A
// join frame".
#include "schedulers/implicit/probes.hpp"
#include "schedulers/implicit/record.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstring>

extern "C" {
void filch_implicit_run_pad(filch::detail::implicit_state*, filch::detail::join_frame const*, _Unwind_Exception*);
/// Set while a landing pad is run. Assembly reads it, which optimisers of whole programs do not see.
FILCH_API constinit thread_local filch::detail::implicit_state* filch_implicit_offering
    __attribute__((tls_model("initial-exec"), used)) = nullptr;
}

namespace filch::inline FILCH_ABI::detail {
namespace {

/// All of them: the functions of the C library leave out its own signals, as that of setuid in another thread.
class signals_blocked {
 public:
  signals_blocked() noexcept { set(~std::uint64_t{0}, &before_); }
  signals_blocked(signals_blocked const&) = delete;
  signals_blocked& operator=(signals_blocked const&) = delete;
  ~signals_blocked() { set(before_, nullptr); }

 private:
  /// The kernel's signal sets have 64 signals.
  static void set(std::uint64_t mask, std::uint64_t* before) noexcept {
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, before, sizeof mask);
  }

  std::uint64_t before_ = 0;
};

/// The unwinder calls it at the end of the marker's handler. The marker belongs to the record.
void keep_marker(_Unwind_Reason_Code, _Unwind_Exception*) {}

void put_marker(implicit_record& r) noexcept {
  std::memcpy(&r.marker.exception_class, "FILCHC++", sizeof r.marker.exception_class);
  r.marker.exception_cleanup = keep_marker;
}

/// Younger frames lie below the pad's stack pointer: a signal handler would overwrite them.
void run_pad(implicit_record& r, join_frame const& frame) noexcept {
  signals_blocked const for_now;
  filch_implicit_run_pad(&r.state, &frame, &r.marker);
}

/// Takes the values that the pad has passed on out of the registers.
void keep_handed_over(implicit_record& r) noexcept {
  r.has_entered_pad = true;
  r.run = reinterpret_cast<decltype(r.run)>(r.state.rdi);
  r.words[0] = r.state.rsi;
  r.words[1] = r.state.rdx;
  r.g_slot = reinterpret_cast<void*>(r.state.rcx);
}

/// Have reading and running led to the same state? A register that the pad does not write is zero in `read`.
bool is_same(implicit_state const& read, implicit_state const& run) noexcept {
  auto const may_be = [](std::uint64_t was_read, std::uint64_t was_run) {
    return was_read == 0 || was_read == was_run;
  };
  return std::memcmp(&read, &run, offsetof(implicit_state, r8)) == 0 && may_be(read.r8, run.r8) &&
         may_be(read.r9, run.r9) && may_be(read.r10, run.r10);
}

}  // namespace

bool enter_pad(implicit_record& r, pad_cache* pads) noexcept {
  if (r.has_entered_pad) return true;
  join_frame const frame = r.frame;  // `state` takes its place
  put_marker(r);
  if (frame.pad_is == pad_use::unfit) return false;
  bool const is_read = frame.pad_is == pad_use::read;
  implicit_state read;
  if (is_read && !read_pad(read, frame, &r.marker, pads)) return false;
  if (is_read && !probes::runs_pads()) {
    r.state = read;
  } else {
    run_pad(r, frame);
    if (is_read && !is_same(read, r.state)) probes::count_misread_pad();
  }
  keep_handed_over(r);
  return true;
}

void enter_pad_as_owner(implicit_record& r, pad_cache* pads) noexcept {
  if (enter_pad(r, pads)) [[likely]]
    return;
  join_frame const frame = r.frame;
  run_pad(r, frame);
  keep_handed_over(r);
}

}  // namespace filch::inline FILCH_ABI::detail

// The C++ runtime's exceptions of the calling thread: those that are handled, and the number in flight.
#pragma once

#include <cxxabi.h>

#include <utility>
#include <version>

#if defined(_LIBCPP_VERSION)  // its header leaves it out
namespace __cxxabiv1 {
struct __cxa_eh_globals;
extern "C" __cxa_eh_globals* __cxa_get_globals();
}  // namespace __cxxabiv1
#endif

namespace filch::runtime {

/// The target of __cxa_get_globals() (Itanium C++ ABI, exception handling, 2.2.2).
struct exceptions_in_flight {
  void* caught;
  unsigned uncaught;
};

// The functions that others call are never inlined: the thread before a switch of stacks and the one after it may
// differ, and the address is the thread's.
namespace exceptions {

/// For these functions alone.
[[gnu::always_inline]] inline exceptions_in_flight& of_thread() noexcept {
#if defined(_LIBCPP_VERSION)
  return *reinterpret_cast<exceptions_in_flight*>(abi::__cxa_get_globals());
#else
  // The same from a thread's begin to its end, and asking costs several nanoseconds.
  static constinit thread_local exceptions_in_flight* own __attribute__((tls_model("initial-exec"))) = nullptr;
  if (!own) [[unlikely]]
    own = reinterpret_cast<exceptions_in_flight*>(abi::__cxa_get_globals());
  return *own;
#endif
}

}  // namespace exceptions

/// The calling thread's. A signal handler may not ask: the first look of a thread may allocate.
[[gnu::noinline]] inline exceptions_in_flight* exceptions_here() noexcept { return &exceptions::of_thread(); }
/// Leaves the thread with none.
[[gnu::noinline]] inline exceptions_in_flight take_exceptions() noexcept {
  return std::exchange(exceptions::of_thread(), {});
}
[[gnu::noinline]] inline void put_exceptions(exceptions_in_flight e) noexcept { exceptions::of_thread() = e; }
/// The same if an exception that was thrown since may be in flight: the taken ones are below it.
[[gnu::noinline]] inline void put_exceptions_below(exceptions_in_flight e) noexcept {
  exceptions_in_flight& here = exceptions::of_thread();
  if (!here.caught) here.caught = e.caught;  // an exception that leaves its handler is caught no more
  here.uncaught += e.uncaught;
}

/// While it lives, the thread's earlier exceptions are hidden. For tasks that run on top of other code, in a wait
/// say. For code that stays on its thread.
class exceptions_set_aside {
 public:
  exceptions_set_aside() noexcept : mine_(take_exceptions()) {}
  exceptions_set_aside(exceptions_set_aside const&) = delete;
  exceptions_set_aside& operator=(exceptions_set_aside const&) = delete;
  ~exceptions_set_aside() { put_exceptions(mine_); }

 private:
  exceptions_in_flight const mine_;
};

}  // namespace filch::runtime

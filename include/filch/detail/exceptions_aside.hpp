// Hides the exceptions of a thread from a task that runs there on top of other code.
#pragma once

#include <filch/detail/platform.hpp>

namespace filch::inline FILCH_ABI::detail {

/// Sets the calling thread's exceptions aside, those in flight and those that are handled: while it lives,
/// std::uncaught_exceptions() is 0 and std::current_exception() is null at first. It may end on another thread, as a
/// fiber's code does, and by an exception. In src/runtime/exceptions_aside.cpp.
class FILCH_API exceptions_aside {
 public:
  exceptions_aside() noexcept;
  exceptions_aside(exceptions_aside const&) = delete;
  exceptions_aside& operator=(exceptions_aside const&) = delete;
  ~exceptions_aside();

 private:
  void* caught_;
  unsigned uncaught_;
};

}  // namespace filch::inline FILCH_ABI::detail

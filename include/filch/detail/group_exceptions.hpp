// Hides the exceptions of a thread from a task that a call of a task group runs there.
#pragma once

#include <filch/detail/platform.hpp>

namespace filch::inline FILCH_ABI::detail {

/// While it lives, std::uncaught_exceptions() is 0 and std::current_exception() is null at first, as in tasks that
/// begin on an empty worker. Nothing is thrown out of its block. It may end on another thread. In
/// src/runtime/group/core.cpp.
class FILCH_API exceptions_hidden {
 public:
  exceptions_hidden() noexcept;
  exceptions_hidden(exceptions_hidden const&) = delete;
  exceptions_hidden& operator=(exceptions_hidden const&) = delete;
  ~exceptions_hidden();

 private:
  void* caught_;
  unsigned uncaught_;
};

}  // namespace filch::inline FILCH_ABI::detail

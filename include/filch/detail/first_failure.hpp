// The exception of the earliest spawned task that threw. A frame keeps it until sync().
#pragma once

#include <filch/detail/platform.hpp>

#include <exception>
#include <utility>

namespace filch::inline FILCH_ABI::detail {

class first_failure {
 public:
  /// Keeps `e` if its task is the earliest one so far. Leaves the dropped exception in `e`: its destructor may run
  /// any code, forks and spawns too.
  void keep(std::exception_ptr& e, unsigned number) noexcept {
    if (exception_ && number_ < number) return;
    number_ = number;
    std::swap(exception_, e);
  }
  /// Throws the kept exception and forgets it.
  void throw_if_any() {
    if (exception_) std::rethrow_exception(std::exchange(exception_, nullptr));
  }

 private:
  std::exception_ptr exception_;
  unsigned number_ = 0;  // the place of the task of exception_ in the order of spawns
};

}  // namespace filch::inline FILCH_ABI::detail

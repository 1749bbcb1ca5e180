// Of several spawned tasks that threw, the earliest one's exception: what a frame keeps until sync().
#pragma once

#include <filch/detail/platform.hpp>

#include <exception>
#include <utility>

namespace filch::inline FILCH_ABI::detail {

class first_failure {
 public:
  /// In `e` is left what nobody wants any more: to destroy it may run anything, forks and spawns, too.
  void keep(std::exception_ptr& e, unsigned number) noexcept {
    if (exception_ && number_ < number) return;
    number_ = number;
    std::swap(exception_, e);
  }
  /// And forgets it.
  void throw_if_any() {
    if (exception_) std::rethrow_exception(std::exchange(exception_, nullptr));
  }

 private:
  std::exception_ptr exception_;
  unsigned number_ = 0;  // the task's place in the order of spawns
};

}  // namespace filch::inline FILCH_ABI::detail

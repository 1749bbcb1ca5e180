// Exceptions of tasks, filch::blocking and filch::mutex, without schedulers: a checked program links this library in
// place of the other one. The headers call it.
#include <filch/blocking.hpp>
#include <filch/detail/caught.hpp>
#include <filch/mutex.hpp>

#include "os/linux/fatal.hpp"
#include "races/off_the_record.hpp"
#include "races/words.hpp"

namespace filch::inline FILCH_ABI {
namespace detail {

std::exception_ptr caught_exception() noexcept {
  std::exception_ptr caught = std::current_exception();
  if (!caught) {
    os::end_with_line("filch: an exception that is not C++'s left a task (of another language, or pthread_exit)\n");
  }
  return caught;
}

void drop_caught_exception() noexcept { static_cast<void>(caught_exception()); }

blocked_workers::blocked_workers() noexcept : outer_(nullptr) {}
blocked_workers::~blocked_workers() = default;

}  // namespace detail

void mutex::lock_slow() noexcept { races::wait_for(state_, k_awaited); }
void mutex::wake_one(std::atomic<std::uint32_t>& state) noexcept { os::futex_wake(state); }

}  // namespace filch::inline FILCH_ABI

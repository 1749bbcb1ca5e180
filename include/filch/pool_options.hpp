// The options of a pool, and the error if a pool can't be made.
#pragma once

#include <filch/detail/platform.hpp>

#include <cstddef>
#include <stdexcept>

namespace filch::inline FILCH_ABI {

/// How a pool returns pages of stacks to the system that a deep recursion has touched and no code uses any more.
/// Under `cactus` and `implicit` these are pages below a waiting frame, or on a free stack; under all schedulers,
/// pages of a worker that is about to sleep, or whose caller leaves. Some are kept for the next time.
enum class give_back_policy : unsigned char {
  from_environment,  ///< FILCH_STACK_GIVE_BACK, else madvise
  madvise,           ///< by MADV_DONTNEED: about a microsecond
  mmap,              ///< by a fresh map over them: several microseconds, and threads wait for each other
  none,              ///< not at all: a stack keeps what it ever touched
};

/// Settings that the pools of all schedulers have. A field left at its default takes the environment's value, else
/// the machine's. The options of `channel` and `implicit` have these fields, and their own: channel_options,
/// implicit_options.
struct pool_options {
  /// Number of workers, 1 to 1024; the thread that calls `run` is one of them. 0: FILCH_NUM_THREADS, else
  /// the processors that the affinity mask and the container's quota leave to this process.
  unsigned workers = 0;
  /// The least bytes of stack for each worker, and of each stack more that `cactus` and `implicit` use, 64 KiB to 1
  /// TiB. This is address space: only touched pages cost memory. 0: FILCH_STACK_SIZE (k, m and g are understood),
  /// else 64 MiB, or less where address space is limited. Under `channel` a task may begin on top of a wait as long
  /// as half of the stack is free: give it at least twice what the program needs serially.
  std::size_t stack_size = 0;
  /// Bind each worker thread to one processor, to different ones while there are enough. The thread that calls `run`
  /// keeps its affinity. FILCH_PIN=1 does the same for pools that do not ask.
  bool pin = false;
  /// How pages of stacks that are unused go back to the system. Pools of `serial` have no stacks.
  give_back_policy stack_give_back = give_back_policy::from_environment;
};

namespace detail {
/// The type of `{}` as a pool's options. It is no class, so it needs no conversion: else `pool({})` could also mean a
/// copy of `pool{}`.
enum class no_options : unsigned char {};
}  // namespace detail

/// A pool can't be made: a setting is invalid, or the system refuses a thread or address space. `what()` is one line
/// that names the setting and says what to do.
class FILCH_API setup_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
  setup_error(setup_error const&) = default;
  setup_error& operator=(setup_error const&) = default;
  ~setup_error() override;
};

}  // namespace filch::inline FILCH_ABI

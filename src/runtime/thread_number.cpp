// Numbers of threads, from zero on: a bit for each that is taken. A thread asks once; its number is free again when
// it ends. In a child of fork() the threads of the parent never end. Their values in each worker_local stay, where
// for_each and combine see them, and some of them may have been changing when the process forked. So the child's new
// threads get other numbers, with new values, as long as there are such. Only then they get the parent's numbers: a
// chain of forks may go on for ever.
#include <filch/worker_local.hpp>

#include "os/linux/thread_end.hpp"
#include "runtime/fork_generation.hpp"

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <new>
#include <utility>

namespace filch::inline FILCH_ABI::detail {
namespace {

constexpr unsigned k_none = ~0u;
constexpr unsigned k_bits = 64;

using bits = std::array<std::atomic<std::uint64_t>, k_thread_numbers / k_bits>;

constinit bits taken{};
// In a child: bits are clear for the numbers of threads that stayed in the parent, until a thread of the child takes
// them.
constinit bits not_left{};
constinit bool is_child = false;
constinit thread_local unsigned number __attribute__((tls_model("initial-exec"))) = k_none;

/// k_none: all bits are set.
unsigned take_smallest(bits& all) noexcept {
  for (unsigned i = 0; i < all.size(); ++i) {
    // relaxed: a hint; the exchange decides.
    std::uint64_t word = all[i].load(std::memory_order_relaxed);
    while (~word != 0) {
      auto const bit = static_cast<unsigned>(std::countr_one(word));
      // edge local-2: acquire, the values that the number's thread before has written.
      if (all[i].compare_exchange_weak(word, word | std::uint64_t{1} << bit, std::memory_order_acquire,
                                       std::memory_order_relaxed)) {
        return i * k_bits + bit;
      }
    }
  }
  return k_none;
}

/// Whatever other threads of the parent were doing: each bit is whole.
void leave_numbers_in_parent() {
  for (unsigned i = 0; i < taken.size(); ++i) {
    std::uint64_t const mine = number / k_bits == i ? std::uint64_t{1} << number % k_bits : 0;
    // relaxed, both: a child of fork() has one thread.
    not_left[i].store(~taken[i].load(std::memory_order_relaxed) | mine, std::memory_order_relaxed);
  }
  is_child = true;
}

/// When a thread ends, after the destructors of its thread-locals.
void give_back(void*) {
  unsigned const n = std::exchange(number, k_none);
  // edge local-2: release, the thread's values.
  taken[n / k_bits].fetch_and(~(std::uint64_t{1} << n % k_bits), std::memory_order_release);
}

/// If the system has no key left, or no memory for one, numbers are not given back: no thread gets a used one.
void give_back_at_end() {
  static constinit os::at_thread_end at_end(give_back);
  static_cast<void>(at_end.pass(&number));
}

[[gnu::noinline]] unsigned first_number() {
  runtime::watch_forks(leave_numbers_in_parent);
  unsigned n = take_smallest(taken);
  if (n == k_none && is_child) n = take_smallest(not_left);
  if (n == k_none) throw std::bad_alloc();
  number = n;
  give_back_at_end();
  return number;
}

}  // namespace

[[gnu::noinline]] unsigned thread_number() {
  unsigned const n = number;
  return n != k_none ? n : first_number();
}

}  // namespace filch::inline FILCH_ABI::detail

// Numbers of threads, from zero on: a bit for each that is taken. A thread asks once; its number is free again when
// it ends.
#include <filch/worker_local.hpp>

#include "os/linux/thread_end.hpp"

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

constinit std::array<std::atomic<std::uint64_t>, k_thread_numbers / k_bits> taken{};
constinit thread_local unsigned number __attribute__((tls_model("initial-exec"))) = k_none;

unsigned take_smallest() {
  for (unsigned i = 0; i < taken.size(); ++i) {
    // relaxed: a hint; the exchange decides.
    std::uint64_t word = taken[i].load(std::memory_order_relaxed);
    while (~word != 0) {
      auto const bit = static_cast<unsigned>(std::countr_one(word));
      // edge local-2: acquire, the values that the number's thread before has written.
      if (taken[i].compare_exchange_weak(word, word | std::uint64_t{1} << bit, std::memory_order_acquire,
                                         std::memory_order_relaxed)) {
        return i * k_bits + bit;
      }
    }
  }
  throw std::bad_alloc();
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
  number = take_smallest();
  give_back_at_end();
  return number;
}

}  // namespace

[[gnu::noinline]] unsigned thread_number() {
  unsigned const n = number;
  return n != k_none ? n : first_number();
}

}  // namespace filch::inline FILCH_ABI::detail

// Pools of a program that locks its memory, before or after it makes them.
#include "eventually.hpp"
#include "memory.hpp"
#include "programs/scenario.hpp"

#include <sys/mman.h>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace filch_test {
namespace {

constexpr std::size_t k_mebibyte = std::size_t{1} << 20;

/// Among them the 8 MiB of the stack that the system gives the pool's thread, and fills.
constexpr long k_most_mebibytes = 24;

std::size_t resident() { return status_bytes("VmRSS").value_or(0) / k_mebibyte; }

/// Touches a page of each of so many calls.
[[gnu::noinline]] long deep(int depth) {
  char volatile page[4096];
  page[0] = 1;
  return depth == 0 ? 0 : deep(depth - 1) + page[0];
}

/// Prints by how many MiB the process grows: by a pool, then by tasks that touch 16 MiB of a stack.
template <class S> void grow(char const* name, filch::give_back_policy policy) {
  filch::pool_options options;
  options.workers = 2;
  options.stack_give_back = policy;
  std::size_t const before = resident();
  typename S::pool pool(options);
  long const growth = static_cast<long>(resident()) - static_cast<long>(before);
  long const calls = pool.run([] {
    auto const [a, b] = filch::join<S>([] { return deep(4 * 1024); }, [] { return 1; });
    return a + b;
  });
  if (growth > k_most_mebibytes || calls != 4 * 1024 + 1)
    std::printf("%s: %ld MiB, %ld calls\n", name, growth, calls);
}

scenario const locked{"pools-in-locked-memory", [](int) {
                        if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0) {
                          std::puts("not allowed");
                          return;
                        }
                        for (auto policy : {filch::give_back_policy::madvise, filch::give_back_policy::mmap}) {
                          grow<filch::direct>("direct", policy);
                          grow<filch::channel>("channel", policy);
#if FILCH_HAS_CACTUS
                          grow<filch::cactus>("cactus", policy);
                          grow<filch::implicit>("implicit", policy);
#endif
                        }
                        std::puts("ended");
                      }};

/// The system fills all that a pool reserves, or as `flags` say. Runs and sleeps give it back, but for `kept` MiB.
template <class S> void lock_around(char const* name, int flags, long kept) {
  filch::pool_options options;
  options.workers = 2;
  std::size_t const before = resident();
  typename S::pool pool(options);
  pool.run([] { filch::join<S>([] {}, [] {}); });
  // The caller has no page fault by it.
  int result = 0;
  std::thread([&] { result = mlockall(flags); }).join();
  if (result != 0) {
    std::puts("not allowed");
    std::exit(0);
  }
  long growth = 0;
  bool const is_given_back = eventually([&] {
    pool.run([] { filch::join<S>([] {}, [] {}); });
    growth = static_cast<long>(resident()) - static_cast<long>(before);
    return growth <= kept + k_most_mebibytes;
  });
  if (!is_given_back) std::printf("%s: %ld MiB stay\n", name, growth);
  munlockall();
}

scenario const locked_around{"pools-before-memory-is-locked", [](int) {
                               for (int flags : {MCL_CURRENT | MCL_ONFAULT, MCL_CURRENT}) {
                                 lock_around<filch::direct>("direct", flags, 0);
                                 lock_around<filch::channel>("channel", flags, 0);
#if FILCH_HAS_CACTUS
                                 // They keep what lies beside stacks: 65 MiB a worker, and of implicit 32 a stack.
                                 bool const are_filled = !(flags & MCL_ONFAULT);
                                 lock_around<filch::cactus>("cactus", flags, are_filled ? 2 * 65 : 0);
                                 lock_around<filch::implicit>("implicit", flags, are_filled ? 2 * 65 + 2 * 33 : 0);
#endif
                               }
                               std::puts("ended");
                             }};

}  // namespace
}  // namespace filch_test

// Pools of a program that locks its memory, now and in the future.
#include "memory.hpp"
#include "programs/scenario.hpp"

#include <sys/mman.h>
#include <cstdio>

namespace filch_test {
namespace {

constexpr std::size_t k_mebibyte = std::size_t{1} << 20;

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
  if (growth > 48 || calls != 4 * 1024 + 1) std::printf("%s: %ld MiB, %ld calls\n", name, growth, calls);
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

}  // namespace
}  // namespace filch_test

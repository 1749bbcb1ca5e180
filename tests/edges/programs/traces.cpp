// Programs for FILCH_TRACE, with steals that happen for certain, waits, and fibers that are suspended.
#include "programs/scenario.hpp"

#include <filch/channel.hpp>
#if FILCH_HAS_CACTUS
#include <filch/cactus.hpp>
#include <filch/implicit.hpp>
#endif

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cinttypes>
#include <cstdio>

namespace filch_test {
namespace {

using clock = std::chrono::steady_clock;

/// g runs on another worker, and ends once f's worker has nothing to do but wait: it sleeps, or left its fiber.
template <class S> void join_and_wait(typename S::pool const& pool) {
  auto const waits = [&pool] {
    filch::pool_stats const now = pool.stats();
    return now.sleeps + now.suspensions;
  };
  std::uint64_t before = 0;
  std::atomic<bool> counted_before{false};
  join_stolen<S>(
      [&] {
        // The thief is in g: from here on only this worker can begin to wait. Counted by g, its wait could come
        // first.
        before = waits();
        counted_before.store(true);
      },
      [&] {
        while (!counted_before.load() || waits() == before) std::this_thread::yield();
      });
}

template <class S> void print_steals(int steals) {
  auto const begin = clock::now();
  filch::pool_stats counted;
  {
    typename S::pool pool({.workers = 2});
    pool.run([&] {
      for (int i = 0; i < steals; ++i) join_and_wait<S>(pool);
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(300));  // its worker falls asleep
    counted = pool.stats();
  }
  std::printf("wall %.6f\nsteals %" PRIu64 "\nsuspensions %" PRIu64 "\nsleeps %" PRIu64 "\n",
              std::chrono::duration<double>(clock::now() - begin).count(), counted.steals, counted.suspensions,
              counted.sleeps);
}

scenario const in_direct{"traced-direct", print_steals<filch::direct>};
scenario const in_channel{"traced-channel", print_steals<filch::channel>};
#if FILCH_HAS_CACTUS
scenario const in_cactus{"traced-cactus", print_steals<filch::cactus>};
scenario const in_implicit{"traced-implicit", print_steals<filch::implicit>};
#endif

scenario const in_child{"traced-fork", [](int) {
                          std::printf("%ld\n", fib(15));
                          std::fflush(stdout);
                          pid_t const child = fork();
                          if (child == 0) std::exit(fib(10) == 55 ? 0 : 1);
                          int status = -1;
                          waitpid(child, &status, 0);
                          std::printf("child %d\n", status);
                        }};

std::size_t address_space_mib() {
  long pages = 0;
  std::FILE* const file = std::fopen("/proc/self/statm", "r");
  if (file) {
    if (std::fscanf(file, "%ld", &pages) != 1) pages = 0;
    std::fclose(file);
  }
  return static_cast<std::size_t>(pages) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) >> 20;
}

scenario const in_many_pools{"traced-pools", [](int pools) {
                               auto const one = [] {
                                 filch::direct::pool pool({.workers = 2});
                                 pool.run([] { join_stolen<filch::direct>([] {}, [] {}); });
                               };
                               one();
                               std::size_t const first = address_space_mib();
                               for (int i = 1; i < pools; ++i) one();
                               std::printf("%zu MiB, then %zu MiB\n", first, address_space_mib());
                             }};

}  // namespace
}  // namespace filch_test

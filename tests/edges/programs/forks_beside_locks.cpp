// fork() while other threads hold locks, the program's or Filch's.
#include "programs/forking.hpp"
#include "programs/scenario.hpp"

#include <filch/fiber_hooks.hpp>

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

namespace filch_test {
namespace {

/// A pool of each scheduler works.
bool pools_work() {
  bool all = filch::direct::pool({.workers = 2}).run([] { return 1; }) == 1;
  all = filch::channel::pool({.workers = 2}).run([] { return 1; }) == 1 && all;
#if FILCH_HAS_CACTUS
  all = filch::cactus::pool({.workers = 2}).run([] { return 1; }) == 1 && all;
  all = filch::implicit::pool({.workers = 2}).run([] { return 1; }) == 1 && all;
#endif
  return all;
}

std::mutex engine;
std::atomic<bool> waits_for_engine{false};

// The program's handlers are there before the first pool. Another thread makes pools while it holds the lock that the
// fork waits for.
scenario const maker_holds_lock{"fork-beside-a-maker-of-pools", [](int) {
                                  pthread_atfork(
                                      [] {
                                        waits_for_engine = true;
                                        engine.lock();
                                      },
                                      [] { engine.unlock(); }, [] { engine.unlock(); });
                                  pools_work();
                                  std::unique_lock lock(engine);
                                  bool ok = true;
                                  std::thread forks([&] {
                                    pid_t const child = fork_now();
                                    if (child == 0) std::_Exit(right(pools_work()));
                                    wait_for(child);
                                  });
                                  while (!waits_for_engine) std::this_thread::yield();
                                  ok = pools_work();
                                  lock.unlock();
                                  forks.join();
                                  std::printf("parent: %d\n", ok);
                                }};

int ran_in_handlers = 0;

scenario const handlers_make_pools{"fork-with-handlers-that-make-pools", [](int) {
                                     auto const here = [] { ran_in_handlers += pools_work(); };
                                     pthread_atfork(here, here, here);
                                     pools_work();
                                     pid_t const child = fork_now();
                                     if (child == 0) std::_Exit(right(pools_work() && ran_in_handlers == 2));
                                     wait_for(child);
                                     std::printf("parent: %d\n", ran_in_handlers);
                                   }};

// The enter of one pair never comes with the leave of another.
std::atomic<int> is_of{0};
std::atomic<int> mixed{0};

/// Forks beside a thread that calls again and again; every child makes pools, and ends as told.
void fork_beside(void (*call)(), int rounds, void (*end)(int) = std::_Exit) {
  std::atomic<bool> stop{false};
  std::thread other([&] {
    while (!stop) call();
  });
  int wrong = 0;
  for (int i = 0; i < rounds; ++i) {
    pid_t const child = fork_now();
    if (child == 0) {
      alarm(10);
      end(pools_work() && mixed == 0 ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
    ++wrong;
    break;
  }
  stop = true;
  other.join();
  std::printf("wrong: %d\n", wrong);
}

template <int N> filch::fiber_hooks hooks() {
  return {[](char const*) noexcept { is_of = N; }, [](char const*) noexcept { mixed += is_of != N; }};
}

scenario const hooks_are_set{"fork-beside-fiber-hooks", [](int rounds) {
                               fork_beside(
                                   [] {
                                     filch::set_fiber_hooks(hooks<1>());
                                     filch::set_fiber_hooks(hooks<2>());
                                   },
                                   rounds);
                             }};

scenario const pinned_pools{"fork-beside-a-maker-of-pinned-pools", [](int rounds) {
                              auto const make = [] { filch::direct::pool({.workers = 1, .pin = true}); };
                              make();  // the first one reads the machine
                              fork_beside(make, rounds, std::exit);
                            }};

}  // namespace
}  // namespace filch_test

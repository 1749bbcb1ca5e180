// fork() outside and inside tasks, in stays and in nested runs. Each scenario prints the child's result and its end.
// Children that return to scopes and waits: forks_in_waits.cpp.
#include "programs/forking.hpp"
#include "programs/scenario.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace filch_test {
namespace {

scenario const outside{"fork-outside", [](int) {
                         fib(15);
                         filch::pool pool({.workers = 2});
                         pool.run([] { return fib(15); });
                         pid_t const child = fork_now();
                         if (child == 0) {
                           bool const ok =
                               fib(20) == 6'765 && pool.run([] { return fib(20); }) == 6'765 && pool.workers() == 2;
                           // The child's pools work as pools: tasks get stolen there too.
                           pool.run([] { join_stolen([] {}, [] {}); });
                           std::exit(right(ok));
                         }
                         wait_for(child);
                         std::printf("parent: %ld\n", fib(20) + pool.run([] { return fib(20); }));
                       }};

scenario const destroyed{"fork-outside-pool-destroyed-unused", [](int) {
                           pid_t child = -1;
                           {
                             filch::pool pool({.workers = 3});
                             pool.run([] { return fib(10); });
                             child = fork_now();
                           }
                           if (child == 0) std::exit(right(fib(15) == 610));
                           wait_for(child);
                         }};

scenario const in_first{"fork-in-first", [](int) {
                          filch::join(
                              [] {
                                pid_t const child = fork_now();
                                if (child == 0) std::exit(right(fib(20) == 6'765));
                                wait_for(child);
                              },
                              [] {});
                          std::printf("parent: %ld\n", fib(20));
                        }};

// Under channel another worker has requested, and has got nothing yet.
scenario const asked_for{"fork-in-first-asked-for", [](int) {
                           using filch::channel;
                           pid_t child = -1;
                           std::atomic<int> ran{0};
                           std::atomic<bool> is_held{false};
                           std::atomic<bool> may_ask{false};
                           channel::pool pool({.workers = 2});
                           auto const f = [&] {
                             may_ask = true;
                             while (!channel::wanted()) std::this_thread::yield();
                             child = fork_now();
                           };
                           auto const g = [&] { ++ran; };
                           pool.run([&] {
                             // No thief requests while the tasks below are forked.
                             channel::detach([&] {
                               is_held = true;
                               while (!may_ask) std::this_thread::yield();
                             });
                             while (!is_held) channel::poll();
                             channel::join([&] { channel::join(f, g); }, g);
                           });
                           if (child == 0) std::exit(right(ran == 2));
                           wait_for(child);
                         }};

scenario const in_scope{"fork-in-scope", [](int) {
                          filch::pool pool({.workers = 1});
                          int ran = 0;
                          pid_t child = -1;
                          pool.run([&] {
                            filch::scope([&](auto& s) {
                              for (int i = 0; i < 3; ++i) s.spawn([&] { ++ran; });
                              child = fork_now();
                              s.spawn([&] { ++ran; });
                            });
                          });
                          if (child == 0) std::exit(right(ran == 4));
                          wait_for(child);
                          std::printf("parent: %d\n", ran);
                        }};

scenario const in_stolen{"fork-in-stolen", [](int) {
                           filch::default_scheduler::default_pool().run([] {
                             join_stolen([] {},
                                         [] {
                                           pid_t const child = fork_now();
                                           if (child == 0) std::exit(right(fib(20) == 6'765));
                                           wait_for(child);
                                         });
                           });
                           std::printf("parent: %ld\n", fib(20));
                         }};

scenario const in_explicit{"fork-in-explicit-pool", [](int) {
                             filch::pool pool({.workers = 2});
                             pool.run([&] {
                               pid_t const child = fork_now();
                               if (child == 0)
                                 std::exit(right(pool.run([] { return fib(20); }) == 6'765 && fib(15) == 610));
                               wait_for(child);
                             });
                             std::printf("parent: %ld\n", pool.run([] { return fib(20); }));
                           }};

scenario const static_pool_exit{"fork-in-static-pool-and-exit", [](int) {
                                  // The child's exit() destroys the pool on whose stack it stands.
                                  static filch::pool pool({.workers = 2});
                                  pool.run([] {
                                    pid_t const child = fork_now();
                                    if (child == 0) std::exit(5);
                                    wait_for(child);
                                  });
                                }};

scenario const static_pool_exit_beside_default{"fork-in-static-pool-beside-default-and-exit", [](int) {
                                                 static filch::pool pool({.workers = 2});
                                                 fib(10);
                                                 pool.run([] {
                                                   pid_t const child = fork_now();
                                                   if (child == 0) std::exit(right(fib(15) == 610));
                                                   wait_for(child);
                                                 });
                                               }};

scenario const fresh{"fork-in-explicit-pool-and-join", [](int) {
                       // The process has used no default pool. In the child a join enters one, whose workers steal.
                       filch::pool pool({.workers = 2});
                       pool.run([&] {
                         pid_t const child = fork_now();
                         if (child == 0) {
                           filch::default_scheduler::default_pool().run([] { join_stolen([] {}, [] {}); });
                           bool const is_outside = !filch::current_worker().has_value();
                           std::exit(right(fib(15) == 610 && is_outside));
                         }
                         wait_for(child);
                       });
                     }};

scenario const comes_back{"fork-in-task-and-return", [](int) {
                            filch::pool pool({.workers = 1});
                            pid_t child = -1;
                            long const sum = pool.run([&] {
                              auto const [a, b] = filch::join(
                                  [&] {
                                    child = fork_now();
                                    return fib(15);
                                  },
                                  [] { return fib(16); });
                              return a + b;
                            });
                            bool const ok = sum == 610 + 987 && pool.run([] { return fib(15); }) == 610;
                            if (child == 0) std::exit(right(ok));
                            wait_for(child);
                            std::printf("parent: %d\n", ok);
                          }};

template <class S> void fork_in_stay() {
  typename S::pool pool({.workers = 2});
  pool.run([] {
    pid_t child = -1;
    long sum = 0;
    filch::stay([&] {
      child = fork_now();
      auto const [a, b] = filch::join<S>([] { return 1; }, [] { return 2; });
      sum = a + b;
    });
    // In the child the stay has ended, too, and the thread is outside all pools.
    auto const [a, b] = filch::join<S>([] { return 3; }, [] { return 4; });
    sum += a + b;
    if (child == 0) std::exit(right(sum == 10 && !filch::current_worker<S>()));
    wait_for(child);
    std::printf("parent: %ld\n", sum);
  });
}
scenario const stays{"fork-in-stay", [](int) {
                       fork_in_stay<filch::direct>();
                       fork_in_stay<filch::channel>();
#if FILCH_HAS_CACTUS
                       fork_in_stay<filch::cactus>();
                       fork_in_stay<filch::implicit>();
#else
                       fork_in_stay<filch::direct>();
                       fork_in_stay<filch::direct>();
#endif
                     }};

/// Forks in the inner run, or in a run of the outer pool inside it.
template <class Outer, class Inner> void fork_in_nested_run(bool again) {
  typename Outer::pool outer({.workers = 2});
  typename Inner::pool inner({.workers = 1});
  pid_t child = -1;
  bool const ok = outer.run([&] {
    long sum = inner.run([&] {
      auto const fork_here = [&] { child = fork_now(); };
      again ? outer.run(fork_here) : fork_here();
      auto const [a, b] = filch::join<Inner>([] { return 1; }, [] { return 2; });
      return a + b;
    });
    // Back in the task of the other pool: the child is outside it, too.
    auto const [a, b] = filch::join<Outer>([] { return 3; }, [] { return 4; });
    sum += a + b;
    bool const is_outside = !filch::current_worker<Outer>() && !filch::current_worker<Inner>();
    return sum == 10 && (child != 0 || is_outside);
  });
  if (child == 0) std::exit(right(ok && outer.run([] { return 1; }) == 1));
  wait_for(child);
  std::printf("parent: %d\n", ok);
}
template <class Outer> void fork_in_run_inside() {
  for (bool const again : {false, true}) {
    fork_in_nested_run<Outer, filch::direct>(again);
    fork_in_nested_run<Outer, filch::channel>(again);
#if FILCH_HAS_CACTUS
    fork_in_nested_run<Outer, filch::cactus>(again);
    fork_in_nested_run<Outer, filch::implicit>(again);
#else
    fork_in_nested_run<Outer, filch::direct>(again);
    fork_in_nested_run<Outer, filch::direct>(again);
#endif
  }
}
scenario const nested{"fork-in-nested-run", [](int outer) {
                        switch (outer) {
                          case 1: return fork_in_run_inside<filch::channel>();
#if FILCH_HAS_CACTUS
                          case 2: return fork_in_run_inside<filch::cactus>();
                          case 3: return fork_in_run_inside<filch::implicit>();
#endif
                          default: return fork_in_run_inside<filch::direct>();
                        }
                      }};

}  // namespace
}  // namespace filch_test

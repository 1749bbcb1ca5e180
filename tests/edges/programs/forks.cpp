// fork() outside and inside tasks. Each scenario prints the child's result and its end.
#include "eventually.hpp"
#include "memory.hpp"
#include "programs/scenario.hpp"
#include "scale.hpp"
#include "this_thread.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <type_traits>
#include <vector>

namespace filch_test {
namespace {

/// fork(), with nothing in the buffers that both would print.
pid_t fork_now() {
  std::fflush(nullptr);
  return fork();
}

void wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
  }
  if (WIFEXITED(status)) std::printf("child exited with %d\n", WEXITSTATUS(status));
  if (WIFSIGNALED(status)) std::printf("child was killed by %d\n", WTERMSIG(status));
}

int right(bool yes) { return yes ? 5 : 6; }

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

scenario const comes_back_to_scope{"fork-in-spawned-and-return", [](int) {
                                     filch::pool pool({.workers = 1});
                                     pid_t child = -1;
                                     std::atomic<int> ran{0};
                                     pool.run([&] {
                                       filch::scope([&](auto& s) {
                                         for (int i = 0; i < 10; ++i) {
                                           s.spawn([&, i] {
                                             if (i == 5) child = fork_now();
                                             ran += fib(10) == 55;
                                           });
                                         }
                                       });
                                     });
                                     bool const ok = ran == 10 && pool.run([] { return fib(15); }) == 610;
                                     if (child == 0) std::exit(right(ok));
                                     wait_for(child);
                                     std::printf("parent: %d\n", ok);
                                   }};

#if FILCH_HAS_CACTUS
/// Forks while a request stands.
template <class S> void fork_in_asked_scope() {
  typename S::pool pool({.workers = 2});
  pid_t child = -1;
  std::atomic<int> ran{0};
  std::uint64_t publications = 0;
  pool.run([&] {
    filch_test::gate begun;
    filch_test::gate release;
    auto const wait_for_request = [] {
      while (!S::wanted()) std::this_thread::yield();
    };
    filch::scope<S>([&](auto& s) {
      wait_for_request();
      s.spawn([&] {
        begun.open();
        ran += release.pass();
      });
      ran += begun.pass();
      // The other worker is busy: after some joins no request stands, and later forks are not offered.
      for (int i = 0; i < 100; ++i) filch::join<S>([] {}, [] {});
      for (int i = 0; i < 10; ++i) s.spawn([&] { ran += fib(10) == 55; });
      // No signal offers them, either.
      filch_test::no_interrupts const here;
      release.open();
      wait_for_request();
      child = fork_now();
      publications = pool.stats().publications;
    });
  });
  // In the child, `implicit` offers nothing.
  bool const offers_nothing = !std::is_same_v<S, filch::implicit> || pool.stats().publications == publications;
  if (child == 0) std::exit(right(ran == 12 && offers_nothing));
  wait_for(child);
  std::printf("parent: %d\n", ran == 12);
}

scenario const comes_back_to_asked_scope{"fork-in-asked-scope-and-return", [](int) {
                                           fork_in_asked_scope<filch::cactus>();
                                           fork_in_asked_scope<filch::implicit>();
                                         }};
#endif

scenario const comes_back_to_stolen{"fork-in-task-and-return-to-stolen", [](int) {
                                      static std::atomic<bool> hold{true};
                                      pid_t child = -1;
                                      filch::default_scheduler::default_pool().run([&] {
                                        join_stolen(
                                            [&] {
                                              child = fork_now();
                                              if (child != 0) {
                                                wait_for(child);
                                                hold = false;
                                              }
                                            },
                                            [] {
                                              while (hold) std::this_thread::yield();
                                            });
                                      });
                                    }};

// The fork is in a task on top of a wait for a task that only the parent has.
template <class S> void returns_to_a_wait() {
  std::atomic<bool> parent_may_end{false};
  pid_t child = -1;
  auto const answers_until = [](std::atomic<bool> const& yes) {
    while (!yes) {
      S::poll();
      std::this_thread::yield();
    }
  };
  auto const waits_for_thief = [] {
    while (!S::wanted()) std::this_thread::yield();
  };
  typename S::pool pool({.workers = 2});
  pool.run([&] {
    std::atomic<bool> stolen{false};
    waits_for_thief();
    filch::join<S>([&] { answers_until(stolen); },
                   [&] {
                     stolen = true;
                     std::atomic<bool> back{false};
                     waits_for_thief();  // the owner, in its join
                     filch::join<S>(
                         [&] {
                           answers_until(back);
                           while (!parent_may_end) std::this_thread::yield();
                         },
                         [&] {
                           back = true;
                           child = fork_now();
                           if (child == 0) return;
                           wait_for(child);
                           parent_may_end = true;
                         });
                   });
  });
}

scenario const comes_back_to_a_wait{"fork-on-top-of-waits-and-return", [](int) {
                                      returns_to_a_wait<filch::channel>();
                                      returns_to_a_wait<filch::direct>();
                                    }};

// Detached tasks are the parent's.
scenario const detached{"fork-beside-detached-and-return", [](int) {
                          using filch::channel;
                          channel::pool pool({.workers = 1});
                          int ran = 0;
                          pid_t child = -1;
                          pool.run([&] {
                            for (int i = 0; i < 3; ++i) channel::detach([&] { ++ran; });
                            child = fork_now();
                          });
                          if (child == 0) std::_Exit(right(ran == 0));
                          wait_for(child);
                          std::printf("parent: %d\n", ran);
                        }};

scenario const generations{"fork-chain", [](int depth) {
                             auto const next = [](auto const& self, int left) -> bool {
                               if (fib(15) != 610) return false;
                               if (left == 0) return true;
                               pid_t const child = fork_now();
                               if (child == 0) std::_Exit(self(self, left - 1) ? 0 : 1);
                               int status = 0;
                               waitpid(child, &status, 0);
                               return WIFEXITED(status) && WEXITSTATUS(status) == 0 && fib(15) == 610;
                             };
                             std::puts(next(next, depth) ? "all right" : "wrong");
                           }};

scenario const busy{"fork-while-busy", [](int rounds) {
                      // Other threads enter and leave the pools, whatever lock they hold at the moment of the fork.
                      std::atomic<bool> stop{false};
                      filch::pool pool({.workers = 2});
                      std::vector<std::thread> others;
                      for (int i = 0; i < 3; ++i) {
                        others.emplace_back([&] {
                          while (!stop) {
                            fib(10);
                            pool.run([] { return fib(8); });
                            filch::pool short_lived({.workers = 2});
                          }
                        });
                      }
                      int wrong = 0;
                      for (int i = 0; i < rounds; ++i) {
                        pid_t const child = fork_now();
                        if (child == 0) {
                          bool const ok = fib(15) == 610 && pool.run([] { return fib(15); }) == 610;
                          std::_Exit(ok ? 0 : 1);
                        }
                        int status = 0;
                        waitpid(child, &status, 0);
                        wrong += !(WIFEXITED(status) && WEXITSTATUS(status) == 0);
                      }
                      stop = true;
                      for (auto& t : others) t.join();
                      std::printf("wrong: %d\n", wrong);
                    }};

#if FILCH_HAS_CACTUS
/// Nearly all the time another thread asks the pool's stacks for their pages, with a lock.
template <class S> void fork_beside_questions(int rounds) {
  typename S::pool pool({.workers = 2});
  pool.run([] {});
  std::atomic<bool> stop{false};
  std::thread other([&] {
    while (!stop) static_cast<void>(pool.written_stack_bytes());
  });
  int wrong = 0;
  for (int i = 0; i < rounds; ++i) {
    pid_t const child = fork_now();
    if (child == 0) {
      alarm(10);
      std::_Exit(pool.stats().stacks_in_use == 0 && pool.written_stack_bytes() == 0 ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    wrong += !(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  stop = true;
  other.join();
  std::printf("wrong: %d\n", wrong);
}
scenario const beside_questions{"fork-beside-questions", [](int rounds) {
                                  fork_beside_questions<filch::cactus>(rounds);
                                  fork_beside_questions<filch::implicit>(rounds);
                                }};
#endif

scenario const several_threads{"fork-and-enter-from-several-threads", [](int rounds) {
                                 filch::pool pool({.workers = 2});
                                 pool.run([] { return fib(10); });
                                 int wrong = 0;
                                 for (int i = 0; i < rounds; ++i) {
                                   pid_t const child = fork_now();
                                   if (child == 0) {
                                     std::atomic<int> right_ones{0};
                                     gate start;
                                     std::vector<std::thread> threads;
                                     for (int t = 0; t < 4; ++t) {
                                       threads.emplace_back([&] {
                                         bool const together = start.pass();
                                         right_ones +=
                                             together && pool.run([] { return fib(12); }) == 144 && fib(12) == 144;
                                       });
                                     }
                                     start.open();
                                     for (auto& t : threads) t.join();
                                     // This thread, the pool's worker and the default pool's: the first caller made
                                     // each, once.
                                     bool const once = is_sanitized || eventually([] { return thread_count() == 3; });
                                     std::_Exit(right_ones == 4 && once ? 0 : 1);
                                   }
                                   int status = 0;
                                   waitpid(child, &status, 0);
                                   wrong += !(WIFEXITED(status) && WEXITSTATUS(status) == 0);
                                 }
                                 std::printf("wrong: %d\n", wrong);
                               }};

}  // namespace
}  // namespace filch_test

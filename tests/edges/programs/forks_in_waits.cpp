// fork() in tasks of scopes and on top of waits, beside detached tasks, and beside busy threads. Each scenario prints
// the child's result and its end.
#include "eventually.hpp"
#include "memory.hpp"
#include "programs/forking.hpp"
#include "programs/scenario.hpp"
#include "scale.hpp"
#include "this_thread.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <latch>
#include <type_traits>
#include <vector>

namespace filch_test {
namespace {

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

// By a task that a pool's thread has begun before the pool's end, and that forks while the end waits for it.
scenario const at_the_end{"fork-at-the-end-of-a-pool", [](int) {
                            using filch::channel;
                            std::atomic<bool> ends{false};
                            filch_test::gate begun;
                            pid_t child = -1;
                            {
                              channel::pool pool({.workers = 2});
                              pool.run([&] {
                                channel::detach([&] {
                                  begun.open();
                                  if (!filch_test::eventually([&] { return ends && is_asleep(getpid()); })) return;
                                  child = fork_now();
                                });
                                static_cast<void>(filch_test::eventually([&] {
                                  channel::poll();
                                  return begun.is_open();
                                }));
                              });
                              ends = true;
                            }
                            wait_for(child);
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

// Each process of the chain has new threads beside the one that forks. They would need more numbers than there are.
scenario const numbers{"fork-chain-beside-threads", [](int depth) {
                         static filch::worker_local<long> values;
                         constexpr int k_threads = 1000;
                         auto const next = [depth](auto const& self, int left) -> bool {
                           std::latch all_have_values(k_threads + 1);
                           std::latch may_end(1);
                           std::vector<std::thread> threads;
                           for (int i = 0; i < k_threads; ++i) {
                             threads.emplace_back([&] {
                               ++values.local();
                               all_have_values.count_down();
                               may_end.wait();
                             });
                           }
                           all_have_values.arrive_and_wait();
                           int ends[2];
                           if (pipe(ends) != 0) return false;
                           pid_t const child = fork_now();
                           if (child == 0) {
                             // Until this process's threads have ended: there may be a limit of all threads.
                             close(ends[1]);
                             char byte = 0;
                             static_cast<void>(!read(ends[0], &byte, 1));
                             close(ends[0]);
                             bool const all = values.combine(std::plus<>()) == (depth - left + 1) * k_threads;
                             std::_Exit(all && (left == 0 || self(self, left - 1)) ? 0 : 1);
                           }
                           may_end.count_down();
                           for (auto& t : threads) t.join();
                           close(ends[0]);
                           close(ends[1]);  // the child goes on
                           int status = 0;
                           waitpid(child, &status, 0);
                           return WIFEXITED(status) && WEXITSTATUS(status) == 0;
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

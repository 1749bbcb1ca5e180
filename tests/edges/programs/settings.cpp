// Pools with the settings of the environment.
#include "programs/forking.hpp"
#include "programs/scenario.hpp"

#include <sched.h>

#include <cstdio>
#include <cstdlib>

namespace filch_test {
namespace {

scenario const explicit_pool{"explicit-pool", [](int) {
                               try {
                                 filch::pool pool;
                                 auto const result = pool.run([] { return fib(15); });
                                 std::printf("%ld on %u workers with %zu bytes of stack\n", result, pool.workers(),
                                             pool.stats().stack_bytes);
                               } catch (filch::setup_error const& e) {
                                 std::printf("refused: %s\n", e.what());
                               }
                             }};

scenario const default_pool{"default-pool", [](int) {
                              auto const result = fib(15);
                              auto& pool = filch::default_scheduler::default_pool();
                              std::printf("%ld on %u workers with %zu bytes of stack\n", result, pool.workers(),
                                          pool.stats().stack_bytes);
                            }};

scenario const options_first{"options-beat-the-environment", [](int) {
                               filch::pool pool({.workers = 5, .stack_size = std::size_t{1} << 20});
                               std::printf("%u workers with %zu bytes of stack\n", pool.workers(),
                                           pool.stats().stack_bytes);
                             }};

scenario const give_back{"give-back-options", [](int) {
                           int refused = 0;
                           int run = 0;
                           for (unsigned i : {1u, 2u, 3u, 4u, 255u}) {
                             auto const policy = static_cast<filch::give_back_policy>(i);
                             try {
                               filch::pool pool({.workers = 2, .stack_give_back = policy});
                               run += pool.run([] { return fib(15); }) == 610;
                             } catch (filch::setup_error const&) {
                               ++refused;
                             }
                           }
                           std::printf("refused: %d, %d of 3 policies run\n", refused, run);
                         }};

int processors_of_this_thread() {
  cpu_set_t set;
  sched_getaffinity(0, sizeof set, &set);
  return CPU_COUNT(&set);
}

scenario const pinned{"pinned-worker", [](int) {
                        int const before = processors_of_this_thread();
                        filch::pool pool({.workers = 2});
                        int stolen = 0;
                        int first = 0;
                        pool.run([&] {
                          join_stolen([&] { first = processors_of_this_thread(); },
                                      [&] { stolen = processors_of_this_thread(); });
                        });
                        std::printf("worker: %d, caller unchanged: %d\n", stolen,
                                    first == before && processors_of_this_thread() == before);
                      }};

/// Runs g on a worker that the pool has bound to a processor.
template <class G> void on_pinned_worker(G const& g) {
  filch::direct::pool pool({.workers = 2, .pin = true});
  pool.run([&] { join_stolen<filch::direct>([] {}, g); });
}

/// The mask of a thread of that pool.
template <class S> int processors_of_worker(typename S::pool& pool) {
  int found = 0;
  pool.run([&] { join_stolen<S>([] {}, [&] { found = processors_of_this_thread(); }); });
  return found;
}

/// Prints what differs between a pool made here, before, and one that a pinned worker makes.
template <class S> void make_on_pinned_worker(char const* name) {
  unsigned const workers = typename S::pool().workers();
  int const all = processors_of_this_thread();
  on_pinned_worker([&] {
    if (processors_of_this_thread() != 1) std::printf("%s: not pinned\n", name);
    typename S::pool inner;
    typename S::pool two({.workers = 2});
    int const mask = processors_of_worker<S>(two);
    if (inner.workers() == workers && mask == all) return;
    std::printf("%s: %u workers for %u, %d processors for %d\n", name, inner.workers(), workers, mask, all);
  });
}

scenario const made_inside{"pools-of-pinned-workers", [](int) {
                             make_on_pinned_worker<filch::channel>("channel");
#if FILCH_HAS_CACTUS
                             make_on_pinned_worker<filch::cactus>("cactus");
                             make_on_pinned_worker<filch::implicit>("implicit");
#endif
                             std::puts("ended");
                           }};

// The mask that the program sets on a pinned worker counts, as on any thread.
scenario const changed_inside{"pools-of-pinned-workers-that-the-program-moves", [](int) {
                                int const all = processors_of_this_thread();
                                cpu_set_t before;
                                sched_getaffinity(0, sizeof before, &before);
                                int last = 0;
                                for (int i = 0; i < CPU_SETSIZE; ++i) last = CPU_ISSET(i, &before) ? i : last;
                                CPU_CLR(last, &before);
                                on_pinned_worker([&] {
                                  sched_setaffinity(0, sizeof before, &before);
                                  filch::channel::pool inner({.workers = 2});
                                  std::printf("%d\n", all - processors_of_worker<filch::channel>(inner));
                                });
                              }};

scenario const stand_in{"stand-in-for-a-pinned-worker", [](int) {
                          using filch::direct;
                          int const all = processors_of_this_thread();
                          int mask = 0;
                          std::atomic<bool> waits{false};
                          std::atomic<bool> ran{false};
                          auto const wait = [&] {
                            waits = true;
                            while (!ran) std::this_thread::yield();
                          };
                          direct::pool pool({.workers = 2, .pin = true});
                          pool.run([&] {
                            auto const f = [&] {
                              while (!waits || !direct::wanted()) std::this_thread::yield();
                              // No other worker is left.
                              join_stolen<direct>([] {}, [&] { mask = processors_of_this_thread(); });
                              ran = true;
                            };
                            join_stolen<direct>(f, [&] { filch::blocking(wait); });
                          });
                          std::printf("%d\n", mask == all);
                        }};

scenario const forked{"fork-of-a-pinned-worker", [](int) {
                        unsigned const workers = filch::channel::pool().workers();
                        int const all = processors_of_this_thread();
                        on_pinned_worker([&] {
                          pid_t const child = fork_now();
                          if (child == 0) {
                            bool const is_free = processors_of_this_thread() == all;
                            std::_Exit(right(is_free && filch::channel::pool().workers() == workers));
                          }
                          wait_for(child);
                        });
                      }};

scenario const several{"three-pools", [](int) {
                         fib(12);
                         filch::pool a({.workers = 2});
                         a.run([] { return fib(12); });
                         {
                           filch::pool b({.workers = 3});
                           b.run([] { return fib(12); });
                         }
                         std::puts("end of main");
                       }};

}  // namespace
}  // namespace filch_test

// Pools with the settings of the environment.
#include "programs/scenario.hpp"

#include <sched.h>

#include <cstdio>

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

scenario const pinned{"pinned-worker", [](int) {
                        auto const processors_of_this_thread = [] {
                          cpu_set_t set;
                          sched_getaffinity(0, sizeof set, &set);
                          return CPU_COUNT(&set);
                        };
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

// exit() where tasks run.
#include "programs/scenario.hpp"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>

namespace filch_test {
namespace {

[[noreturn]] void wait_forever() {
  for (;;) std::this_thread::sleep_for(std::chrono::seconds(1));
}

filch::pool& static_pool() {
  static filch::pool pool({.workers = 2});
  return pool;
}
filch::pool& other_static_pool() {
  static filch::pool pool({.workers = 2});
  return pool;
}

// The other worker may run the other task: it leaves no trace.
scenario const from_first{"exit-from-first", [](int) { filch::join([] { std::exit(7); }, [] { fib(5); }); }};

scenario const from_second{"exit-from-second", [](int) {
                             std::puts("before");
                             filch::join([] { fib(5); }, [] { std::exit(7); });
                           }};

scenario const from_stolen{
    "exit-from-stolen", [](int) {
      filch::default_scheduler::default_pool().run([] { join_stolen(wait_forever, [] { std::exit(8); }); });
    }};

scenario const from_scope{"exit-from-spawned", [](int) {
                            filch::scope([](auto& s) {
                              for (int i = 0; i < 100; ++i) s.spawn([] { fib(10); });
                              s.spawn([] { std::exit(9); });
                            });
                          }};

scenario const from_static_pool{"exit-from-static-pool",
                                [](int) { static_pool().run([] { filch::join([] { std::exit(10); }, [] {}); }); }};

scenario const from_stolen_of_static_pool{
    "exit-from-stolen-of-static-pool",
    [](int) { static_pool().run([] { join_stolen(wait_forever, [] { std::exit(11); }); }); }};

scenario const from_nested{"exit-from-nested-static-pools", [](int) {
                             static_pool().run([] { other_static_pool().run([] { fib(10), std::exit(12); }); });
                           }};

// Both pools are on the way of the thread that waits, which is not the one that exits.
scenario const from_stolen_of_nested{
    "exit-from-stolen-of-nested-static-pools", [](int) {
      static_pool().run([] { other_static_pool().run([] { join_stolen(wait_forever, [] { std::exit(14); }); }); });
    }};

scenario const beside_others{"exit-beside-running-threads", [](int) {
                               std::atomic<int> started{0};
                               for (int i = 0; i < 4; ++i) {
                                 std::thread([&started] {
                                   for (;;) {
                                     fib(12);
                                     ++started;
                                   }
                                 }).detach();
                               }
                               while (started < 100) std::this_thread::yield();
                               std::exit(14);
                             }};

scenario const beside_others_in_destructors{"static-destructor-beside-running-threads", [](int) {
                                              static struct joins_late {
                                                ~joins_late() { std::printf("%ld\n", fib(15)); }
                                              } const late;
                                              static std::atomic<int> started{0};
                                              for (int i = 0; i < 4; ++i) {
                                                std::thread([] {
                                                  for (;;) {
                                                    fib(12);
                                                    ++started;
                                                  }
                                                }).detach();
                                              }
                                              while (started < 100) std::this_thread::yield();
                                            }};

scenario const after_unused{"static-pool-destroyed-unused", [](int) {
                              static_pool();
                              other_static_pool().run([] { return fib(15); });
                              std::puts("end of main");
                            }};

scenario const on_signal_stack{"exit-on-signal-stack", [](int) {
                                 struct sigaction action{};
                                 action.sa_handler = [](int) { std::exit(15); };
                                 action.sa_flags = SA_ONSTACK;
                                 sigaction(SIGTERM, &action, nullptr);
                                 fib(15);
                                 raise(SIGTERM);
                               }};

}  // namespace
}  // namespace filch_test

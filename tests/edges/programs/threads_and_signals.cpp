// Threads that end, and signals that come at any time.
#include "programs/scenario.hpp"

#include <sys/time.h>

#include <chrono>
#include <csignal>
#include <cstdio>

namespace filch_test {
namespace {

struct joins_at_the_end {
  long expected = 610;
  void touch() {}
  ~joins_at_the_end() { std::printf("%d\n", fib(15) == expected); }
};

scenario const destructor_after_use{"join-in-thread-local-destructor-after-use", [](int) {
                                      // Constructed before the library's own thread-local objects, so destroyed after
                                      // them.
                                      std::thread([] {
                                        thread_local joins_at_the_end object;
                                        object.touch();
                                        std::printf("%d\n", fib(15) == 610);
                                      }).join();
                                    }};

scenario const destructor_first_use{"join-in-thread-local-destructor-only", [](int) {
                                      std::thread([] {
                                        thread_local joins_at_the_end object;
                                        object.touch();
                                      }).join();
                                    }};

scenario const destructor_on_worker{"join-in-thread-local-destructor-of-a-worker", [](int) {
                                      {
                                        filch::pool pool({.workers = 2});
                                        pool.run([] {
                                          join_stolen([] {},
                                                      [] {
                                                        thread_local joins_at_the_end object;
                                                        object.touch();
                                                      });
                                        });
                                      }
                                    }};

std::atomic<int> arrived{0};

void under_signals(int timer, int signal, int flags) {
  struct sigaction action{};
  action.sa_handler = [](int) { arrived.fetch_add(1, std::memory_order_relaxed); };
  action.sa_flags = flags;
  sigaction(signal, &action, nullptr);
  itimerval const often{{0, 500}, {0, 500}};
  setitimer(timer, &often, nullptr);
  filch::pool pool({.workers = 3});
  int wrong = 0;
  auto const until = std::chrono::steady_clock::now() + std::chrono::milliseconds(300);
  do {
    wrong += pool.run([] { return fib(18); }) != 2'584;
    wrong += fib(10) != 55;
    if (timer == ITIMER_REAL)
      pool.run([] { std::this_thread::sleep_for(std::chrono::milliseconds(2)); });  // all asleep
  } while (std::chrono::steady_clock::now() < until || arrived < 10);
  itimerval const never{};
  setitimer(timer, &never, nullptr);
  std::printf("wrong: %d\n", wrong);
}

scenario const alarms{"under-alarms", [](int) { under_signals(ITIMER_REAL, SIGALRM, 0); }};
scenario const alarms_restart{"under-alarms-on-signal-stack",
                              [](int) { under_signals(ITIMER_REAL, SIGALRM, SA_ONSTACK | SA_RESTART); }};
scenario const profiling{"under-profiling", [](int) { under_signals(ITIMER_PROF, SIGPROF, SA_RESTART); }};

#if FILCH_HAS_CACTUS
scenario const urgent{"own-handler-of-the-interrupts-signal", [](int) {
                        struct sigaction action{};
                        action.sa_handler = [](int) { arrived.fetch_add(1, std::memory_order_relaxed); };
                        sigaction(SIGURG, &action, nullptr);
                        filch::implicit::pool pool({.workers = 2});
                        pool.run([] {});
                        std::thread([] {
                          raise(SIGURG);
                          pthread_kill(pthread_self(), SIGURG);
                        }).join();
                        std::printf("%s\n", arrived >= 2 ? "arrived" : "did not arrive");
                      }};
#endif

}  // namespace
}  // namespace filch_test

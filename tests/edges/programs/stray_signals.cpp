// A program whose own handler of SIGURG counts, and whose waits outside of tasks are short.
#include "programs/scenario.hpp"

#include <csignal>
#include <ctime>

#include <cerrno>
#include <chrono>
#include <cstdio>

namespace filch_test {
namespace {

#if FILCH_HAS_CACTUS
std::atomic<int> strays{0};
int ended_early = 0;

void count_strays() {
  struct sigaction mine{};
  mine.sa_handler = [](int) { ++strays; };
  mine.sa_flags = SA_RESTART;
  sigaction(SIGURG, &mine, nullptr);
}

void wait_in_system() {
  timespec const some{0, 30'000};
  ended_early += nanosleep(&some, nullptr) != 0 && errno == EINTR;
}

/// For about as long as thieves wait before they interrupt this worker.
void spin(int i) {
  auto const until = std::chrono::steady_clock::now() + std::chrono::microseconds(30 + i * 7 % 170);
  while (std::chrono::steady_clock::now() < until) {
  }
}

scenario const outside{"waits-between-runs", [](int rounds) {
                         using filch::implicit;
                         count_strays();
                         implicit::pool pool({.workers = 2});
                         for (int i = 0; i < rounds; ++i) {
                           pool.run([&] { implicit::join([&] { spin(i); }, [] {}); });
                           wait_in_system();
                         }
                         std::printf("strays: %d, ended early: %d\n", strays.load(), ended_early);
                       }};

scenario const in_stays{"waits-in-stays", [](int rounds) {
                          using filch::implicit;
                          count_strays();
                          implicit::pool pool({.workers = 2});
                          pool.run([&] {
                            for (int i = 0; i < rounds; ++i) {
                              implicit::join(
                                  [&] {
                                    spin(i);
                                    filch::stay([] { wait_in_system(); });
                                  },
                                  [] {});
                            }
                          });
                          std::printf("strays: %d, ended early: %d\n", strays.load(), ended_early);
                        }};

// The thread blocks the signal while it is in the pool.
scenario const blocked{"signals-blocked-in-runs", [](int rounds) {
                         using filch::implicit;
                         count_strays();
                         implicit::pool pool({.workers = 2});
                         sigset_t urgent;
                         sigemptyset(&urgent);
                         sigaddset(&urgent, SIGURG);
                         for (int i = 0; i < rounds; ++i) {
                           pthread_sigmask(SIG_BLOCK, &urgent, nullptr);
                           pool.run([&] { implicit::join([&] { spin(i); }, [] {}); });
                           pthread_sigmask(SIG_UNBLOCK, &urgent, nullptr);
                           wait_in_system();
                         }
                         std::printf("strays: %d, ended early: %d\n", strays.load(), ended_early);
                       }};
#endif

}  // namespace
}  // namespace filch_test

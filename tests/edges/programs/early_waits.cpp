// Waits in the system that end early under implicit's signal: docs/signals.md lists them.
#include "programs/scenario.hpp"

#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <thread>

#if FILCH_HAS_CACTUS

namespace filch_test {
namespace {

/// Makes SIGURG the library's.
void use_interrupts() {
  filch::implicit::pool pool({.workers = 2});
  pool.run([] {});
}

constexpr long k_wait_ns = 200'000'000;
constexpr timespec k_wait{0, k_wait_ns};

timespec when_over() {
  timespec t{};
  clock_gettime(CLOCK_REALTIME, &t);
  t.tv_nsec += k_wait_ns;
  if (t.tv_nsec >= 1'000'000'000) t = {t.tv_sec + 1, t.tv_nsec - 1'000'000'000};
  return t;
}

void receive_with_time_limit() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return;
  timeval const most{0, k_wait_ns / 1000};
  setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most);
  char byte = 0;
  static_cast<void>(recv(ends[0], &byte, 1, 0));
  close(ends[0]);
  close(ends[1]);
}

void read_what_comes_late() {
  int ends[2];
  if (pipe(ends) != 0) return;
  std::thread writer([&] {
    std::this_thread::sleep_for(std::chrono::nanoseconds(k_wait_ns));
    static_cast<void>(!write(ends[1], "x", 1));
  });
  char byte = 0;
  static_cast<void>(!read(ends[0], &byte, 1));
  writer.join();
  close(ends[0]);
  close(ends[1]);
}

void wait_for_post() {
  sem_t late;
  sem_init(&late, 0, 0);
  std::thread poster([&] {
    std::this_thread::sleep_for(std::chrono::nanoseconds(k_wait_ns));
    sem_post(&late);
  });
  sem_wait(&late);
  poster.join();
}

struct wait {
  char const* name;
  void (*call)();
  long lasts_ns = k_wait_ns;
};
constexpr wait k_waits[] = {
    {"sleep", [] { sleep(1); }, 1'000'000'000},
    {"usleep", [] { usleep(k_wait_ns / 1000); }},
    {"nanosleep", [] { nanosleep(&k_wait, nullptr); }},
    {"clock_nanosleep", [] { clock_nanosleep(CLOCK_MONOTONIC, 0, &k_wait, nullptr); }},
    {"poll", [] { poll(nullptr, 0, k_wait_ns / 1'000'000); }},
    {"select",
     [] {
       timeval most{0, k_wait_ns / 1000};
       select(0, nullptr, nullptr, nullptr, &most);
     }},
    {"pselect", [] { pselect(0, nullptr, nullptr, nullptr, &k_wait, nullptr); }},
    {"epoll_wait",
     [] {
       int const e = epoll_create1(0);
       epoll_event event{};
       epoll_wait(e, &event, 1, k_wait_ns / 1'000'000);
       close(e);
     }},
    {"sem_timedwait",
     [] {
       sem_t never;
       sem_init(&never, 0, 0);
       timespec const t = when_over();
       sem_timedwait(&never, &t);
     }},
    {"sigtimedwait",
     [] {
       sigset_t other;
       sigemptyset(&other);
       sigaddset(&other, SIGUSR1);
       sigtimedwait(&other, nullptr, &k_wait);
     }},
    {"recv with SO_RCVTIMEO", receive_with_time_limit},
    {"read", read_what_comes_late},
    {"sem_wait", wait_for_post},
    {"pthread_cond_timedwait",
     [] {
       pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
       pthread_cond_t never = PTHREAD_COND_INITIALIZER;
       timespec const t = when_over();
       pthread_mutex_lock(&mutex);
       pthread_cond_timedwait(&never, &mutex, &t);
       pthread_mutex_unlock(&mutex);
     }},
    {"sleep_for", [] { std::this_thread::sleep_for(std::chrono::nanoseconds(k_wait_ns)); }},
    {"join", [] { std::thread([] { std::this_thread::sleep_for(std::chrono::nanoseconds(k_wait_ns)); }).join(); }},
};

/// Prints the waits that end early while the thread gets the library's signal all the time.
scenario const waits{"waits-that-end-early", [](int) {
                       use_interrupts();
                       std::atomic<bool> is_over{false};
                       pthread_t const waiter = pthread_self();
                       std::thread sender([&] {
                         while (!is_over.load()) {
                           pthread_kill(waiter, SIGURG);
                           std::this_thread::sleep_for(std::chrono::milliseconds(1));
                         }
                       });
                       for (wait const& w : k_waits) {
                         auto const begin = std::chrono::steady_clock::now();
                         w.call();
                         auto const lasted = std::chrono::steady_clock::now() - begin;
                         if (lasted < std::chrono::nanoseconds(w.lasts_ns)) std::printf("%s\n", w.name);
                       }
                       is_over.store(true);
                       sender.join();
                     }};

}  // namespace
}  // namespace filch_test

#endif

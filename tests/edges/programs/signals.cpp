// The signals that the library uses, in programs that use them, too.
#include "programs/scenario.hpp"

#include <alloca.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <ucontext.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace filch_test {
namespace {

void on(int signal, void (*handler)(int), int flags, int blocked = 0) {
  struct sigaction action{};
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigemptyset(&action.sa_mask);
  if (blocked) sigaddset(&action.sa_mask, blocked);
  sigaction(signal, &action, nullptr);
}

void say(char const* text) {
  if (write(STDOUT_FILENO, text, std::strlen(text)) < 0) _exit(4);
}

/// Wrappers set the flag for every handler.
scenario const ignored_fault{"fault-is-sent-and-ignored-with-siginfo", [](int) {
                               on(SIGSEGV, SIG_IGN, SA_SIGINFO);
                               fib(10);
                               raise(SIGSEGV);
                               std::puts("went on");
                             }};
scenario const default_fault{"null-in-task-with-siginfo", [](int) {
                               on(SIGSEGV, SIG_DFL, SA_SIGINFO);
                               filch::pool pool({.workers = 2});
                               pool.run([] {
                                 int volatile* volatile p = reinterpret_cast<int volatile*>(std::uintptr_t{64});
                                 *p = 1;
                               });
                             }};

/// Kibibytes of address space.
long mapped() {
  long pages = 0;
  std::FILE* const f = std::fopen("/proc/self/statm", "r");
  if (!f || std::fscanf(f, "%ld", &pages) != 1) std::exit(5);
  std::fclose(f);
  return pages * getpagesize() / 1024;
}

/// Threads that have a signal stack of their own when they end, though they got one from the library.
scenario const own_signal_stack{"threads-with-a-signal-stack-of-their-own", [](int) {
                                  filch::pool pool({.workers = 1});
                                  static char mine[1 << 16];
                                  auto const one = [&] {
                                    std::thread([&] {
                                      pool.run([] {});
                                      stack_t const s{mine, 0, sizeof mine};
                                      sigaltstack(&s, nullptr);
                                    }).join();
                                  };
                                  for (int i = 0; i < 10; ++i) one();
                                  long const before = mapped();
                                  for (int i = 0; i < 200; ++i) one();
                                  std::printf("left behind: %d\n", mapped() - before > 1024);
                                }};

/// Checks that the library's signal stack is found again after a destructor put it back.
pthread_key_t at_end;
scenario const restored_signal_stack{"signal-stack-is-put-back-at-the-end-of-a-thread", [](int) {
                                       static stack_t before{};
                                       static char mine[1 << 16];
                                       filch::pool pool({.workers = 1});
                                       pool.run([] {});  // so that the library's key is the first
                                       on(SIGUSR1, [](int) { say("handled\n"); }, SA_ONSTACK);
                                       pthread_key_create(&at_end, [](void*) {
                                         sigaltstack(&before, nullptr);
                                         raise(SIGUSR1);
                                       });
                                       std::thread([&] {
                                         pool.run([] {});
                                         stack_t const s{mine, 0, sizeof mine};
                                         sigaltstack(&s, &before);
                                         pthread_setspecific(at_end, mine);
                                       }).join();
                                     }};

#if FILCH_HAS_CACTUS
using S = filch::implicit;

/// Makes SIGURG the library's.
void use_interrupts() {
  S::pool pool({.workers = 2});
  pool.run([] {});
}

void urgent_without_handler(void (*handler)(int)) {
  on(SIGURG, handler, SA_SIGINFO | SA_RESTART);
  use_interrupts();
  raise(SIGURG);
  kill(getpid(), SIGURG);
  std::puts("went on");
}
scenario const ignored{"urgent-ignored-with-siginfo", [](int) { urgent_without_handler(SIG_IGN); }};
scenario const by_default{"urgent-by-default-with-siginfo", [](int) { urgent_without_handler(SIG_DFL); }};

scenario const one_only{"urgent-with-handler-for-one", [](int) {
                          on(SIGURG, [](int) { say("handled\n"); }, static_cast<int>(SA_RESETHAND));
                          use_interrupts();
                          raise(SIGURG);
                          raise(SIGURG);
                        }};

void say_what_is_blocked(int) {
  sigset_t now;
  pthread_sigmask(SIG_BLOCK, nullptr, &now);
  for (int signal : {SIGURG, SIGUSR1, SIGUSR2, SIGHUP}) say(sigismember(&now, signal) == 1 ? "1" : "0");
  say("\n");
}
void urgent_with_mask(int flags) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR2);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  on(SIGURG, say_what_is_blocked, flags, SIGUSR1);
  use_interrupts();
  raise(SIGURG);
}
scenario const with_mask{"urgent-with-handler-and-mask", [](int) { urgent_with_mask(0); }};
scenario const without_own{"urgent-with-handler-that-is-not-deferred", [](int) { urgent_with_mask(SA_NODEFER); }};

// ---- on small stacks ----------------------------------------------------------------------------

constexpr std::size_t k_signal_stack = 1 << 16;
char signal_stack[k_signal_stack];
int volatile handled_on = 0;
ucontext_t thread_context;
ucontext_t fiber_context;

void handle_on_signal_stack(int) {
  char here = 0;
  auto const address = [](char const* p) { return reinterpret_cast<std::uintptr_t>(p); };
  handled_on = address(&here) - address(signal_stack) < k_signal_stack ? 1 : 2;
}

/// Most of a page is used, so there is no room for the kernel's frame.
void raise_in_fiber() {
  auto* const used = static_cast<char volatile*>(alloca(512));
  used[0] = 0;
  raise(SIGURG);
}

scenario const on_signal_stack{
    "urgent-on-signal-stack", [](int) {
      on(SIGURG, handle_on_signal_stack, SA_ONSTACK | SA_RESTART);
      use_interrupts();
      raise(SIGURG);  // looks the function up, which takes more of a stack
      std::thread([] {
        stack_t const mine{signal_stack, 0, k_signal_stack};
        sigaltstack(&mine, nullptr);
        constexpr std::size_t k_page = 4096;
        auto* const p = static_cast<char*>(mmap(nullptr, 2 * k_page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        mprotect(p + k_page, k_page, PROT_READ | PROT_WRITE);
        getcontext(&fiber_context);
        fiber_context.uc_stack.ss_sp = p + k_page;
        fiber_context.uc_stack.ss_size = 2048;
        fiber_context.uc_link = &thread_context;
        makecontext(&fiber_context, raise_in_fiber, 0);
        swapcontext(&thread_context, &fiber_context);
      }).join();
      std::printf("%d\n", handled_on);
    }};

/// The victim has used all but some of its stack; a thief interrupts it.
scenario const near_end{"interrupt-near-the-end-of-a-stack", [](int left) {
                          constexpr std::size_t k_stack = std::size_t{64} << 10;
                          S::pool pool({.workers = 2, .stack_size = k_stack});
                          pool.run([&] {
                            char here = 0;
                            std::size_t const used = k_stack - static_cast<std::size_t>(left);
                            std::atomic<bool> stolen{false};
                            filch::join<S>(
                                [&] {
                                  filch::join<S>(
                                      [&] {
                                        auto const so_far = static_cast<std::size_t>(
                                            &here - static_cast<char*>(__builtin_frame_address(0)));
                                        auto* const p = static_cast<char volatile*>(alloca(used - so_far));
                                        for (std::size_t i = 0; i < used - so_far; i += 512) p[i] = 1;
                                        while (!stolen.load()) __builtin_ia32_pause();
                                      },
                                      [&] { stolen.store(true); });
                                },
                                [] {});
                          });
                          std::puts("stolen");
                        }};

/// In a run: calls first(), then forks nothing until the task beside it was stolen, which only an interrupt offers.
template <class First> void be_stolen_from(First first) {
  std::atomic<bool> stolen{false};
  filch::join<S>(
      [&] {
        filch::join<S>(
            [&] {
              first();
              while (!stolen.load()) __builtin_ia32_pause();
            },
            [&] { stolen.store(true); });
      },
      [] {});
}

/// The victim has a signal stack of its own, with 4 KiB more than the kernel needs of it.
scenario const small_signal_stack{
    "interrupt-on-a-small-signal-stack", [](int) {
      std::size_t const page = static_cast<std::size_t>(getpagesize());
      auto const bytes = static_cast<std::size_t>(sysconf(_SC_MINSIGSTKSZ)) + 4096;
      std::size_t const whole = 16 * page;
      auto* const p = static_cast<char*>(mmap(nullptr, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
      // It begins where the pages do, behind a guard.
      std::size_t const pages = (bytes + page - 1) / page * page;
      char* const from = p + whole - pages;
      mprotect(from, pages, PROT_READ | PROT_WRITE);
      stack_t const mine{from, 0, bytes};
      sigaltstack(&mine, nullptr);
      S::pool pool({.workers = 2});
      for (int i = 0; i < 20; ++i) {
        pool.run([] { be_stolen_from([] {}); });
      }
      std::puts("stolen");
    }};

// ---- the limit of pending signals -----------------------------------------------------------------

scenario const nameless{"interrupt-without-its-sender", [](int) {
                          rlimit const none{0, 0};
                          setrlimit(RLIMIT_SIGPENDING, &none);
                          on(SIGURG, [](int) { say("handled\n"); }, SA_RESTART);
                          S::pool pool({.workers = 2});
                          for (int i = 0; i < 5; ++i) {
                            pool.run([] { be_stolen_from([] {}); });
                          }
                          std::puts("stolen");
                        }};

/// A thief's signal that comes while another one is pending merges with it.
scenario const at_once{"urgent-while-urgent-is-pending", [](int) {
                         on(SIGURG, [](int) { say("handled\n"); }, SA_RESTART);
                         S::pool pool({.workers = 2});
                         pool.run([&] {
                           be_stolen_from([&] {
                             // Before the mask: a thief that sleeps after this has sent its interrupt.
                             auto const before = pool.stats().sleeps;
                             sigset_t urgent;
                             sigemptyset(&urgent);
                             sigaddset(&urgent, SIGURG);
                             pthread_sigmask(SIG_BLOCK, &urgent, nullptr);
                             pthread_sigqueue(pthread_self(), SIGURG, {});
                             while (pool.stats().sleeps == before) std::this_thread::yield();
                             pthread_sigmask(SIG_UNBLOCK, &urgent, nullptr);
                           });
                         });
                         std::puts("stolen");
                       }};

// ---- without interrupts ----------------------------------------------------------------------------

/// The inner f forks nothing until g has run on another worker, or until the time is over. False: it is over.
bool gets_inner_task(S::pool& pool, std::chrono::milliseconds most) {
  std::atomic<bool> ran{false};
  bool was_stolen = false;
  pool.run([&] {
    filch::join<S>(
        [&] {
          filch::join<S>(
              [&] {
                auto const end = std::chrono::steady_clock::now() + most;
                while (!ran.load() && std::chrono::steady_clock::now() < end) __builtin_ia32_pause();
                was_stolen = ran.load();
              },
              [&] { ran.store(true); });
        },
        [] {});
  });
  return was_stolen;
}
constexpr std::chrono::milliseconds k_long{20};
constexpr std::chrono::seconds k_for_ever{30};

std::atomic<int> handled{0};
scenario const replaced{"urgent-handler-is-replaced", [](int) {
                          S::pool pool({.workers = 2});
                          bool const before = gets_inner_task(pool, k_for_ever);
                          struct sigaction the_library_s{};
                          sigaction(SIGURG, nullptr, &the_library_s);
                          on(SIGURG, [](int) { handled.fetch_add(1, std::memory_order_relaxed); }, 0);
                          for (int i = 0; i < 5; ++i) gets_inner_task(pool, k_long);
                          int const sent = handled.load();
                          sigaction(SIGURG, &the_library_s, nullptr);
                          bool const after = gets_inner_task(pool, k_for_ever);
                          std::printf("%d %d, handled %d\n", before, after, sent);
                        }};

/// Takes the signal from a queue; the program's threads block it.
void take_urgent(S::pool& pool) {
  sigset_t urgent;
  sigemptyset(&urgent);
  sigaddset(&urgent, SIGURG);
  int taken = 0;
  for (int i = 0; i < 20; ++i) {
    gets_inner_task(pool, std::chrono::milliseconds(2));
    kill(getpid(), SIGURG);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // any thread may have it that does not block it
    timespec const most{1, 0};
    taken += sigtimedwait(&urgent, nullptr, &most) == SIGURG;
  }
  struct sigaction now{};
  sigaction(SIGURG, nullptr, &now);
  std::printf("took %d, nothing handles it: %d\n", taken, now.sa_handler == SIG_DFL);
}
void block_urgent() {
  sigset_t urgent;
  sigemptyset(&urgent);
  sigaddset(&urgent, SIGURG);
  pthread_sigmask(SIG_BLOCK, &urgent, nullptr);
}
scenario const waited_for{"urgent-is-waited-for", [](int) {
                            block_urgent();
                            S::pool pool({.workers = 3, .interrupts = false});
                            take_urgent(pool);
                          }};
scenario const waited_for_by_all{"urgent-is-waited-for-by-environment", [](int) {
                                   block_urgent();
                                   S::pool pool({.workers = 3});
                                   take_urgent(pool);
                                 }};
#endif

}  // namespace
}  // namespace filch_test

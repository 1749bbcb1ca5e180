// Running out of stack, and other faults.
#include "programs/scenario.hpp"

#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace filch_test {
namespace {

// Not for the optimiser: a frame of a kilobyte for each level.
[[gnu::noinline]] int bottomless(int depth) {
  char volatile frame[1024];
  frame[0] = static_cast<char>(depth);
  if (depth < 0) return 0;
  return bottomless(depth + 1) + frame[0];
}

long forks_for_ever(long n) {
  auto const [a, b] = filch::join([=] { return forks_for_ever(n + 1); }, [=] { return n; });
  return a + b;
}

int volatile zero = 0;

filch::pool_options small() { return {.workers = 2, .stack_size = std::size_t{256} << 10}; }

scenario const on_caller{"overflow-on-caller", [](int) {
                           filch::pool pool(small());
                           pool.run([] { return bottomless(zero); });
                         }};

scenario const on_worker{"overflow-on-worker", [](int) {
                           filch::pool pool(small());
                           pool.run([] { join_stolen([] {}, [] { bottomless(zero); }); });
                         }};

scenario const by_joins{"overflow-by-joins", [](int) {
                          filch::pool pool(small());
                          pool.run([] { return forks_for_ever(zero); });
                        }};

#if FILCH_HAS_CACTUS
long deep(long n) {
  if (n == 0) return 0;
  auto const [a, b] = filch::join<filch::cactus>([n] { return deep(n - 1); }, [] { return 1L; });
  return a + b;
}

ucontext_t of_task, of_coroutine;
long levels = 0;
long counted = 0;

/// So many joins inside each other, on a large stack of the program's own.
void join_on_own_stack(long n) {
  filch::cactus::pool pool({.workers = 1, .stack_size = std::size_t{64} << 10});
  std::size_t const bytes = std::size_t{1} << 30;
  void* const low = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  levels = n;
  pool.run([&] {
    getcontext(&of_coroutine);
    of_coroutine.uc_stack.ss_sp = low;
    of_coroutine.uc_stack.ss_size = bytes;
    of_coroutine.uc_link = &of_task;
    makecontext(&of_coroutine, [] { counted = deep(levels); }, 0);
    swapcontext(&of_task, &of_coroutine);
  });
  std::printf("%ld\n", counted);
}

scenario const few_joins{"some-joins-on-a-stack-of-its-own", [](int) { join_on_own_stack(10'000); }};
scenario const many_joins{"too-many-joins-on-a-stack-of-its-own", [](int) { join_on_own_stack(1'000'000); }};
#endif

scenario const in_nested{"overflow-in-nested-pool", [](int) {
                           filch::pool outer({.workers = 2});
                           filch::pool inner({.workers = 1, .stack_size = std::size_t{512} << 10});
                           outer.run([&] { inner.run([] { bottomless(zero); }); });
                         }};

scenario const outside{"overflow-outside", [](int) {
                         fib(10);
                         bottomless(zero);
                       }};

scenario const null{"null-in-task", [](int) {
                      filch::pool pool(small());
                      pool.run([] {
                        // Nothing lies there; not null, which the undefined-behaviour sanitizer would catch before
                        // the processor.
                        int volatile* volatile p = reinterpret_cast<int volatile*>(std::uintptr_t{64});
                        *p = 1;
                      });
                    }};

scenario const sent{"fault-is-sent", [](int) {
                      fib(10);
                      raise(SIGSEGV);
                      std::puts("went on");
                    }};

scenario const sent_and_ignored{"fault-is-sent-and-ignored", [](int) {
                                  std::signal(SIGSEGV, SIG_IGN);
                                  fib(10);
                                  for (int i = 0; i < 3; ++i) raise(SIGSEGV);
                                  std::puts("went on");
                                }};

scenario const with_handler{"null-in-task-with-handler", [](int) {
                              std::signal(SIGSEGV, [](int) {
                                static char const text[] = "the program's own handler\n";
                                if (write(STDOUT_FILENO, text, sizeof text - 1) < 0) _exit(4);
                                _exit(3);
                              });
                              filch::pool pool(small());
                              pool.run([] {
                                // Nothing lies there; not null, which the undefined-behaviour sanitizer would catch
                                // before the processor.
                                int volatile* volatile p = reinterpret_cast<int volatile*>(std::uintptr_t{64});
                                *p = 1;
                              });
                            }};

void say_fault(int) {
  static char const text[] = "fault\n";
  if (write(STDOUT_FILENO, text, sizeof text - 1) < 0) _exit(4);
}

void null_with_handler(void (*handler)(int), unsigned flags, int blocked) {
  struct sigaction action{};
  action.sa_handler = handler;
  action.sa_flags = static_cast<int>(flags);
  sigemptyset(&action.sa_mask);
  sigaddset(&action.sa_mask, blocked);
  sigaction(SIGSEGV, &action, nullptr);
  filch::pool pool(small());
  pool.run([] {
    int volatile* volatile p = reinterpret_cast<int volatile*>(std::uintptr_t{64});
    *p = 1;
  });
}

scenario const with_handler_for_one{"null-in-task-with-handler-for-one",
                                    [](int) { null_with_handler(say_fault, SA_RESETHAND, SIGUSR1); }};

// It reads the signals that are blocked while it runs.
scenario const with_mask{"null-in-task-with-handler-and-mask", [](int) {
                           null_with_handler(
                               [](int) {
                                 sigset_t now;
                                 pthread_sigmask(SIG_BLOCK, nullptr, &now);
                                 _exit(sigismember(&now, SIGSEGV) == 0 && sigismember(&now, SIGUSR1) == 1 ? 3 : 5);
                               },
                               SA_NODEFER, SIGUSR1);
                         }};

}  // namespace
}  // namespace filch_test

// A system that refuses threads, address space or memory. Empty in builds in which a sanitizer replaces the same
// functions.
#include "scale.hpp"

#if !FILCH_TEST_ASAN && !FILCH_TEST_TSAN

#include "eventually.hpp"
#include "memory.hpp"
#include "programs/scenario.hpp"

#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <atomic>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <new>

namespace {

/// Counts calls. The call with the armed number fails, once or with all later ones.
class fault {
 public:
  void arm(int call, bool from_then_on = false) {
    left_ = call;
    forever_ = from_then_on;
  }
  void disarm() { left_ = 0; }
  bool strikes() {
    if (left_ == 0) return false;
    if (left_ == 1 && forever_) return true;
    return --left_ == 0;
  }
  /// Is it armed, and was its number not reached?
  bool is_waiting() const { return left_ > 0; }

 private:
  std::atomic<int> left_{0};
  bool forever_ = false;
};

constinit fault thread_fault;
constinit fault map_fault;
// A fault may begin between the two calls of a worker that gives pages back: the second one has to work then.
constinit std::atomic<bool> protection_fails{true};
constinit fault advice_fault;
constinit fault new_fault;

template <class F> F next(char const* name) { return reinterpret_cast<F>(dlsym(RTLD_NEXT, name)); }

}  // namespace

extern "C" {
int pthread_create(pthread_t* thread, pthread_attr_t const* attributes, void* (*start)(void*),
                   void* argument) noexcept {
  static auto* const real =
      next<int (*)(pthread_t*, pthread_attr_t const*, void* (*)(void*), void*)>("pthread_create");
  return thread_fault.strikes() ? EAGAIN : real(thread, attributes, start, argument);
}

void* mmap(void* address, size_t bytes, int protection, int flags, int file, off_t offset) noexcept {
  static auto* const real = next<void* (*)(void*, size_t, int, int, int, off_t)>("mmap");
  if (map_fault.strikes()) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  return real(address, bytes, protection, flags, file, offset);
}

int madvise(void* address, size_t bytes, int advice) noexcept {
  static auto* const real = next<int (*)(void*, size_t, int)>("madvise");
  constexpr int k_dontneed_locked = 24;
  if ((advice == MADV_DONTNEED || advice == k_dontneed_locked) && advice_fault.strikes()) {
    errno = EINVAL;
    return -1;
  }
  return real(address, bytes, advice);
}

int mprotect(void* address, size_t bytes, int protection) noexcept {
  static auto* const real = next<int (*)(void*, size_t, int)>("mprotect");
  if (protection_fails.load() && map_fault.strikes()) {
    errno = ENOMEM;
    return -1;
  }
  return real(address, bytes, protection);
}
}

[[gnu::noinline]] void* operator new(std::size_t bytes) {
  if (!new_fault.strikes()) {
    if (void* const p = std::malloc(bytes ? bytes : 1)) return p;
  }
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }

namespace filch_test {
namespace {

constexpr std::size_t k_mebibyte = std::size_t{1} << 20;

/// Makes a pool of four while `f` fails its call number 1, 2, ... until it is not reached any more. Each time
/// the pool is made, or refused by setup_error or bad_alloc; nothing is left behind; and the next one works.
void sweep(fault& f, filch::pool_options options) {
  mallopt(M_ARENA_MAX, 1);  // else malloc keeps address space for each thread that there ever was
  std::size_t const threads = thread_count();
  {
    filch::pool warm_up(options);
    warm_up.run([] { return fib(10); });
  }
  std::size_t const space = status_bytes("VmSize").value();
  int made = 0;
  int refused = 0;
  int out_of_memory = 0;
  for (int call = 1;; ++call) {
    f.arm(call);
    bool reached = true;
    try {
      filch::pool pool(options);
      reached = !f.is_waiting();
      f.disarm();
      if (pool.run([] { return fib(10); }) != 55) std::puts("wrong answer");
      ++made;
    } catch (filch::setup_error const& e) {
      if (std::string(e.what()).find('\n') != std::string::npos) std::puts("more than a line");
      ++refused;
    } catch (std::bad_alloc const&) {
      ++out_of_memory;
    }
    f.disarm();
    // The kernel counts a thread for a moment after it was joined.
    if (!eventually([&] { return thread_count() == threads; })) std::puts("threads are left");
    if (!reached) break;
    filch::pool next(options);
    if (next.run([] { return fib(10); }) != 55) std::puts("wrong answer");
  }
  if (status_bytes("VmSize").value() > space + 64 * k_mebibyte) std::puts("address space is left");
  std::printf("made %d, refused %d, out of memory %d\n", made, refused, out_of_memory);
}

scenario const threads{"threads-explicit", [](int) { sweep(thread_fault, {.workers = 4}); }};
scenario const maps{"maps-explicit", [](int) { sweep(map_fault, {.workers = 4}); }};
scenario const maps_asked{"maps-explicit-size",
                          [](int) { sweep(map_fault, {.workers = 4, .stack_size = 64 * k_mebibyte}); }};
scenario const allocations{"allocations-explicit", [](int) { sweep(new_fault, {.workers = 4}); }};

template <class S> void nest_without_memory() {
  typename S::pool outer({.workers = 1});
  typename S::pool inner({.workers = 1});
  inner.run([] {});
  outer.run([&] {
    new_fault.arm(1, true);
    bool has_run = false;
    inner.run([&] { has_run = true; });
    new_fault.disarm();
    std::printf("%s, ", has_run && filch::current_worker<S>() ? "ran" : "did not run");
  });
}
scenario const nested{"allocations-nested-never", [](int) {
                        nest_without_memory<filch::direct>();
                        nest_without_memory<filch::channel>();
#if FILCH_HAS_CACTUS
                        nest_without_memory<filch::cactus>();
                        nest_without_memory<filch::implicit>();
#else
                        std::printf("ran, ran, ");
#endif
                      }};

scenario const default_threads{"threads-default", [](int call) {
                                 thread_fault.arm(call, true);
                                 std::printf("%ld\n", fib(15));
                                 thread_fault.disarm();
                                 auto& pool = filch::default_scheduler::default_pool();
                                 std::printf("%ld\n", pool.run([] { return fib(20); }));
                               }};

scenario const default_maps{"maps-default", [](int call) {
                              map_fault.arm(call);
                              std::printf("%ld\n", fib(15));
                            }};

scenario const default_no_maps{"maps-default-never", [](int) {
                                 map_fault.arm(1, true);
                                 std::printf("%ld\n", fib(15));
                               }};

scenario const default_allocations{"allocations-default", [](int call) {
                                     new_fault.arm(call);
                                     long const result = fib(15);
                                     std::printf("%ld%s\n", result, new_fault.is_waiting() ? " not reached" : "");
                                   }};

void leave_address_space(std::size_t bytes) {
  rlimit const limit{status_bytes("VmSize").value() + bytes, RLIM_INFINITY};
  if (setrlimit(RLIMIT_AS, &limit) != 0) std::puts("no limit");
}

#if FILCH_HAS_CACTUS
/// Frames of several pages, and steals: waiting and free stacks have pages to give back.
template <class S> long wide(int depth) {
  if (depth == 0) return 1;
  char volatile mine[32 * 1024];
  for (char volatile& x : mine) x = 1;
  auto const [a, b] = filch::join<S>([=] { return wide<S>(depth - 1); }, [=] { return wide<S>(depth - 1); });
  return a + b + mine[depth] - 1;
}

template <class S> void give_back_in_vain(filch::give_back_policy policy, fault& f) {
  protection_fails.store(false);
  typename S::pool pool({.workers = 3, .stack_give_back = policy});
  pool.run([] { return wide<S>(10); });
  f.arm(1, true);
  long leaves = 0;
  for (int i = 0; i < 20; ++i) leaves = pool.run([] { return wide<S>(10); });  // each ends with one at least
  f.disarm();
  std::printf("%ld leaves, ", leaves);
}

scenario const no_give_back{"give-back", [](int) {
                              give_back_in_vain<filch::cactus>(filch::give_back_policy::madvise, advice_fault);
                              give_back_in_vain<filch::cactus>(filch::give_back_policy::mmap, map_fault);
                              give_back_in_vain<filch::implicit>(filch::give_back_policy::madvise, advice_fault);
                              give_back_in_vain<filch::implicit>(filch::give_back_policy::mmap, map_fault);
                            }};
#endif

#if FILCH_HAS_CACTUS
/// Runs on another worker, at least once. Uses S: the default scheduler's pool would take address space for itself.
template <class S> long fib_on(long n) {
  if (n < 2) return n;
  auto const [a, b] = filch::join<S>([n] { return fib_on<S>(n - 1); }, [n] { return fib_on<S>(n - 2); });
  return a + b;
}

template <class S> void steal_with_less_stack() {
  typename S::pool pool;
  long const result = pool.run([] {
    std::atomic<bool> begun{false};
    while (!S::wanted()) std::this_thread::yield();
    auto const [a, b] = filch::join<S>(
        [&] {
          while (!begun.load()) std::this_thread::yield();
          return fib_on<S>(15);
        },
        [&] {
          begun.store(true);
          return fib_on<S>(10);
        });
    return a + b;
  });
  auto const stats = pool.stats();
  std::printf("%ld, %s steals, %s stack, ", result, stats.steals ? "with" : "without",
              stats.stack_bytes < 64 * k_mebibyte ? "less" : "all the");
}

/// There is no stack for fibers, while thieves have requested and sleep: all tasks run on the home stack, which is
/// given back, too.
template <class S> void run_without_stacks() {
  typename S::pool pool({.workers = 2});
  while (pool.stats().sleeps == 0) std::this_thread::yield();
  map_fault.arm(1, true);
  long const result =
      pool.run([] { return filch::join<S>([] { return go_down(4 * k_mebibyte); }, [] { return fib(15); }).second; });
  map_fault.disarm();
  std::printf("%ld, %s; ", result, pool.stats().give_backs ? "given back" : "kept");
}

scenario const no_stacks{"no-stacks-for-fibers", [](int) {
                           fib(5);  // makes the default pool
                           run_without_stacks<filch::cactus>();
                           run_without_stacks<filch::implicit>();
                         }};

scenario const limit_fibers{"address-space-fibers", [](int mebibytes) {
                              leave_address_space(static_cast<std::size_t>(mebibytes) * k_mebibyte);
                              steal_with_less_stack<filch::cactus>();
                              steal_with_less_stack<filch::implicit>();
                            }};
#endif

scenario const limit_explicit{"address-space-explicit", [](int mebibytes) {
                                leave_address_space(static_cast<std::size_t>(mebibytes) * k_mebibyte);
                                try {
                                  filch::pool pool({.workers = 4, .stack_size = 64 * k_mebibyte});
                                  std::printf("made: %ld\n", pool.run([] { return fib(15); }));
                                } catch (filch::setup_error const& e) {
                                  std::printf("refused: %s\n", e.what());
                                }
                                filch::pool small({.workers = 1, .stack_size = k_mebibyte});
                                std::printf("%ld\n", small.run([] { return fib(15); }));
                              }};

scenario const limit_default{"address-space-default", [](int mebibytes) {
                               leave_address_space(static_cast<std::size_t>(mebibytes) * k_mebibyte);
                               long const result = fib(15);
                               auto const stack = filch::default_scheduler::default_pool().stats().stack_bytes;
                               std::printf("%ld %s\n", result,
                                           stack < 64 * k_mebibyte ? "with less stack" : "with all the stack");
                             }};

}  // namespace
}  // namespace filch_test

#endif

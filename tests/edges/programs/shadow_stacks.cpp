// A processor that compares return addresses with a list of its own, as far as the library can tell: the system says
// that shadow stacks are on. Empty in builds in which a sanitizer replaces the same function.
#include "scale.hpp"

#include <filch/config.hpp>

#if FILCH_HAS_CACTUS && !FILCH_TEST_ASAN && !FILCH_TEST_TSAN

#include "programs/scenario.hpp"

#include <dlfcn.h>
#include <sys/syscall.h>

#include <chrono>
#include <cstdarg>
#include <cstdio>

namespace {

constexpr long k_shadow_stack_status = 0x5005;  // ARCH_SHSTK_STATUS
std::atomic<bool> are_on{false};

using system_call = long (*)(long, ...);
// Found without a guard: a thread that waits at one calls syscall().
constinit std::atomic<system_call> next{nullptr};

}  // namespace

extern "C" long syscall(long number, ...) noexcept {
  va_list list;
  va_start(list, number);
  long a[6];
  for (long& x : a) x = va_arg(list, long);
  va_end(list);
  if (are_on.load() && number == SYS_arch_prctl && a[0] == k_shadow_stack_status) {
    *reinterpret_cast<unsigned long*>(a[1]) = 1;  // ARCH_SHSTK_SHSTK
    return 0;
  }
  if (!next.load()) next.store(reinterpret_cast<system_call>(dlsym(RTLD_NEXT, "syscall")));
  return next.load()(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

namespace filch_test {
namespace {

template <class S> long fib_of(long n) {
  if (n < 2) return n;
  auto const [a, b] = filch::join<S>([n] { return fib_of<S>(n - 1); }, [n] { return fib_of<S>(n - 2); });
  return a + b;
}

struct joined {
  long result;
  bool was_parallel;
};

using milliseconds = std::chrono::milliseconds;

/// f waits until g has begun on the other worker. If joins run in order, g never begins meanwhile: f gives up after
/// that time. Not after a number of yields: one takes milliseconds beside busy programs.
template <class S> joined join_here(milliseconds at_most) {
  bool is_parallel = false;
  std::atomic<bool> begun{false};
  auto const looks = [at_most](auto const& condition) {
    auto const end = std::chrono::steady_clock::now() + at_most;
    while (!condition() && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  };
  looks([] { return S::wanted(); });
  auto const [a, b] = filch::join<S>(
      [&] {
        looks([&] { return begun.load(); });
        is_parallel = begun.load();
        return fib_of<S>(15);
      },
      [&] {
        begun.store(true);
        return fib_of<S>(10);
      });
  return {a + b, is_parallel};
}

template <class S> void join_and_tell(bool in_order) {
  milliseconds const at_most(in_order ? 10 : 10'000);  // the longer one on a busy machine only
  typename S::pool pool({.workers = 2});
  joined const inside = pool.run([at_most] { return join_here<S>(at_most); });
  char const* const steals = pool.stats().steals ? "with" : "without";
  joined const outside = join_here<S>(at_most);
  auto const how = [](joined const& j) { return j.was_parallel ? "in parallel" : "in order"; };
  std::printf("%.*s: %ld %s, %s steals, outside %ld %s\n", static_cast<int>(S::name.size()), S::name.data(),
              inside.result, how(inside), steals, outside.result, how(outside));
}

scenario const shadow_stacks{"shadow-stacks", [](int on) {
                               are_on.store(on != 0);
                               join_and_tell<filch::cactus>(on != 0);
                               join_and_tell<filch::implicit>(on != 0);
                               join_and_tell<filch::direct>(false);
                             }};

}  // namespace
}  // namespace filch_test

#endif

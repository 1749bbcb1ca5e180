// A library with pools of its own: one while it is initialised, one for as long as it is there.
#include <filch/filch.hpp>

namespace {

template <class S> long fib(long n) {
  if (n < 2) return n;
  auto const [a, b] = filch::join<S>([=] { return fib<S>(n - 1); }, [=] { return fib<S>(n - 2); });
  return a + b;
}

template <class S> long fib_in_own_pool(long n) {
  typename S::pool pool({.workers = 2});
  return pool.run([=] { return fib<S>(n); });
}

// Joins of every scheduler.
long const at_first = fib_in_own_pool<filch::direct>(10) + fib_in_own_pool<filch::channel>(10)
#if FILCH_HAS_CACTUS
                      + fib_in_own_pool<filch::cactus>(10) + fib_in_own_pool<filch::implicit>(10) - 110
#endif
    ;

filch::direct::pool pool({.workers = 2});
filch::worker_local<long> of_thread;

}  // namespace

extern "C" {
[[gnu::visibility("default")]] long guest_at_first() { return at_first; }
[[gnu::visibility("default")]] long guest_in_pool(long n) {
  return pool.run([n] { return fib<filch::direct>(n); });
}
/// From here on the calling thread has state of Filch.
[[gnu::visibility("default")]] void guest_touch() { of_thread.local() = 1; }
}

// Trees of joins under every scheduler that steals, for two copies of Filch in one process.
#pragma once

#include <filch/channel.hpp>
#include <filch/direct.hpp>
#include <filch/filch.hpp>
#if FILCH_HAS_CACTUS
#include <filch/cactus.hpp>
#include <filch/implicit.hpp>
#endif

namespace filch_test {

/// Calls f<S>() of the scheduler with that number; false: there is none.
template <class F> bool with_scheduler(int number, F f) {
  switch (number) {
    case 0: f.template operator()<filch::direct>(); return true;
    case 1: f.template operator()<filch::channel>(); return true;
#if FILCH_HAS_CACTUS
    case 2: f.template operator()<filch::cactus>(); return true;
    case 3: f.template operator()<filch::implicit>(); return true;
#endif
    default: return false;
  }
}

template <class S> long copy_fib(int n) {
  if (n < 2) return n;
  auto const [a, b] = filch::join<S>([n] { return copy_fib<S>(n - 1); }, [n] { return copy_fib<S>(n - 2); });
  return a + b;
}

}  // namespace filch_test

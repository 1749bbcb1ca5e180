// Trees of joins under every scheduler that steals, for two copies of Filch in one process.
#pragma once

#include <filch/filch.hpp>

#include <type_traits>

namespace filch_test {

template <class... S> struct all_of {
  /// Calls f<S>() of the one with that number, serial not counted; false: there is none.
  template <class F> static bool call(int number, F f) {
    return ((!std::is_same_v<S, filch::serial> && number-- == 0 && (f.template operator()<S>(), true)) || ...);
  }
};
template <class F> bool with_scheduler(int number, F f) { return all_of<FILCH_SCHEDULERS>::call(number, f); }

template <class S> long copy_fib(int n) {
  if (n < 2) return n;
  auto const [a, b] = filch::join<S>([n] { return copy_fib<S>(n - 1); }, [n] { return copy_fib<S>(n - 2); });
  return a + b;
}

}  // namespace filch_test

// Shared by the programs with foreign runtimes: a scheduler by its name, and the checks.
#pragma once

#include <filch/filch.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace foreign {

inline void expect(bool holds, char const* what) {
  if (holds) return;
  std::fprintf(stderr, "failed: %s\n", what);
  std::exit(1);
}

/// Calls f.operator()<S>() with the scheduler that the command line names.
template <class F> int with_scheduler(int argc, char** argv, F f) {
  std::string_view const name = argc > 1 ? argv[1] : "direct";
  bool is_known = false;
  auto const if_named = [&]<class S>(S*) {
    if (name != S::name) return;
    is_known = true;
    f.template operator()<S>();
  };
  if_named(static_cast<filch::serial*>(nullptr));
  if_named(static_cast<filch::direct*>(nullptr));
  if_named(static_cast<filch::channel*>(nullptr));
#if FILCH_HAS_CACTUS
  if_named(static_cast<filch::cactus*>(nullptr));
  if_named(static_cast<filch::implicit*>(nullptr));
#endif
  return is_known ? 0 : 2;
}

/// Repeats f for some seconds.
class for_a_while {
 public:
  explicit for_a_while(std::chrono::milliseconds time) : until_(std::chrono::steady_clock::now() + time) {}
  bool goes_on() const { return std::chrono::steady_clock::now() < until_; }

 private:
  std::chrono::steady_clock::time_point until_;
};

template <class S> long fib(long n) {
  if (n < 2) return n;
  auto const [a, b] = filch::join<S>([=] { return fib<S>(n - 1); }, [=] { return fib<S>(n - 2); });
  return a + b;
}

}  // namespace foreign

// A scenario: the part of the small program that runs under this name.
#pragma once

#include <filch/filch.hpp>

#include <atomic>
#include <map>
#include <string>
#include <thread>

namespace filch_test {

using scenario_function = void (*)(int argument);

inline std::map<std::string, scenario_function>& all_scenarios() {
  static std::map<std::string, scenario_function> all;
  return all;
}

struct scenario {
  scenario(char const* name, scenario_function f) { all_scenarios().emplace(name, f); }
};

inline long fib(long n) {
  if (n < 2) return n;
  auto const [a, b] = filch::join([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
  return a + b;
}

/// Joins so that g runs on another worker, while f waits on this one for g to begin.
template <class S = filch::default_scheduler, class F, class G> void join_stolen(F f, G g) {
  std::atomic<bool> begun{false};
  while (!S::wanted()) std::this_thread::yield();
  filch::join<S>(
      [&] {
        while (!begun.load()) std::this_thread::yield();
        f();
      },
      [&] {
        begun.store(true);
        g();
      });
}

}  // namespace filch_test

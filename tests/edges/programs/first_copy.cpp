// A program with a copy of Filch that loads a library with another one: calls into each from the other's tasks, and
// at the same time. Arguments: the library, rounds.
#include "edges/programs/copy.hpp"

#include <dlfcn.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace {

using fib_function = long (*)(int, int);
using stay_function = long (*)(int, long (*)(void*), void*);

/// Tasks of S in this copy that wait for pools of the other one.
template <class S> bool is_right_inside(fib_function other, int others_scheduler) {
  auto const theirs = [=] { return other(others_scheduler, 12); };
  auto const mine = [] { return filch_test::copy_fib<S>(12); };
  auto const both = [=] {
    auto const [a, b] = filch::join<S>(theirs, mine);
    return a + b;
  };
  auto const all = S::default_pool().run([=] { return filch::join<S>(both, both); });
  return all.first == 2 * 144 && all.second == 2 * 144;
}

/// Thieves of this copy request, and interrupt, while a join of the other one is among the frames of a task.
template <class S> bool is_right_below_a_stay(stay_function stay, int others_scheduler) {
  typename S::pool pool({.workers = 2});
  auto const wait = [](void*) {
    auto const end = std::chrono::steady_clock::now() + std::chrono::milliseconds(5);
    while (std::chrono::steady_clock::now() < end) {
    }
    return 1L;
  };
  return pool.run([=] {
    auto const [a, b] = filch::join<S>([=] { return stay(others_scheduler, wait, nullptr); }, [] { return 4L; });
    return a + b == 1 + 2 + 4;
  });
}

}  // namespace

int main(int, char** arguments) {
  void* const library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    std::fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  auto const other = reinterpret_cast<fib_function>(dlsym(library, "second_copy_fib"));
  auto const stay = reinterpret_cast<stay_function>(dlsym(library, "second_copy_stay"));
  bool is_right = true;
  for (int round = std::atoi(arguments[2]); round > 0; --round) {
    for (int mine = 0; filch_test::with_scheduler(mine, []<class S> {}); ++mine) {
      for (int theirs = 0; other(theirs, 1) >= 0; ++theirs) {
        filch_test::with_scheduler(mine, [&]<class S> {
          long beside = 0;
          std::thread caller([&] { beside = other(theirs, 15); });
          is_right = is_right_inside<S>(other, theirs) && is_right;
          caller.join();
          is_right = beside == 610 && is_right;
          is_right = is_right_below_a_stay<S>(stay, theirs) && is_right;
        });
      }
    }
  }
  std::puts(is_right ? "right" : "wrong");
}

// Tasks call into Go, whose runtime has handlers, threads and stacks of its own.
#include "foreign.hpp"

#include <chrono>
#include <cstdint>

extern "C" {
std::int64_t go_fib(std::int64_t n);
std::int64_t go_garbage(std::int64_t n);
void go_start();
}

namespace {

/// Leaves that call Go, and leaves that fork nothing for long, which implicit's thieves interrupt.
template <class S> long tree(int depth) {
  if (depth == 0) return go_fib(10) + go_garbage(8);
  auto const [a, b] = filch::join<S>([=] { return tree<S>(depth - 1); }, [=] { return tree<S>(depth - 1); });
  return a + b;
}

/// A task, deep below, has stack frames of Go's above it in the middle of the walk that looks for its joins.
template <class S> long long_leaves() {
  auto const [a, b] = filch::join<S>([] { return go_fib(27); }, [] { return foreign::fib<S>(15) + go_fib(20); });
  return a + b;
}

}  // namespace

int main(int argc, char** argv) {
  go_start();
  return foreign::with_scheduler(argc, argv, []<class S>() {
    typename S::pool pool({.workers = 3});
    foreign::for_a_while const time(std::chrono::seconds(4));
    while (time.goes_on()) {
      foreign::expect(pool.run([] { return tree<S>(5); }) == 32 * (55 + 28), "a tree whose leaves call Go");
      foreign::expect(pool.run([] { return long_leaves<S>(); }) == 196418 + 610 + 6765, "leaves that are long in Go");
    }
  });
}

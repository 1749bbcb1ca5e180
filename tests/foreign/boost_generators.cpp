// Generators of Boost.Context in tasks: their stacks are the program's own.
#include "foreign.hpp"

#include <boost/context/fiber.hpp>

#include <chrono>
#include <stdexcept>

namespace {

namespace context = boost::context;

/// Yields 0, 1, 2, ..., each with what join gives on the generator's stack.
template <class S> class numbers {
 public:
  numbers()
      : fiber_([this](context::fiber&& caller) {
          for (long i = 0;; ++i) {
            auto const [a, b] = filch::join<S>([=] { return i; }, [=] { return 2 * i; });
            value_ = a + b;
            caller = std::move(caller).resume();
          }
          return std::move(caller);
        }) {}
  long next() {
    fiber_ = std::move(fiber_).resume();
    return value_;
  }

 private:
  long value_ = 0;
  context::fiber fiber_;
};

/// Each leaf has a generator; the fibs between its turns are stolen or not.
template <class S> long tree(int depth) {
  if (depth == 0) {
    numbers<S> n;
    long sum = 0;
    for (int i = 0; i < 10; ++i) sum += n.next() + foreign::fib<S>(5);
    return sum;
  }
  auto const [a, b] = filch::join<S>([=] { return tree<S>(depth - 1); }, [=] { return tree<S>(depth - 1); });
  return a + b;
}

/// Throws in a join on a generator's stack, and catches it there.
template <class S> bool throws_on_its_stack() {
  bool was_caught = false;
  context::fiber f([&](context::fiber&& caller) {
    try {
      filch::join<S>([] { throw std::runtime_error("on the generator's stack"); }, [] {});
    } catch (std::runtime_error const&) {
      was_caught = true;
    }
    return std::move(caller);
  });
  f = std::move(f).resume();
  return was_caught;
}

}  // namespace

int main(int argc, char** argv) {
  return foreign::with_scheduler(argc, argv, []<class S>() {
    typename S::pool pool({.workers = 3});
    foreign::for_a_while const time(std::chrono::seconds(3));
    while (time.goes_on()) {
      foreign::expect(pool.run([] { return tree<S>(6); }) == 64 * (135 + 50), "generators in the leaves of a tree");
      foreign::expect(pool.run([] { return throws_on_its_stack<S>(); }), "an exception on a generator's stack");
    }
  });
}

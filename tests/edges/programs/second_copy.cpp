// A library with a copy of Filch of its own.
#include "edges/programs/copy.hpp"

/// fib(n) in the default pool of this copy's scheduler with that number.
extern "C" [[gnu::visibility("default")]] long second_copy_fib(int scheduler, int n) {
  long result = -1;
  filch_test::with_scheduler(
      scheduler, [&]<class S> { result = S::default_pool().run([n] { return filch_test::copy_fib<S>(n); }); });
  return result;
}

/// call(argument) in a join of this copy that keeps its thread: its frame is on the stack of the caller's task.
extern "C" [[gnu::visibility("default")]] long second_copy_stay(int scheduler, long (*call)(void*), void* argument) {
  long result = -1;
  filch_test::with_scheduler(scheduler, [&]<class S> {
    result = filch::stay([=] {
      auto const [a, b] = filch::join<S>([=] { return call(argument); }, [] { return 2L; });
      return a + b;
    });
  });
  return result;
}

// A library with a copy of Filch of its own.
#include "edges/programs/copy.hpp"

/// fib(n) in the default pool of this copy's scheduler with that number.
extern "C" [[gnu::visibility("default")]] long second_copy_fib(int scheduler, int n) {
  long result = -1;
  filch_test::with_scheduler(
      scheduler, [&]<class S> { result = S::default_pool().run([n] { return filch_test::copy_fib<S>(n); }); });
  return result;
}

// Joins before main begins and after it ends; pools of every lifetime.
#include "programs/scenario.hpp"

#include <cstdio>

namespace {

using filch_test::fib;

struct says_at_the_end {
  char const* what;
  ~says_at_the_end() { std::printf("%s %ld\n", what, fib(15)); }
};

// Made before the default pool, so destroyed after anything that could belong to it.
says_at_the_end const first{"first made, last destroyed:"};
long const before_main = fib(20);
filch::pool pool({.workers = 2});
long const in_pool_before_main = pool.run([] { return fib(19); });
says_at_the_end const last{"last made, first destroyed:"};

struct uses_pool_at_the_end {
  ~uses_pool_at_the_end() {
    std::printf("pool: %ld\n", pool.run([] { return fib(18); }));
  }
} const uses_pool;

}  // namespace

int main() {
  std::printf("%ld %ld %ld\n", before_main, in_pool_before_main, fib(16));
  std::thread([] {
    thread_local says_at_the_end const of_thread{"thread:"};
    static_cast<void>(of_thread.what[0]);
  }).join();
}

// A loop that splits only when a worker waits, a scope with a task for each part, results of several kinds.
//   example-primes [limit]
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filch/filch.hpp>
#include <vector>

static bool is_prime(long n) {
  if (n < 2) return false;
  for (long d = 2; d * d <= n; ++d) {
    if (n % d == 0) return false;
  }
  return true;
}

int main(int argc, char** argv) {
  long const limit = argc > 1 ? std::atol(argv[1]) : 300'000;
  if (limit < 1) {
    std::fputs("example-primes: the limit is a whole number from 1 on\n", stderr);
    return 1;
  }

  // One body for each index, on as many workers as have nothing else to do.
  std::atomic<long> count{0};
  filch::for_index(0L, limit, [&](long n) {
    if (is_prime(n)) count.fetch_add(1, std::memory_order_relaxed);
  });

  // The same in tasks of a scope: any number of spawns, one sync at its end.
  std::vector<long> part(8);
  filch::scope([&](auto& s) {
    for (long k = 0; k < 8; ++k) {
      s.spawn([&part, k, limit] {
        for (long n = k; n < limit; n += 8) part[static_cast<std::size_t>(k)] += is_prime(n);
      });
    }
  });
  long sum = 0;
  for (long p : part) sum += p;

  std::printf("%ld primes below %ld\n", count.load(), limit);
  return sum == count.load() ? 0 : 1;
}

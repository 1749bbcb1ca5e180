// The smallest Filch program: every call forks, and there is no cut-off.
//   example-fib [n]
#include <cstdio>
#include <cstdlib>
#include <filch/filch.hpp>

static long fib(long n) {
  if (n < 2) return n;
  auto [a, b] = filch::join([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
  return a + b;
}

int main(int argc, char** argv) {
  long const n = argc > 1 ? std::atol(argv[1]) : 30;
  if (n < 1 || n > 90) {
    std::fputs("example-fib: n is a whole number from 1 to 90\n", stderr);
    return 1;
  }
  std::printf("fib(%ld) = %ld\n", n, fib(n));
}

// A sort that forks down to the last element: small uneven pieces, no grain size.
//   example-quicksort [number of elements]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filch/filch.hpp>
#include <random>
#include <span>
#include <vector>

static void quicksort(std::span<int> v) {
  if (v.size() < 2) return;
  int const pivot = v[v.size() / 2];
  auto const less = std::partition(v.begin(), v.end(), [=](int x) { return x < pivot; });
  auto const equal = std::partition(less, v.end(), [=](int x) { return x == pivot; });
  filch::join([=] { quicksort({v.begin(), less}); }, [=] { quicksort({equal, v.end()}); });
}

int main(int argc, char** argv) {
  long const n = argc > 1 ? std::atol(argv[1]) : 1'000'000;
  if (n < 1 || n > 1'000'000'000) {
    std::fputs("example-quicksort: the number of elements is from 1 to 1000000000\n", stderr);
    return 1;
  }
  std::vector<int> v(static_cast<std::size_t>(n));
  std::mt19937 random(1);
  for (int& x : v) x = static_cast<int>(random());

  filch::pool workers;  // as many as there are processors; a join outside any pool would make one too
  workers.run([&] { quicksort(v); });

  bool const sorted = std::is_sorted(v.begin(), v.end());
  std::printf("%ld elements on %u workers: %s\n", n, workers.workers(), sorted ? "sorted" : "NOT SORTED");
  return sorted ? 0 : 1;
}

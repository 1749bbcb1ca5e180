// The shortest tour of some cities, by branch and bound on all ranks. A rank that finds a shorter tour raises a
// bound, which the others see soon.
//   mpirun -n 4 example-cluster_tour [cities, from 2 to 16]
#include <cstdio>
#include <cstdlib>
#include <filch/cluster.hpp>
#include <filch/mpi_transport.hpp>

constexpr int k_most = 16;

// The same on all ranks: the cities lie on a fixed set of points.
static int distance(int a, int b) {
  auto const x = [](int city) { return city * 7919 % 101; };
  auto const y = [](int city) { return city * 104729 % 97; };
  return std::abs(x(a) - x(b)) + std::abs(y(a) - y(b));
}

struct tour {
  int cities, length;
  unsigned visited;
  int last;
};

// A bound rises, a tour should get shorter: it holds the negative length.
static void extend(filch::rank& here, filch::bound best, tour t) {
  if (-t.length <= here.value(best)) return;
  if (t.visited == (1u << t.cities) - 1) {
    here.raise(best, -(t.length + distance(t.last, 0)));
    return;
  }
  for (int next = 1; next < t.cities; ++next) {
    unsigned const bit = 1u << next;
    if (t.visited & bit) continue;
    here.spawn<&extend>(best, tour{t.cities, t.length + distance(t.last, next), t.visited | bit, next});
  }
}

int main(int argc, char** argv) {
  int const cities = argc > 1 ? std::atoi(argv[1]) : 10;
  filch::mpi_transport mpi;
  if (cities < 2 || cities > k_most) {
    if (mpi.rank() == 0) std::fputs("example-cluster_tour: the number of cities is from 2 to 16\n", stderr);
    return 1;
  }
  filch::cluster<> ranks(mpi);
  filch::bound const best = ranks.make_bound(-1'000'000);
  ranks.run<&extend>(best, tour{cities, 0, 1, 0});
  if (ranks.rank() == 0) std::printf("%d cities: a tour of %ld\n", cities, -static_cast<long>(ranks.value(best)));
}

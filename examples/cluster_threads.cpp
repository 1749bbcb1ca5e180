// Counts the nodes of a tree on ranks that are threads of this process: a cluster without MPI.
//   example-cluster_threads [ranks]
#include <cstdio>
#include <cstdlib>
#include <filch/cluster.hpp>
#include <filch/thread_transport.hpp>
#include <thread>
#include <vector>

static long count(filch::rank& here, int depth) {
  for (int i = 0; i < depth; ++i) here.spawn<&count>(i);
  return 1;
}

int main(int argc, char** argv) {
  constexpr int k_depth = 16;
  int const asked = argc > 1 ? std::atoi(argv[1]) : 2;
  if (asked < 1 || asked > 100) {
    std::fputs("example-cluster_threads: the number of ranks is from 1 to 100\n", stderr);
    return 1;
  }
  filch::thread_network network(asked);
  bool all_right = true;
  auto const program = [&](int rank) {
    filch::thread_transport threads(network, rank);
    filch::cluster<> ranks(threads);
    long const nodes = ranks.fold<&count>(std::plus<>(), k_depth);
    if (rank != 0) return;
    std::printf("%ld nodes, counted by %d ranks\n", nodes, ranks.ranks());
    all_right = nodes == 1L << k_depth;
  };
  std::vector<std::thread> others;
  for (int rank = 1; rank < network.ranks(); ++rank) others.emplace_back(program, rank);
  program(0);
  for (auto& t : others) t.join();
  return all_right ? 0 : 1;
}

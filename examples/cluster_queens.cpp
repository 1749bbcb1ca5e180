// Counts the ways to put n queens on a board, on all ranks: the first rows are tasks that may go to another process,
// the rest of a board is joins that its rank's workers share.
//   mpirun -n 4 example-cluster_queens [n, from 4 to 20]
#include <cstdio>
#include <cstdlib>
#include <filch/cluster.hpp>
#include <filch/filch.hpp>
#include <filch/mpi_transport.hpp>

struct board {
  int rows;  // left to fill
  unsigned all, columns, left, right;
  unsigned free() const { return all & ~(columns | left | right); }
  board with(unsigned queen) const {
    return {rows - 1, all, columns | queen, (left | queen) << 1, (right | queen) >> 1};
  }
};

// The number of solutions with the next queen in a column of `free`.
static long solutions(board b, unsigned free) {
  if (b.rows == 0) return 1;
  if (free == 0) return 0;
  unsigned const queen = free & -free;
  board const next = b.with(queen);
  auto [with, without] = filch::join([=] { return solutions(next, next.free()); },
                                     [=] { return free == queen ? 0 : solutions(b, free & (free - 1)); });
  return with + without;
}

static long place_queens(filch::rank& here, board b, int rows_of_tasks) {
  if (rows_of_tasks == 0) return solutions(b, b.free());
  for (unsigned free = b.free(); free != 0; free &= free - 1) {
    here.spawn<&place_queens>(b.with(free & -free), rows_of_tasks - 1);
  }
  return 0;
}

int main(int argc, char** argv) {
  int const n = argc > 1 ? std::atoi(argv[1]) : 11;
  filch::mpi_transport mpi;
  if (n < 4 || n > 20) {
    if (mpi.rank() == 0) std::fputs("example-cluster_queens: n is a whole number from 4 to 20\n", stderr);
    return 1;
  }
  filch::cluster<> ranks(mpi);
  long const count = ranks.fold<&place_queens>(std::plus<>(), board{n, (1u << n) - 1, 0, 0, 0}, 3);
  if (ranks.rank() == 0) std::printf("%d queens: %ld ways, counted by %d ranks\n", n, count, ranks.ranks());
}

// The program that the tests start with mpirun.
//   mpi_program trees SEED RUNS       exit code 0 if all ranks counted right
//   mpi_program clusters SEED TIMES   exit code 0 if all of so many clusters, one after the other, counted right
//   mpi_program again                 exit code 0 if a transport after the end of MPI is refused
//   mpi_program EARLY RANK            an exception that leaves one rank, before its cluster
//   mpi_program THROW RANK            an exception that leaves one rank, in the middle of a run
//   mpi_program ALONE RANK            an exception that leaves one rank, while others wait for it in a reduction
//   mpi_program LEAVES RANK           that rank ends its cluster, while others wait for it in a run
//   mpi_program LONG RANK             that rank sends a message that is too long for MPI
//   mpi_program LATE RANK             that rank stops before its cluster
//   mpi_program FAREWELL RANK         that rank stops before its farewell, the last message
//   mpi_program SIGNAL RANK           a tree without end; a task on that rank gets that signal (KILL, STOP)
#include "network.hpp"

#include <filch/mpi_transport.hpp>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>

namespace filch_test {
namespace {

bool count_trees(filch::cluster<>& ranks, std::uint64_t seed, std::uint64_t runs) {
  bool all_right = true;
  for (std::uint64_t i = 0; i < runs; ++i) {
    tree_node const root{mix(seed + i), 8};
    long const found = ranks.fold<&count_nodes>(std::plus<>(), root);
    if (found == root.nodes()) continue;
    all_right = false;
    std::fprintf(stderr, "rank %d, seed %llu: %ld nodes of %ld\n", ranks.rank(),
                 static_cast<unsigned long long>(seed + i), found, root.nodes());
  }
  return all_right;
}

void endless(filch::rank& here, int signal, int at_rank) {
  if (signal != 0 && here.index() == at_rank) std::raise(signal);
  here.spawn<&endless>(signal, at_rank);
  here.spawn<&endless>(signal, at_rank);
  auto const until = std::chrono::steady_clock::now() + std::chrono::milliseconds(1);
  while (std::chrono::steady_clock::now() < until) {
  }
}

/// The transport over MPI, on a rank that stops at its last message.
class stopping_transport {
 public:
  explicit stopping_transport(filch::mpi_transport& mpi) : mpi_(mpi) {}
  void begin_cluster() noexcept { mpi_.begin_cluster(); }
  int rank() const noexcept { return mpi_.rank(); }
  int ranks() const noexcept { return mpi_.ranks(); }
  void send(int to, filch::message m) {
    // If the last message changes one day, no rank stops, and the test fails.
    constexpr std::byte k_farewell{10};
    if (m.at(0) == k_farewell) std::raise(SIGSTOP);
    mpi_.send(to, std::move(m));
  }
  std::optional<filch::message> receive() { return mpi_.receive(); }
  void end_all(std::string_view text) { mpi_.end_all(text); }

 private:
  filch::mpi_transport& mpi_;
};

bool refuses_another_transport() {
  {
    filch::mpi_transport const mpi;
  }
  try {
    filch::mpi_transport const mpi;
    return false;
  } catch (filch::setup_error const&) {
    return true;
  }
}

int main_of(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "again") == 0) return refuses_another_transport() ? 0 : 1;
  filch::mpi_transport mpi;
  if (argc == 3 && std::strcmp(argv[1], "FAREWELL") == 0 && mpi.rank() == std::atoi(argv[2])) {
    stopping_transport stopping(mpi);
    filch::cluster<> const ranks(stopping, {.workers = 1});
    return 0;
  }
  if (argc == 3 && std::strcmp(argv[1], "LONG") == 0 && mpi.rank() == std::atoi(argv[2])) {
    filch::message long_one(std::size_t{1} << 31);  // the system may need many seconds for its pages
    std::fprintf(stderr, "sends\n");
    mpi.send(mpi.rank(), std::move(long_one));
    return 3;
  }
  if (argc == 3 && std::strcmp(argv[1], "EARLY") == 0 && mpi.rank() == std::atoi(argv[2])) {
    throw std::runtime_error("thrown");
  }
  if (argc == 4 && std::strcmp(argv[1], "clusters") == 0) {
    auto const seed = std::strtoull(argv[2], nullptr, 0);
    bool all_right = true;
    for (auto i = std::strtoull(argv[3], nullptr, 0); i > 0; --i) {
      filch::cluster<> ranks(mpi, {.workers = 1});
      all_right = count_trees(ranks, seed + i, 1) && all_right;
    }
    return all_right ? 0 : 1;
  }
  bool const is_late = argc == 3 && std::strcmp(argv[1], "LATE") == 0;
  if (is_late && mpi.rank() == std::atoi(argv[2])) std::raise(SIGSTOP);
  filch::cluster<> ranks(mpi, {.workers = 1, .arrival = is_late ? 6u : 60u});
  if (argc == 4 && std::strcmp(argv[1], "trees") == 0) {
    return count_trees(ranks, std::strtoull(argv[2], nullptr, 0), std::strtoull(argv[3], nullptr, 0)) ? 0 : 1;
  }
  if (argc != 3) return 2;
  if (std::strcmp(argv[1], "FAREWELL") == 0) return 0;
  if (std::strcmp(argv[1], "THROW") == 0 && ranks.rank() == std::atoi(argv[2])) throw std::runtime_error("thrown");
  if (std::strcmp(argv[1], "LEAVES") == 0 && ranks.rank() == std::atoi(argv[2])) return 3;
  if (std::strcmp(argv[1], "ALONE") == 0) {
    if (ranks.rank() == std::atoi(argv[2])) throw std::runtime_error("thrown");
    for (long all = ranks.ranks(); all == ranks.ranks();) all = ranks.reduce(std::plus<>(), 1L);
    return 3;
  }
  int const signal = std::strcmp(argv[1], "KILL") == 0 ? SIGKILL : std::strcmp(argv[1], "STOP") == 0 ? SIGSTOP : 0;
  ranks.run<&endless>(signal, std::atoi(argv[2]));
  return 3;
}

}  // namespace
}  // namespace filch_test

int main(int argc, char** argv) {
  try {
    return filch_test::main_of(argc, argv);
  } catch (std::runtime_error const&) {
    return 4;
  }
}

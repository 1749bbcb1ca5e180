//   mpi_overlap
//     Two clusters at once, with a transport each; the one that began MPI ends first. Exit code 0 if no two threads
//     were in MPI at the same time, which MPI_THREAD_SERIALIZED does not allow.
//   mpi_overlap unreachable
//     A message without a receiver ends the program with a line of ours, though the program lets MPI continue after
//     errors.
//   mpi_overlap unthreaded
//     Exit code 0 if a transport says that it is MPI which offers too little.
#include "network.hpp"

#include <atomic>
#include <cstring>
#include <filch/mpi_transport.hpp>
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

namespace {

std::atomic<int> callers{0};
std::atomic<bool> overlap{false};

struct call {
  call() {
    if (callers.fetch_add(1) != 0) overlap = true;
  }
  call(call const&) = delete;
  call& operator=(call const&) = delete;
  ~call() { callers.fetch_sub(1); }
};

}  // namespace

namespace {
bool has_no_threads = false;  // MPI offers less than MPI_THREAD_SERIALIZED
}  // namespace

// In front of MPI's own, as its profiling interface says.
extern "C" {
int MPI_Init_thread(int* count, char*** arguments, int wanted, int* provided) {
  int const result = PMPI_Init_thread(count, arguments, wanted, provided);
  if (has_no_threads) *provided = MPI_THREAD_FUNNELED;
  return result;
}
int MPI_Isend(void const* from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
  call const c;
  return PMPI_Isend(from, count, type, to, tag, comm, request);
}
int MPI_Improbe(int from, int tag, MPI_Comm comm, int* flag, MPI_Message* found, MPI_Status* status) {
  call const c;
  return PMPI_Improbe(from, tag, comm, flag, found, status);
}
int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  call const c;
  return PMPI_Test(request, flag, status);
}
}

namespace filch_test {
namespace {

bool count_trees(filch::mpi_transport& mpi, std::uint64_t seed) {
  filch::cluster<> ranks(mpi, {.workers = 1});
  bool all_right = true;
  for (std::uint64_t i = 0; i < 200; ++i) {
    tree_node const root{mix(seed + i), 8};
    if (ranks.fold<&count_nodes>(std::plus<>(), root) != root.nodes()) all_right = false;
  }
  return all_right;
}

int send_to_nobody() {
  int level = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  filch::mpi_transport mpi;
  mpi.send(77, filch::message(1));
  return 0;
}

int begin_without_threads() {
  has_no_threads = true;
  try {
    filch::mpi_transport const mpi;
    return 1;
  } catch (filch::setup_error const& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return std::strstr(e.what(), "this MPI has no MPI_THREAD_SERIALIZED") ? 0 : 1;
  }
}

int main_of() {
  auto first = std::make_unique<filch::mpi_transport>();
  auto& one = *first;
  filch::mpi_transport two;
  bool one_is_right = false;
  std::thread other([&] { one_is_right = count_trees(one, 1000); });
  bool const two_is_right = count_trees(two, 2000);
  other.join();
  first.reset();
  if (overlap) std::fprintf(stderr, "two threads were in MPI at the same time\n");
  return one_is_right && two_is_right && !overlap ? 0 : 1;
}

}  // namespace
}  // namespace filch_test

int main(int argc, char** argv) {
  if (argc == 1) return filch_test::main_of();
  bool const is_unthreaded = std::strcmp(argv[1], "unthreaded") == 0;
  return is_unthreaded ? filch_test::begin_without_threads() : filch_test::send_to_nobody();
}

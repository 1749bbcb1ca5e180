// The transport over MPI. Only the calls that begin and end MPI wait for other ranks. Called by endpoints. Protocol:
// protocol.md, "Transport".
#include "cluster/patient_wait.hpp"
#include "cluster/process.hpp"
#include "runtime/fnv1a.hpp"

#include <pthread.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <deque>
#include <exception>
#include <filch/detail/cluster_rank_worker.hpp>
#include <filch/mpi_transport.hpp>
#include <limits>
#include <mutex>
#include <string>
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

namespace filch::inline FILCH_ABI {
namespace {

// Tags that every MPI has.
constexpr int k_tags = 32768;
// How long a rank that an exception ends waits for the others to end their transports.
constexpr std::chrono::seconds k_patience{5};
// How long MPI_Abort may take.
constexpr unsigned k_seconds_to_abort = 2;

// Transports of one process call the same MPI, which takes one call at a time (MPI_THREAD_SERIALIZED).
std::mutex one_at_a_time;
// Under it: the first transport begins MPI, if the program has not, and the last one ends it.
int transports = 0;
bool began_mpi = false;

/// A message that is being sent or received. Its bytes stay where they are.
struct in_flight {
  message bytes;
  MPI_Request request = MPI_REQUEST_NULL;

  bool done() {
    int is_done = 0;
    MPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
    return is_done != 0;
  }
};

/// Counts one transport more. Begins MPI if the program has not.
void enter_mpi() {
  std::lock_guard const lock(one_at_a_time);
  int is_initialised = 0;
  int has_ended = 0;
  MPI_Initialized(&is_initialised);
  MPI_Finalized(&has_ended);
  if (has_ended) throw setup_error("filch: MPI has ended in this process, and can't begin again");
  int level = 0;
  if (is_initialised) {
    MPI_Query_thread(&level);
  } else {
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level);
  }
  if (level < MPI_THREAD_SERIALIZED) {
    if (!is_initialised) MPI_Finalize();
    throw setup_error(is_initialised
                          ? "filch: the program initialised MPI below MPI_THREAD_SERIALIZED: use MPI_Init_thread"
                          : "filch: this MPI has no MPI_THREAD_SERIALIZED");
  }
  began_mpi = began_mpi || !is_initialised;
  ++transports;
}

/// Processors of this process, divided among the ranks of this host that may use the same ones.
unsigned own_processors(MPI_Comm all) {
  std::vector<int> const processors = os::allowed_processors();
  std::uint64_t const mine = runtime::fnv1a(
      {reinterpret_cast<char const*>(processors.data()), processors.size() * sizeof(processors.front())});
  MPI_Comm host = MPI_COMM_NULL;
  MPI_Comm_split_type(all, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  int ranks = 0;
  MPI_Comm_size(host, &ranks);
  std::vector<std::uint64_t> masks(static_cast<std::size_t>(ranks));
  MPI_Allgather(&mine, sizeof mine, MPI_BYTE, masks.data(), sizeof mine, MPI_BYTE, host);
  MPI_Comm_free(&host);
  return detail::workers_of_each(processors, static_cast<std::size_t>(std::count(masks.begin(), masks.end(), mine)));
}

/// Ends all ranks of the communicator.
void end_all_of(MPI_Comm all, std::string_view text) {
  int rank = 0;
  MPI_Comm_rank(all, &rank);
  detail::say_that_all_end(rank, text);
  // MPI_Abort of MPICH 4.0 may wait for ever for a rank that is stopped. Then a signal ends this process, and the
  // launcher ends the others.
  std::signal(SIGALRM, SIG_DFL);
  sigset_t alarms;
  sigemptyset(&alarms);
  sigaddset(&alarms, SIGALRM);
  pthread_sigmask(SIG_UNBLOCK, &alarms, nullptr);
  alarm(k_seconds_to_abort);
  MPI_Abort(all, 1);
}

/// MPI calls this at an error, under the locks of the call; no code reads what MPI's calls return. It prints a line
/// of its own: with MPI_ERRORS_ARE_FATAL Open MPI 4.1's launcher loses MPI's text in one of five runs on a busy host.
void end_all_at_error(MPI_Comm* all, int* code, ...) {
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(*code, text.data(), &length);
  end_all_of(*all, "MPI: " + std::string(text.data(), static_cast<std::size_t>(length)));
}

/// A communicator of all ranks, for this transport's messages.
MPI_Comm own_communicator() {
  MPI_Comm all = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &all);
  // Independent of the handlers of the program's own communicators.
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_create_errhandler(&end_all_at_error, &handler);
  MPI_Comm_set_errhandler(all, handler);
  MPI_Errhandler_free(&handler);
  return all;
}

}  // namespace

struct mpi_transport::parts {
  /// Waits until all ranks come here.
  void meet();
  void forget_sent() {
    while (!sends.empty() && sends.front().done()) sends.pop_front();
  }
  void end_all(std::string_view text) const { end_all_of(all, text); }

  int const exceptions = std::uncaught_exceptions();
  MPI_Comm all = MPI_COMM_NULL;
  int rank = 0;
  int ranks = 0;
  unsigned workers = 1;
  int tag = 0;  // the cluster's; messages of the next one wait in MPI until it begins here
  // A deque: MPI has pointers to the messages and their bytes.
  std::deque<in_flight> sends;
  std::deque<in_flight> receives;
};

mpi_transport::mpi_transport() : parts_(std::make_unique<parts>()) {
  enter_mpi();
  // Collective, so without the mutex: other ranks may be in a cluster of another transport, which waits for this rank
  // there.
  parts_->all = own_communicator();
  MPI_Comm_rank(parts_->all, &parts_->rank);
  MPI_Comm_size(parts_->all, &parts_->ranks);
  parts_->workers = own_processors(parts_->all);
}

void mpi_transport::parts::meet() {
  MPI_Request barrier = MPI_REQUEST_NULL;
  {
    std::lock_guard const lock(one_at_a_time);
    MPI_Ibarrier(all, &barrier);
  }
  bool const is_thrown = std::uncaught_exceptions() > exceptions;
  detail::patient_wait wait(is_thrown ? k_patience : std::chrono::seconds(0));
  for (detail::idle_pause pause;; pause.wait()) {
    std::lock_guard const lock(one_at_a_time);
    int is_done = 0;
    MPI_Test(&barrier, &is_done, MPI_STATUS_IGNORE);
    if (is_done) return;
    if (wait.is_over()) end_all("an exception leaves this rank, and not the others");
  }
}

mpi_transport::~mpi_transport() {
  // MPI_Finalize would wait for ever if an exception leaves this rank and the others make a cluster.
  parts_->meet();
  std::lock_guard const lock(one_at_a_time);
  // At the end of a cluster all messages have been received.
  for (in_flight& m : parts_->sends) MPI_Wait(&m.request, MPI_STATUS_IGNORE);
  MPI_Comm_free(&parts_->all);
  if (--transports == 0 && std::exchange(began_mpi, false)) MPI_Finalize();
}

void mpi_transport::begin_cluster() noexcept { parts_->tag = (parts_->tag + 1) % k_tags; }
int mpi_transport::rank() const noexcept { return parts_->rank; }
int mpi_transport::ranks() const noexcept { return parts_->ranks; }
unsigned mpi_transport::workers() const noexcept { return parts_->workers; }

void mpi_transport::send(int to, message m) {
  if (m.size() > std::numeric_limits<int>::max()) {
    end_all("a message of " + std::to_string(m.size()) + " bytes, where MPI takes less than 2 GiB");
    return;
  }
  std::lock_guard const lock(one_at_a_time);
  in_flight& here = parts_->sends.emplace_back(in_flight{std::move(m)});
  MPI_Isend(here.bytes.data(), static_cast<int>(here.bytes.size()), MPI_BYTE, to, parts_->tag, parts_->all,
            &here.request);
}

void mpi_transport::end_cluster() {
  detail::patient_wait wait(k_patience);
  for (detail::idle_pause pause;; pause.wait()) {
    std::lock_guard const lock(one_at_a_time);
    parts_->forget_sent();
    if (parts_->sends.empty() || wait.is_over()) return;
  }
}

std::optional<message> mpi_transport::receive() {
  std::lock_guard const lock(one_at_a_time);
  parts_->forget_sent();
  int is_there = 0;
  MPI_Message found = MPI_MESSAGE_NULL;
  MPI_Status status;
  MPI_Improbe(MPI_ANY_SOURCE, parts_->tag, parts_->all, &is_there, &found, &status);
  if (is_there) {
    int size = 0;
    MPI_Get_count(&status, MPI_BYTE, &size);
    in_flight& here = parts_->receives.emplace_back(in_flight{message(static_cast<std::size_t>(size))});
    MPI_Imrecv(here.bytes.data(), size, MPI_BYTE, &found, &here.request);
  }
  // Shorter messages overtake long ones.
  auto const done =
      std::find_if(parts_->receives.begin(), parts_->receives.end(), [](in_flight& m) { return m.done(); });
  if (done == parts_->receives.end()) return std::nullopt;
  message bytes = std::move(done->bytes);
  parts_->receives.erase(done);
  return bytes;
}

void mpi_transport::end_all(std::string_view text) {
  std::lock_guard const lock(one_at_a_time);
  parts_->end_all(text);
}

}  // namespace filch::inline FILCH_ABI

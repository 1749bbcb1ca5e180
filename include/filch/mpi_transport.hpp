// The transport over MPI. See src/cluster/mpi.cpp.
#pragma once

#include <filch/pool_options.hpp>
#include <filch/transport.hpp>

#include <memory>

namespace filch::inline FILCH_ABI {

/// The processes that mpirun started. Has a communicator of its own, so programs may use MPI too. Serves any number
/// of clusters, one after the other. An MPI error in one of its calls ends all ranks, with MPI's text in a line on
/// stderr, whatever error handler the program's own communicators have.
class FILCH_API mpi_transport {
 public:
  /// Initialises MPI if the program has not. Throws setup_error if the program initialised MPI with less than
  /// MPI_THREAD_SERIALIZED, MPI offers less, or it has ended. Without mpirun there is one rank. Collective. With less
  /// than MPI_THREAD_MULTIPLE, no cluster of another transport may exist.
  mpi_transport();
  mpi_transport(mpi_transport const&) = delete;
  mpi_transport& operator=(mpi_transport const&) = delete;
  /// Waits for all ranks to come here. If an exception brings this rank here, and the others do not come within five
  /// seconds, it ends them. The last transport of a process ends MPI, if one of them initialised it.
  ~mpi_transport();

  /// See filch::transport.
  void begin_cluster() noexcept;
  /// Waits until MPI has sent what it was given, for five seconds at most: some MPIs send only inside of calls, and
  /// the next rank waits for this one's last message.
  void end_cluster();
  /// See filch::transport.
  int rank() const noexcept;
  /// See filch::transport.
  int ranks() const noexcept;
  /// Ends all ranks if the message has 2 GiB or more. Throws std::bad_alloc.
  void send(int to, message m);
  /// See filch::transport. Throws std::bad_alloc.
  std::optional<message> receive();
  /// Prints a line on stderr and calls MPI_Abort.
  void end_all(std::string_view text);

  /// The number of processors in the process's affinity mask, or its container's quota, divided by the number of
  /// ranks on this host with the same mask; at least 1. For a rank alone with its mask 0: as in pool_options.
  unsigned workers() const noexcept;

 private:
  struct parts;
  std::unique_ptr<parts> parts_;
};

static_assert(transport<mpi_transport>);

}  // namespace filch::inline FILCH_ABI

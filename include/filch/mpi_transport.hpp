// Messages between ranks over MPI.
#pragma once

#include <filch/pool_options.hpp>
#include <filch/transport.hpp>

#include <memory>

namespace filch::inline FILCH_ABI {

/// The processes that mpirun started. Makes a communicator of its own, so programs may use MPI beside it. Serves
/// any number of clusters, one after the other. An error in one of its calls of MPI ends all ranks, with MPI's text
/// of it in a line on stderr, whatever the program's own communicators do about errors.
class FILCH_API mpi_transport {
 public:
  /// Initialises MPI where that was not done. Throws setup_error where MPI lets only one thread call it: who
  /// initialises MPI must ask for MPI_THREAD_SERIALIZED; and where MPI has ended. Without mpirun there is one rank.
  /// Collective, and not while a cluster of another transport exists, unless MPI has MPI_THREAD_MULTIPLE.
  mpi_transport();
  mpi_transport(mpi_transport const&) = delete;
  mpi_transport& operator=(mpi_transport const&) = delete;
  /// The last of a process ends MPI, if one of them began it. Waits for all ranks to come here. If an exception
  /// brings this one here, and not the others within five seconds, it ends them.
  ~mpi_transport();

  /// See filch::transport.
  void begin_cluster() noexcept;
  /// See filch::transport.
  int rank() const noexcept;
  /// See filch::transport.
  int ranks() const noexcept;
  /// Ends all ranks where the message is of 2 GiB or more.
  void send(int to, message m);
  /// See filch::transport. Throws std::bad_alloc.
  std::optional<message> receive();
  /// A line on stderr, then MPI_Abort.
  void end_all(std::string_view text);

  /// Processors of this process that are its own: its affinity mask's, divided by the number of ranks that have the
  /// same one on this host; at least 1.
  unsigned workers() const noexcept;

 private:
  struct parts;
  std::unique_ptr<parts> parts_;
};

static_assert(transport<mpi_transport>);

}  // namespace filch::inline FILCH_ABI

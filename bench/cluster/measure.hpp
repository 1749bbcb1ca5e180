// filch-bench --scheduler cluster: mpirun starts it.
#pragma once

#include <filch/mpi_transport.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

struct cluster_request {
  std::vector<std::string> workloads;  // NAME, NAME=SIZE, or all
  unsigned workers = 0;                // workers of each rank; 0: its processors
  unsigned pairs = 15;
  bool as_json = false;
};

/// Collective. Only rank 0 prints, errors too. Returns the exit code. Errors before there is a cluster (unknown
/// workloads, bad sizes, settings of the pool) are thrown on all ranks.
int measure_cluster(filch::mpi_transport& mpi, cluster_request const& request);
bool is_cluster_workload(std::string_view name);
/// Lines for --list.
void list_cluster_workloads();

}  // namespace bench

// Whether a launcher, mpirun or srun, has started several processes of this program.
#pragma once

#include <cstdlib>
#include <utility>

namespace bench {

struct launch {
  int processes = 1;
  int rank = 0;
};

/// The launchers of Open MPI, MPICH and Slurm set variables; no MPI library is needed.
inline launch launched() {
  // Not SLURM_NTASKS: a batch script that starts one program has it, too.
  constexpr std::pair<char const*, char const*> k_said[] = {{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
                                                            {"PMI_SIZE", "PMI_RANK"},
                                                            {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID"}};
  for (auto const& [size, rank] : k_said) {
    char const* const n = std::getenv(size);
    char const* const r = std::getenv(rank);
    if (n && r) return {std::atoi(n), std::atoi(r)};
  }
  return {};
}

}  // namespace bench

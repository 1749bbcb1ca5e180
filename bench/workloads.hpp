// All workloads, and the list of them that the command line and the schedulers share.
#pragma once

#if !defined(__OPTIMIZE__)
#error "what includes this is timed, the baselines too: compile it with optimisation"
#endif

#include "workloads/bpc.hpp"
#include "workloads/branchbound.hpp"
#include "workloads/cholesky.hpp"
#include "workloads/cilksort.hpp"
#include "workloads/fft.hpp"
#include "workloads/fib.hpp"
#include "workloads/groups.hpp"
#include "workloads/heat.hpp"
#include "workloads/integrate.hpp"
#include "workloads/jacobi.hpp"
#include "workloads/knapsack.hpp"
#include "workloads/lu.hpp"
#include "workloads/matrix.hpp"
#include "workloads/mm.hpp"
#include "workloads/nqueens.hpp"
#include "workloads/quicksort.hpp"
#include "workloads/rectmul.hpp"
#include "workloads/rounds.hpp"
#include "workloads/rows.hpp"
#include "workloads/saxpy.hpp"
#include "workloads/server.hpp"
#include "workloads/skynet.hpp"
#include "workloads/sparselu.hpp"
#include "workloads/spc.hpp"
#include "workloads/ssf.hpp"
#include "workloads/stress.hpp"
#include "workloads/treerec.hpp"
#include "workloads/treesum.hpp"
#include "workloads/uts.hpp"

namespace bench {

template <class... W> struct workload_list {
  template <class Visit> static void for_each(Visit visit) { (visit.template operator()<W>(), ...); }
};

using all_workloads =
    workload_list<fib, fib_refs, integrate, nqueens, nqueens_array, uts, cilksort, matmul, strassen, stress, skynet,
                  treesum, knapsack, quicksort, sparselu, spc, bpc, treerec, rounds, rows, saxpy, server, branchbound,
                  jacobi, lu, heat, cholesky, fft, rectmul, mm, ssf, groups>;

}  // namespace bench

// Parlay (github.com/cmuparlay/parlaylib) on Filch, without a change to Parlay: include this header before Parlay's
// in every source file (-include filch/parlay.hpp), without any of Parlay's scheduler options. docs/std_par.md.
#pragma once

#if defined(PARLAY_PARALLEL_H_)
#error "filch/parlay.hpp must come before Parlay's headers: -include filch/parlay.hpp"
#elif defined(PARLAY_CILKPLUS) || defined(PARLAY_OPENCILK) || defined(PARLAY_OPENMP) || defined(PARLAY_TBB) || \
    defined(PARLAY_SEQUENTIAL)
#error "filch/parlay.hpp is a scheduler of Parlay: turn the one off that PARLAY_... names"
#endif

#include <filch/detail/parlay_calls.hpp>

// Parlay declares its functions, and leaves their definitions to a header for oneTBB, which is empty now.
#define PARLAY_TBB
#define PARLAY_INTERNAL_SCHEDULER_PLUGINS_TBB_H_
#include <parlay/parallel.h>

// One of Filch's schedulers, as in filch::implicit.
#if !defined(FILCH_PARLAY_SCHEDULER)
#define FILCH_PARLAY_SCHEDULER filch::default_scheduler
#endif

namespace parlay {
namespace internal {
using filch_calls = filch::detail::parlay_calls<FILCH_PARLAY_SCHEDULER>;

#if __has_include(<parlay/thread_specific.h>)
// Parlay's own algorithms are in this namespace, so they find this function in place of parlay::num_workers(). They
// choose the number of their blocks by it. Arrays with a place for each worker are made outside, but in releases
// before that header.
inline size_t num_workers() { return filch_calls::workers(); }
#endif
}  // namespace internal

/// More than any worker_id(): the places of the default pool, which the first call makes. A function call.
inline size_t num_workers() { return internal::filch_calls::num_workers(); }

/// The index of the calling worker, 0 outside all pools. May differ before and after a fork where the scheduler moves
/// code. In a pool with more places than the default one it may end the process. A load or two.
inline size_t worker_id() { return internal::filch_calls::worker_id(); }

/// Calls f(i) for each i of [start, end), as filch::for_index does: exceptions, pool, thread, cost. `granularity`: so
/// many neighbouring iterations run one after the other; below 1 their costs decide. `conservative`: see par_do.
template <typename F> inline void parallel_for(size_t start, size_t end, F&& f, long granularity, bool conservative) {
  static_assert(std::is_invocable_v<F&, size_t>);
  internal::filch_calls::parallel_for(start, end, f, granularity, conservative);
}

/// Calls both, as filch::join does: exceptions, thread, cost. `conservative`: the caller may hold a lock that other
/// tasks take; while it waits, no other task begins there. A scheduler that moves code then runs them in order.
template <typename Lf, typename Rf> inline void par_do(Lf&& left, Rf&& right, bool conservative) {
  static_assert(std::is_invocable_v<Lf&&>);
  static_assert(std::is_invocable_v<Rf&&>);
  internal::filch_calls::par_do(std::forward<Lf>(left), std::forward<Rf>(right), conservative);
}

/// Does not compile: it needs Parlay's own scheduler.
template <typename... Fs> void execute_with_scheduler(Fs...) {
  static_assert(sizeof...(Fs) == ~size_t{0}, "parlay::execute_with_scheduler needs Parlay's own scheduler");
}

}  // namespace parlay

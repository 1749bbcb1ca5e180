// The functions that Parlay needs of a scheduler. <filch/parlay.hpp> gives them the names of Parlay.
#pragma once

#include <filch/for_index.hpp>
#include <filch/join.hpp>
#include <filch/stay.hpp>
#include <filch/worker.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <type_traits>
#include <utility>

namespace filch::inline FILCH_ABI::detail {

/// A worker's index is at least the number of workers: this code runs in a pool that is larger than the default one.
[[noreturn]] FILCH_COLD inline void not_parlay_s_pool() noexcept {
  std::fputs("filch: Parlay's functions were called in a pool with more places than the default pool\n", stderr);
  std::abort();
}

template <scheduler Sched> struct parlay_calls {
  /// The places of the default pool: every thread that calls Parlay's functions has an index below it.
  static std::size_t num_workers() {
    static std::size_t const all = Sched::default_pool().places();
    return all;
  }

  /// 0 outside all pools. Not the same before and after a fork if the scheduler moves code.
  static std::size_t worker_id() {
    unsigned const index = Sched::worker_index();
    if (index == k_no_worker) return 0;
    if (index >= num_workers()) [[unlikely]]
      detail::not_parlay_s_pool();
    return index;
  }

  /// Calls f(i) for each i of [start, end). `granularity`: so many neighbouring iterations run one after the other; 0
  /// or less: the costs of iterations decide. `conservative`: the caller may hold a lock that other tasks take.
  template <class Fn>
  static void parallel_for(std::size_t start, std::size_t end, Fn& f, long granularity, bool conservative) {
    if (end <= start) return;
    std::size_t const grain = granularity < 1 ? 1 : static_cast<std::size_t>(granularity);
    if (end - start <= grain) {
      for (std::size_t i = start; i != end; ++i) std::invoke(f, i);
    } else if (conservative) {
      filch::stay([&] { blocks(start, end, grain, f); });
    } else {
      blocks(start, end, grain, f);
    }
  }

  /// Runs both. `conservative`: in order, on this thread, so that no foreign task begins while one waits.
  template <class Left, class Right> static void par_do(Left&& left, Right&& right, bool conservative) {
    if (conservative) [[unlikely]] {
      filch::stay([&] { both(std::forward<Left>(left), std::forward<Right>(right)); });
    } else {
      both(std::forward<Left>(left), std::forward<Right>(right));
    }
  }

 private:
  template <class Fn> static void blocks(std::size_t start, std::size_t end, std::size_t grain, Fn& f) {
    if (grain == 1) return filch::for_index<Sched>(start, end, f);
    filch::for_index<Sched>(std::size_t{0}, (end - start + grain - 1) / grain, [=, &f](std::size_t block) {
      std::size_t const first = start + block * grain;
      std::size_t const last = std::min(end, first + grain);
      for (std::size_t i = first; i != last; ++i) std::invoke(f, i);
    });
  }
  template <class Left, class Right> FILCH_INLINE static void both(Left&& left, Right&& right) {
    filch::join<Sched>([&] { static_cast<void>(std::forward<Left>(left)()); },
                       [&] { static_cast<void>(std::forward<Right>(right)()); });
  }
};

}  // namespace filch::inline FILCH_ABI::detail

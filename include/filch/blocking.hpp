// blocking: a wait in the system that does not cost the pool a worker.
#pragma once

#include <filch/stay.hpp>

#include <array>
#include <cstddef>

namespace filch::inline FILCH_ABI {
namespace detail {

/// While it exists, a stand-in works in each pool in which the calling thread is a worker, also in those around the
/// run that it is in; one, however deep such objects are nested.
class FILCH_API blocked_workers {
 public:
  blocked_workers() noexcept;
  blocked_workers(blocked_workers const&) = delete;
  blocked_workers& operator=(blocked_workers const&) = delete;
  ~blocked_workers();

 private:
  bool has(void const* team) const noexcept;

  static constexpr std::size_t k_most = 8;  // pools inside each other; those of one scheduler from the innermost on
  blocked_workers* const outer_;            // of the calling thread
  std::array<void*, k_most> teams_{};
  std::size_t number_ = 0;
};

}  // namespace detail

/// Calls f(), which waits in the system (for a file, a network, a lock). Returns what f returns and throws what f
/// throws.
///
/// When f begins, the tasks that were forked before are offered to thieves, and another thread of the pool takes the
/// worker's place, so the pool keeps its number of workers. There are at most as many such threads as workers, and at
/// most 16: if more workers than that are in `blocking`, the pool has fewer. They are made when they are first
/// needed, and sleep between uses. In another pool's run all of this also holds for the pools around it, eight in
/// all.
///
/// Joins in f run in order on the calling thread, as in filch::stay. Under a scheduler whose victims send their
/// tasks, a task that no thief had requested when f began waits until f ends. Under `implicit` the same holds in a
/// stay, and for tasks around another pool's run. Outside all pools, and if the system refuses a thread, f just runs.
/// Continues on the calling thread. Cost: some 20 microseconds if a thread is woken, so use it for longer waits.
template <class Fn> decltype(auto) blocking(Fn&& f) {
  detail::blocked_workers const waiting;
  return filch::stay(std::forward<Fn>(f));
}

}  // namespace filch::inline FILCH_ABI

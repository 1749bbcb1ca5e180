// blocking: waits in the system that do not cost the pool a worker.
#pragma once

#include <filch/stay.hpp>

#include <array>
#include <cstddef>

namespace filch::inline FILCH_ABI {
namespace detail {

/// While it exists, a stand-in works for each pool that the calling thread is a worker of.
class FILCH_API blocked_workers {
 public:
  blocked_workers() noexcept;
  blocked_workers(blocked_workers const&) = delete;
  blocked_workers& operator=(blocked_workers const&) = delete;
  ~blocked_workers();

 private:
  static constexpr std::size_t k_most = 8;  // one for each scheduler
  std::array<void*, k_most> teams_{};
  std::size_t number_ = 0;
};

}  // namespace detail

/// Calls f(), which waits in the system (for a file, a network, a lock), and returns what it returns or throws what
/// it throws. Meanwhile another thread of the pool takes the worker's place: tasks forked before are offered to
/// thieves when f begins, and the pool goes on with as many workers as it has. There are at most as many such threads
/// as workers, and at most 16: while more workers than that are in `blocking`, the pool has fewer. They are made at
/// the first need, and sleep between uses.
///
/// Joins in f run in order, on the calling thread, as in filch::stay. Under `channel` tasks are sent when a thief
/// asks: what its worker forked before f, and nobody has asked for by then, waits until f is done. Outside all pools,
/// under `serial`, and where the system refuses a thread, f just runs. Continues on the calling thread. Costs some 20
/// microseconds where a thread has to be woken: worth it for waits longer than that.
template <class Fn> decltype(auto) blocking(Fn&& f) {
  detail::blocked_workers const waiting;
  return filch::stay(std::forward<Fn>(f));
}

}  // namespace filch::inline FILCH_ABI

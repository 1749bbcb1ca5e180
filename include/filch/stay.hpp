// Keeping code on its thread.
#pragma once

#include <filch/default_scheduler.hpp>

#include <functional>
#include <utility>

namespace filch::inline FILCH_ABI {

/// Calls f() and returns what it returns or throws what it throws. Until then nothing in f changes threads: joins,
/// invocations, scopes and loops in it, of every scheduler, run in order, here, and enter no pool. So f may hold a
/// std::mutex across a join, or call a library that keeps state by thread. Under `direct` and `channel` code changes
/// threads nowhere, but joins in f run in order all the same. `wanted()` is false in f; current_worker() is what it
/// was around it.
///
/// pool.run(g) in f enters another pool as always: g's joins are parallel there, and f goes on here. In its own pool
/// g runs in order, too. A spawn into a scope that is further out runs in place, and what it throws leaves spawn; a
/// sync() of such a scope ends the process with a line on stderr.
///
/// Other workers get what was forked before only as far as they asked for it when f began: for long calculations
/// with many forks around them, prefer filch::mutex and filch::worker_local. Costs 10 to 20 ns, and some
/// hundred bytes of stack.
template <class Fn> decltype(auto) stay(Fn&& f) {
  detail::direct_staying const in_direct;
  detail::channel_staying const in_channel;
#if FILCH_HAS_CACTUS
  detail::fiber_staying const in_fibers;
#endif
  return std::invoke(std::forward<Fn>(f));
}

}  // namespace filch::inline FILCH_ABI

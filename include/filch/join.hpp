// join and invoke: the fork.
#pragma once

#include <filch/default_scheduler.hpp>

#include <tuple>

namespace filch::inline FILCH_ABI {

/// Runs f and g, perhaps in parallel, and returns both results once both are done.
///
/// Returns a std::pair: what f returned and what g returned - values (move-only ones too), references, or
/// filch::nothing for void. On one worker f runs before g, as written. What they return may refer to what they
/// captured, until the end of the full expression. Else nothing may keep the address of a capture beyond the call: a
/// small temporary whose result refers to nothing is called as a copy.
///
/// Throws what f or g throws, after both have come to their end; if both throw, f's exception leaves and
/// g's is dropped. Under `direct` and `channel` a thief keeps a result of more than 48 bytes on the heap:
/// std::bad_alloc leaves if there is no memory, and g has not run then.
///
/// May be called from any thread: outside a pool it enters the default pool, and may then end the process with one
/// line if that pool can't be made (a bad FILCH_NUM_THREADS, say).
///
/// Continues on the thread that called it under `direct`, `channel` and `serial`; perhaps on another thread of the
/// pool under `cactus` and `implicit`, so nothing that belongs to a thread (a std::mutex, errno, a thread_local's
/// address) may be held across it.
///
/// While a stolen g is not done (docs/waits.md): under `direct` the worker may run other tasks that g forked
/// (leapfrogging), under `channel` any others, so a lock held across a join can meet itself; under `cactus` and
/// `implicit` the frame is left on its stack and the worker does other work on another one.
///
/// Cost where nothing is stolen: under `direct` and `channel` three stores and two compares at the fork, a store and
/// a compare at the join, 1 to 2 ns in all; under `implicit` a call, two loads and a compare, and no store beyond
/// what calls and larger closures need; under `cactus` 1 to 1.4 times direct's. Papers: K.-F. Faxen, Efficient work
/// stealing for fine grained parallelism, ICPP 2010 (`direct`); A. Prell, T. Rauber, Channel-based Work Stealing,
/// 2014 (`channel`); C. Yang, J. Mellor-Crummey, A practical solution to the cactus stack problem, SPAA 2016
/// (`cactus`); V. Kumar et al., Work-stealing without the baggage, OOPSLA 2012, and Friendly barriers, VEE 2014
/// (`implicit`).
template <scheduler Sched = default_scheduler, class Fn, class Gn>
FILCH_INLINE std::pair<detail::result_of<Fn>, detail::result_of<Gn>> join(Fn&& f, Gn&& g) {
  static_assert(detail::results_can_be_moved<Fn, Gn>,
                "filch::join returns what f and g return: such a type must be move-constructible");
  if constexpr (detail::results_can_be_moved<Fn, Gn>) return Sched::join(std::forward<Fn>(f), std::forward<Gn>(g));
}

namespace detail {

template <class... Results> FILCH_INLINE std::tuple<Results...> as_tuple(std::pair<Results...>&& p) {
  return std::apply([](auto&&... x) { return std::tuple<Results...>(static_cast<Results&&>(x)...); }, std::move(p));
}

// The first half of the callables beside the second: a tree of joins, so that a thief finds half of them.
template <class Sched, std::size_t First, std::size_t Count, class Refs> auto invoke_range(Refs& refs) {
  using Fn = std::tuple_element_t<First, Refs>;  // a reference, of the category with which it was handed over
  auto& first = std::get<First>(refs);
  if constexpr (Count == 1) {
    return std::tuple<result_of<Fn>>(detail::call(static_cast<Fn>(first)));
  } else if constexpr (Count == 2) {
    using Gn = std::tuple_element_t<First + 1, Refs>;
    return detail::as_tuple(Sched::join(static_cast<Fn>(first), static_cast<Gn>(std::get<First + 1>(refs))));
  } else {
    constexpr std::size_t k_left = (Count + 1) / 2;
    auto both = Sched::join([&refs] { return detail::invoke_range<Sched, First, k_left>(refs); },
                            [&refs] { return detail::invoke_range<Sched, First + k_left, Count - k_left>(refs); });
    return std::tuple_cat(std::move(both.first), std::move(both.second));
  }
}

}  // namespace detail

/// Runs any number of callables, perhaps in parallel, and returns a std::tuple of their results in order.
///
/// A tree of joins: everything said of `join` holds. Of several exceptions the leftmost callable's leaves.
/// Cost: one join less than there are callables.
template <scheduler Sched = default_scheduler, class... Fn>
  requires(sizeof...(Fn) > 0)
std::tuple<detail::result_of<Fn>...> invoke(Fn&&... f) {
  static_assert(detail::results_can_be_moved<Fn...>,
                "filch::invoke returns what its callables return: such a type must be move-constructible");
  std::tuple<Fn&&...> refs(std::forward<Fn>(f)...);
  if constexpr (!detail::results_can_be_moved<Fn...>) {  // the assertion says all
  } else if constexpr (sizeof...(Fn) == 1) {             // no join enters a pool
    return detail::inside_pool<Sched>([&refs] { return detail::invoke_range<Sched, 0, 1>(refs); });
  } else {
    return detail::invoke_range<Sched, 0, sizeof...(Fn)>(refs);
  }
}

}  // namespace filch::inline FILCH_ABI

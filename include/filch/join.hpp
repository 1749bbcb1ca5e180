// join and invoke: the fork.
#pragma once

#include <filch/default_scheduler.hpp>
#include <filch/detail/stopping.hpp>

#include <tuple>

namespace filch::inline FILCH_ABI {

/// Runs f and g, perhaps in parallel, and returns both results when both are done.
///
/// Returns a std::pair of f's result and g's result: values (move-only ones too), references, or filch::nothing for
/// void. On one worker f runs before g. A result may refer to what its callable captured, until the end of the full
/// expression. Nothing else may keep the address of a capture beyond the call: a small temporary whose result refers
/// to nothing is called as a copy.
///
/// Throws what f or g throws, after both have ended. If both throw, f's exception leaves and g's is dropped. A
/// scheduler may keep the result of a stolen g on the heap if it has more than 48 bytes; if there is no memory,
/// std::bad_alloc leaves, and g has not run.
///
/// May be called on any thread. Outside all pools it enters the default pool. If that pool cannot be made (an invalid
/// FILCH_NUM_THREADS, say), the process ends with a one-line message.
///
/// Continues on the calling thread, or perhaps on another thread of the pool if the scheduler moves code
/// (docs/migration.md). Then nothing that belongs to a thread (a std::mutex, errno, the address of a thread_local)
/// may be held across a join.
///
/// While a thief runs g, the worker may run other tasks on top of this frame. Which ones depends on the scheduler
/// (docs/waits.md). A lock that is held across a join can deadlock with itself.
///
/// Cost where nothing is stolen: about 1 to 2 ns. Each scheduler's header gives its cost and names its paper.
template <scheduler Sched = default_scheduler, class Fn, class Gn>
FILCH_INLINE std::pair<detail::result_of<Fn>, detail::result_of<Gn>> join(Fn&& f, Gn&& g) {
  static_assert(detail::results_can_be_moved<Fn, Gn>,
                "filch::join: the results of f and g must be move-constructible");
  if constexpr (detail::results_can_be_moved<Fn, Gn>) return Sched::join(std::forward<Fn>(f), std::forward<Gn>(g));
}

/// `join` until a stop is requested of `token`. The fork looks at the token before it begins f, and again before it
/// begins g. After a request no callable begins. A callable that has begun runs to its end.
///
/// Returns true if both ran, where f and g return void. Otherwise a std::pair of a std::optional for each result,
/// which is empty if its callable did not begin: std::optional<filch::nothing> for void, and a pointer, perhaps null,
/// in place of a std::optional for a reference.
///
/// Throws what f or g throws, as `join` does, also after a request. The token is used until the return only. If a
/// stop was requested before the call, it enters no pool. Thread: as for `join`. Cost: that of `join`, two looks at
/// the token, and a move of each result.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class Fn, class Gn>
FILCH_INLINE detail::results_of_begun<std::pair, Fn, Gn> join(Token const& token, Fn&& f, Gn&& g) {
  static_assert(detail::results_can_be_moved<Fn, Gn>,
                "filch::join: the results of f and g must be move-constructible");
  if (token.stop_requested()) [[unlikely]]
    return {};
  return detail::returned_of_begun<detail::results_of_begun<std::pair, Fn, Gn>>(
      Sched::join([&f]() -> detail::result_of_begun<Fn> { return detail::begin_call(std::forward<Fn>(f)); },
                  detail::unless_stopped<Token, Gn>{token, std::forward<Gn>(g)}));
}

namespace detail {

template <class... Results> FILCH_INLINE std::tuple<Results...> as_tuple(std::pair<Results...>&& p) {
  return std::apply([](auto&&... x) { return std::tuple<Results...>(static_cast<Results&&>(x)...); }, std::move(p));
}

// A tree of joins, the first half of the callables beside the second, so that a thief gets half of them.
template <class Sched, std::size_t First, std::size_t Count, class Refs> auto invoke_range(Refs& refs) {
  using Fn = std::tuple_element_t<First, Refs>;  // a reference, of the value category that the caller passed
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
/// Everything that `join` documents holds: this is a tree of joins. If several callables throw, the exception of the
/// leftmost one leaves. Cost: n - 1 joins for n callables.
template <scheduler Sched = default_scheduler, class... Fn>
  requires(sizeof...(Fn) > 0)
std::tuple<detail::result_of<Fn>...> invoke(Fn&&... f) {
  static_assert(detail::results_can_be_moved<Fn...>, "filch::invoke: the results must be move-constructible");
  std::tuple<Fn&&...> refs(std::forward<Fn>(f)...);
  if constexpr (!detail::results_can_be_moved<Fn...>) {  // reported by the assertion
  } else if constexpr (sizeof...(Fn) == 1) {             // without a join, which would enter the pool
    return detail::inside_pool<Sched>([&refs] { return detail::invoke_range<Sched, 0, 1>(refs); });
  } else {
    return detail::invoke_range<Sched, 0, sizeof...(Fn)>(refs);
  }
}

/// `invoke` until a stop is requested of `token`, which each worker reads before it begins a callable. Returns true
/// if all ran, where all return void; otherwise a std::tuple of what `join` with a token has in its pair. The rest is
/// that of `join` with a token, and of `invoke`.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class... Fn>
  requires(sizeof...(Fn) > 0)
detail::results_of_begun<std::tuple, Fn...> invoke(Token const& token, Fn&&... f) {
  static_assert(detail::results_can_be_moved<Fn...>, "filch::invoke: the results must be move-constructible");
  if (token.stop_requested()) return {};
  return detail::returned_of_begun<detail::results_of_begun<std::tuple, Fn...>>(
      filch::invoke<Sched>(detail::unless_stopped<Token, Fn>{token, std::forward<Fn>(f)}...));
}

}  // namespace filch::inline FILCH_ABI

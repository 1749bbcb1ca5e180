// The wall between schedulers and everything that users call.
#pragma once

#include <filch/detail/result.hpp>

#include <concepts>
#include <string_view>

namespace filch::inline FILCH_ABI {

/// What a scheduler offers. Everything in Filch that forks is a template on a type that satisfies this, and
/// is built from it alone.
///
///  - `S::join(f, g)` runs f and g, perhaps in parallel, and returns a std::pair of both results after both.
///    Both always run to their end, or throw, before it returns or throws; if both throw, f's exception
///    leaves.
///  - `S::frame` forks many times: `frame.spawn(f)` any number of times, then `frame.sync()`.
///  - `S::wanted()` is true while a thief waits for work: two loads and a compare where nobody does. Loops split only
///    then.
///  - `S::inside()` is true where joins enter no pool: on a worker of one of S's pools, and inside filch::stay.
///  - `S::pool` holds the workers; `pool.run(f)` enters; `S::default_pool()` is the one that a call from
///    outside enters.
///  - `S::worker_index()` is the calling worker's index in its pool; detail::k_no_worker outside S's pools.
///  - `S::name` is its name on command lines and in tables.
template <class S>
concept scheduler = requires(int (*f)(), void (*task)(), typename S::frame& frame, typename S::pool& pool) {
  { S::join(f, f) } -> std::same_as<std::pair<int, int>>;
  { frame.spawn(task) } -> std::same_as<void>;
  { frame.sync() } -> std::same_as<void>;
  { S::wanted() } noexcept -> std::same_as<bool>;
  { S::inside() } noexcept -> std::same_as<bool>;
  { S::worker_index() } noexcept -> std::same_as<unsigned>;
  { pool.run(f) } -> std::same_as<int>;
  { S::default_pool() } -> std::same_as<typename S::pool&>;
  { S::name } -> std::convertible_to<std::string_view>;
};

namespace detail {

/// Runs f on a worker of S: here if the caller is one, else in S's default pool.
template <class S, class F> decltype(auto) inside_pool(F&& f) {
  if (S::inside()) return std::invoke(std::forward<F>(f));
  return S::default_pool().run(std::forward<F>(f));
}

}  // namespace detail
}  // namespace filch::inline FILCH_ABI

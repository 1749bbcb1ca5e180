// for_index: a loop that splits only when somebody waits for work.
#pragma once

#include <filch/default_scheduler.hpp>
#include <filch/detail/loop_engine.hpp>

#include <concepts>
#include <type_traits>

namespace filch::inline FILCH_ABI {
namespace detail {

/// May each piece of a loop call a copy of f? The copy is nobody else's, so its captures stay in registers where the
/// body writes through pointers.
template <class Fn, class Index> consteval bool body_is_copied() {
  if constexpr (std::is_object_v<Fn>) {
    return is_small_and_trivial<Fn>(64, 16) && std::is_trivially_copy_constructible_v<Fn> &&
           std::is_invocable_v<Fn const&, Index&>;
  } else {
    return false;
  }
}

/// f as the body of a loop. It gets a copy of the index: one that it takes by reference is its own to write.
template <class Fn, class Index> struct index_body {
  std::conditional_t<body_is_copied<Fn, Index>(), Fn, Fn&> f;
  FILCH_INLINE void operator()(Index index) const { static_cast<void>(f(index)); }
};

}  // namespace detail

/// Calls f(i) for every i of [first, last), in ascending order within each piece; the pieces may run in
/// parallel, so several workers may call f at once. There is no grain size: a plain loop runs in stretches of at most
/// 64 iterations and, where more than one, of about a microsecond, and what is left is split in half only when a
/// worker waits for work, and half of it is worth a steal: that is told by what iterations of Fn cost before. Both
/// bounds are of one type, an integer's: `for_index(std::size_t{0}, v.size(), f)`. f gets an index of its own, which
/// it may take by reference. What it returns is dropped. A small f that is trivially copyable and callable as const
/// is copied for each piece; any other is called in place.
///
/// If f throws, the rest of its piece is skipped, the other pieces run to their end, and then one of the
/// exceptions leaves: that of the lowest piece. An empty or reversed range does nothing. From outside a pool
/// it enters the default pool. Continues on the calling thread under `direct`, `channel` and `serial`, perhaps on
/// another one under `cactus` and `implicit`. Cost: a load and a compare a stretch, and a clock read a microsecond
/// or more: docs/decisions/0011-loops.md. To split late is from A. Tzannes et al., Lazy binary-splitting: a run-time
/// adaptive work-stealing scheduler, PPoPP 2010.
template <scheduler Sched = default_scheduler, std::integral Index, class Fn>
  requires(!std::same_as<Index, bool>)
void for_index(Index first, Index last, Fn&& f) {
  if (!(first < last)) return;
  using body = detail::index_body<std::remove_reference_t<Fn>, Index>;
  detail::inside_pool<Sched>([&] { detail::split_on_demand<Sched>(first, last, body{f}); });
}

}  // namespace filch::inline FILCH_ABI

// random_shuffle: a random order that depends on the seed only.
#pragma once

#include <filch/detail/arguments.hpp>
#include <filch/detail/moving.hpp>
#include <filch/detail/scattering.hpp>

namespace filch::inline FILCH_ABI {
namespace detail {

/// Number `i` of a sequence of random numbers: the finaliser of splitmix64.
constexpr std::uint64_t random_number(std::uint64_t seed, std::uint64_t i) noexcept {
  std::uint64_t x = seed + (i + 1) * 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}
/// A random number below n.
constexpr std::size_t random_below(std::size_t n, std::uint64_t random) noexcept {
  return static_cast<std::size_t>(static_cast<unsigned_wide_index>(random) * n >> 64);
}

template <class Iterator> void shuffle_part(Iterator const& first, std::size_t n, std::uint64_t seed) {
  for (std::size_t i = n; i > 1; --i) {
    std::size_t const j = detail::random_below(i, detail::random_number(seed, i));
    if (j != i - 1) std::ranges::iter_swap(detail::iterator_after(first, i - 1), detail::iterator_after(first, j));
  }
}

/// Each element goes to a random part, and each part is shuffled (Rao, Sandelius).
template <class Sched, class Stop, class Iterator>
void random_shuffle(Stop& stop, input<Iterator> const& in, std::uint64_t seed) {
  constexpr std::size_t k_few = 16'384;
  if (in.length < 2 || stop.is_requested()) return;
  if (in.length <= k_few) return detail::shuffle_part(in.first, in.length, seed);
  using sched = scheduler_for<Sched, Iterator>;
  detail::inside_pool<sched>([&] {
    using value = std::iter_value_t<Iterator>;
    raw_buffer<value> const buffer(in.length);
    if (!static_cast<bool>(buffer)) throw std::bad_alloc();
    digit_counts places{};
    auto const digit = [seed](std::size_t i) {
      return static_cast<std::size_t>(detail::random_number(~seed, i) >> (64 - k_digit_bits));
    };
    auto const move = [&](std::size_t i, std::size_t to) { buffer.make(to, std::ranges::iter_move(in.at(i))); };
    if (!detail::scatter<sched>(stop, in.length, digit, move, places)) throw std::bad_alloc();
    if (stop.was_seen()) return;
    auto part = [&](std::size_t i) {
      std::size_t const first = places[i];
      std::size_t const n = (i + 1 == k_digits ? in.length : places[i + 1]) - first;
      if (n == 0) return;
      moving_piece<value*, Iterator>{std::addressof(buffer[first]), in.at(first)}.run(0, n);
      detail::shuffle_part(in.at(first), n, detail::random_number(seed, i));
    };
    detail::for_index<sched>(stop, std::size_t{0}, k_digits, part);
  });
}

}  // namespace detail

/// Puts the elements of [first, last) in a random order. The order depends on the seed and the length only: it is the
/// same in each run, under every scheduler, on any number of workers. Each order is about as likely as any other.
///
/// Pool, thread and cost: as in `for_index`. Throws std::bad_alloc if there is no memory for n elements; before
/// anything was moved. 16,384 elements or fewer need none, and are shuffled by one worker. Complexity: 2 n moves and
/// n swaps. After a stop, or an exception of a move, some elements have the values of moved-from elements.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel>
Iterator random_shuffle(Iterator first, Sentinel last, std::uint64_t seed) {
  detail::never_stopped never;
  auto const in = detail::input_of(first, last);
  detail::random_shuffle<Sched>(never, in, seed);
  return in.end();
}
/// The same for a range.
template <scheduler Sched = default_scheduler, sized_random_access_range Range>
std::ranges::borrowed_iterator_t<Range> random_shuffle(Range&& range, std::uint64_t seed) {
  detail::never_stopped never;
  auto const in = detail::input_of(range);
  detail::random_shuffle<Sched>(never, in, seed);
  return in.end();
}
/// The same with a stop token. Returns false if a stop was requested before the end.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class... Args>
  requires detail::begins_with_inputs<1, Args...>
bool random_shuffle(Token const& token, Args&&... args) {
  return detail::run_stoppable<1>(
      token,
      [](auto& stop, auto const& in, auto seed) {
        detail::random_shuffle<Sched>(stop, in, static_cast<std::uint64_t>(seed));
      },
      std::forward<Args>(args)...);
}

}  // namespace filch::inline FILCH_ABI

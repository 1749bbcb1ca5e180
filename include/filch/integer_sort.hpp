// integer_sort: elements by an integer key, without comparisons.
#pragma once

#include <filch/detail/arguments.hpp>
#include <filch/detail/moving.hpp>
#include <filch/detail/scattering.hpp>

namespace filch::inline FILCH_ABI {
namespace detail {

/// A key as an unsigned number of the same order.
template <class Key> constexpr auto ordered_bits(Key key) noexcept {
  static_assert(std::is_integral_v<Key> || bit_reference<Key>, "filch::integer_sort: the key must be an integer");
  if constexpr (!std::is_integral_v<Key> || std::is_same_v<Key, bool>) {
    return static_cast<unsigned char>(static_cast<bool>(key));
  } else {
    using bits = std::make_unsigned_t<Key>;
    constexpr bits k_sign = std::is_signed_v<Key> ? static_cast<bits>(bits{1} << (8 * sizeof(bits) - 1)) : bits{0};
    return static_cast<bits>(static_cast<bits>(key) ^ k_sign);
  }
}

/// The highest digit first, so that all others are sorted part by part in a cache, from the lowest digit on.
template <class Sched, class Stop, class Iterator, class KeyOf> class radix_sort {
 public:
  using value = std::iter_value_t<Iterator>;
  using bits = decltype(detail::ordered_bits(
      std::declval<std::decay_t<std::invoke_result_t<KeyOf&, std::iter_reference_t<Iterator>>>>()));
  static constexpr std::size_t k_few = 48;
  static constexpr std::size_t k_in_cache = 131'072;  // elements

  radix_sort(Stop& stop, input<Iterator> const& in, KeyOf& key_of, raw_buffer<value> const& buffer)
      : stop_(stop), in_(in), key_of_(key_of), buffer_(buffer) {}

  /// False: no memory.
  bool sort() const {
    unsigned const width = width_of_differences();
    if (width == 0 || stop_.was_seen()) return true;
    unsigned const left = width > k_digit_bits ? width - k_digit_bits : 0;
    digit_counts places{};
    auto const digit = [this, left](std::size_t i) { return digit_of(*in_.at(i), left); };
    auto const move = [this](std::size_t i, std::size_t to) { buffer_.make(to, std::ranges::iter_move(in_.at(i))); };
    if (!detail::scatter<Sched>(stop_, in_.length, digit, move, places)) return false;
    if (!stop_.was_seen()) sort_parts(places, 0, in_.length, left);
    return true;
  }

 private:
  template <class Element> FILCH_INLINE bits bits_of(Element&& x) const {
    return detail::ordered_bits(detail::call_with(key_of_, static_cast<Element&&>(x)));
  }
  template <class Element> FILCH_INLINE std::size_t digit_of(Element&& x, unsigned shift) const {
    return static_cast<std::size_t>(bits_of(static_cast<Element&&>(x)) >> shift) & (k_digits - 1);
  }

  /// The bits in which keys differ.
  struct differing_piece {
    radix_sort const& sorting;
    bits first_key;
    bits all = 0;
    void run(std::size_t first, std::size_t last) {
      bits differences = all;
      for (Iterator i = sorting.in_.at(first); first != last; ++first, static_cast<void>(++i))
        differences = static_cast<bits>(differences | (sorting.bits_of(*i) ^ first_key));
      all = differences;
    }
    differing_piece split(std::size_t, std::size_t) const { return {sorting, first_key}; }
    void merge(differing_piece const& upper) noexcept { all = static_cast<bits>(all | upper.all); }
  };
  unsigned width_of_differences() const {
    differing_piece piece{*this, bits_of(*in_.first)};
    detail::run_pieces<Sched>(0, in_.length, piece, stop_);
    return static_cast<unsigned>(std::bit_width(piece.all));
  }

  /// The parts of [first, last) are in the buffer. Sorts each one by the bits below `left`, into the range.
  void sort_parts(digit_counts const& places, std::size_t first, std::size_t last, unsigned left) const {
    auto part = [&](std::size_t digit) {
      std::size_t const end = digit + 1 == k_digits ? last : first + places[digit + 1];
      sort_part(first + places[digit], end, left);
    };
    detail::for_index<Sched>(stop_, std::size_t{0}, k_digits, part);
  }
  void sort_part(std::size_t first, std::size_t last, unsigned left) const {
    std::size_t const n = last - first;
    if (n == 0) return;
    value* const from = std::addressof(buffer_[first]);
    Iterator const to = in_.at(first);
    if (left != 0 && n <= k_few) {
      insert_by_key(from, from + n);
    } else if (left != 0 && n > k_in_cache) {
      return sort_large_part(first, last, left);
    } else if (left != 0) {
      return sort_in_cache(from, to, n, left);
    }
    never_stopped never;
    detail::move<Sched>(never, from, n, to);
  }
  /// Too large for a cache: by its highest digit into the range, back to the buffer, and then part by part.
  void sort_large_part(std::size_t first, std::size_t last, unsigned left) const {
    value* const from = std::addressof(buffer_[first]);
    Iterator const to = in_.at(first);
    unsigned const below = left > k_digit_bits ? left - k_digit_bits : 0;
    digit_counts places{};
    auto const digit = [&](std::size_t i) { return digit_of(from[i], below); };
    auto const move = [&](std::size_t i, std::size_t j) { *detail::iterator_after(to, j) = std::move(from[i]); };
    if (!detail::scatter<Sched>(stop_, last - first, digit, move, places))
      return sort_in_cache(from, to, last - first, left);
    if (below == 0 || stop_.was_seen()) return;
    never_stopped never;
    detail::move<Sched>(never, to, last - first, from);
    sort_parts(places, first, last, below);
  }
  /// By each digit from the lowest one on, to and fro.
  void sort_in_cache(value* from, Iterator const& to, std::size_t n, unsigned left) const {
    bool is_in_range = false;
    for (unsigned shift = 0; shift < left; shift += k_digit_bits) {
      std::size_t const mask = (std::size_t{1} << std::min(left - shift, k_digit_bits)) - 1;
      if (is_in_range) {
        pass(to, from, n, shift, mask);
      } else {
        pass(from, to, n, shift, mask);
      }
      is_in_range = !is_in_range;
    }
    if (is_in_range) return;
    moving_piece<value*, Iterator>{from, to}.run(0, n);
  }
  template <class From, class To>
  void pass(From const& from, To const& to, std::size_t n, unsigned shift, std::size_t mask) const {
    auto const digit = [&](std::size_t i) { return digit_of(*detail::iterator_after(from, i), shift) & mask; };
    digit_counts counts = detail::counts_of(0, n, digit);
    digit_places places = detail::places_of(counts, 0);
    for (std::size_t i = 0; i != n; ++i) {
      *detail::iterator_after(to, places.next(digit(i))) = std::ranges::iter_move(detail::iterator_after(from, i));
    }
  }
  void insert_by_key(value* first, value* last) const {
    detail::insertion_sort(first, last, [this](auto&& x, auto&& y) { return this->bits_of(x) < this->bits_of(y); });
  }

  Stop& stop_;
  input<Iterator> in_;
  KeyOf& key_of_;
  raw_buffer<value> const& buffer_;
};

template <class Sched, class Stop, class Iterator, class KeyOf>
void integer_sort(Stop& stop, input<Iterator> const& in, KeyOf& key_of) {
  constexpr std::size_t k_few = 1024;  // fewer are compared
  if (in.length < 2 || stop.is_requested()) return;
  using sched = scheduler_for<Sched, Iterator>;
  detail::inside_pool<sched>([&] {
    if (in.length >= k_few || detail::splits_all()) {
      using sorting = radix_sort<sched, Stop, Iterator, KeyOf>;
      raw_buffer<typename sorting::value> const buffer(in.length);
      if (static_cast<bool>(buffer) && sorting(stop, in, key_of, buffer).sort()) return;
    }
    std::ranges::less less;
    detail::stable_sort<Sched>(stop, in, less, key_of);
  });
}

}  // namespace detail

/// Sorts [first, last) by key_of(x), an integer. Keeps the order of equal keys. Returns the end.
///
/// key_of must return the same each time; else std::invalid_argument may leave. It is called by several workers at
/// once. Pool, thread and cost: as in `for_index`. Exceptions and stops: as in `stable_sort`. Complexity: n moves for
/// each 8 bits in which keys differ, and one more; key_of is called twice for each. Allocates n elements, and 4 KB
/// for every 65,536 elements; without memory for them, and for few elements, it is `stable_sort`.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          class KeyOf = std::identity>
Iterator integer_sort(Iterator first, Sentinel last, KeyOf key_of = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(first, last);
  detail::integer_sort<Sched>(never, in, key_of);
  return in.end();
}
/// The same for a range.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, class KeyOf = std::identity>
  requires detail::no_end_of<KeyOf, Range>
std::ranges::borrowed_iterator_t<Range> integer_sort(Range&& range, KeyOf key_of = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(range);
  detail::integer_sort<Sched>(never, in, key_of);
  return in.end();
}
/// The same with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class First,
          class Arg1 = detail::absent, class Arg2 = detail::absent>
  requires detail::begins_with_inputs<1, First, Arg1, Arg2>
bool integer_sort(Token const& token, First&& first, Arg1&& a = {}, Arg2&& b = {}) {
  return detail::run_stoppable<1, detail::defaults<std::identity>>(
      token, [](auto& stop, auto const& in, auto key_of) { detail::integer_sort<Sched>(stop, in, key_of); },
      std::forward<First>(first), std::forward<Arg1>(a), std::forward<Arg2>(b));
}

}  // namespace filch::inline FILCH_ABI

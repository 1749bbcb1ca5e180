// reduce_by_key and group_by: what belongs to each key.
#pragma once

#include <filch/default_scheduler.hpp>
#include <filch/detail/arguments.hpp>
#include <filch/detail/converting.hpp>
#include <filch/detail/key_index.hpp>
#include <filch/detail/pieces.hpp>
#include <filch/detail/ranges.hpp>

#include <memory>
#include <utility>
#include <vector>

namespace filch::inline FILCH_ABI {
namespace detail {

/// The entries of a piece, in the order in which their keys came first, and where each key's is.
template <class Iterator, class KeyOf, class Work, class Hash, class Equal> struct keyed_piece {
  using element = std::iter_reference_t<Iterator>;
  using key = kept_result_of<Iterator, KeyOf>;
  using value = typename Work::value;
  using index = key_index<Hash, Equal>;

  Iterator in;
  body_of<KeyOf, element> key_of;
  Work* work;
  index places;
  std::vector<std::pair<key, value>> entries{};

  void run(std::size_t first, std::size_t last) {
    Iterator const end = detail::iterator_after(in, last);
    for (Iterator i = detail::iterator_after(in, first); i != end; ++i) {
      using made = std::remove_cvref_t<element>;
      if constexpr (std::is_invocable_v<KeyOf&, std::remove_reference_t<element>&>) {
        auto&& x = *i;  // read once: a view may have made it
        add(key_of(x), static_cast<element&&>(x));
      } else if constexpr (std::copy_constructible<made>) {
        auto&& x = *i;
        add(key_of(made(std::as_const(x))), static_cast<element&&>(x));  // the function may move from what it takes
      } else {
        add(key_of(*i), *i);
      }
    }
  }
  keyed_piece split(std::size_t, std::size_t) const { return {in, key_of, work, places.empty_copy()}; }
  /// Each key of the upper half is appended there, and looked up here. Iterations with new keys are the dear
  /// ones, so what they cost says little about the rest: the number has room for that.
  std::size_t split_ticks(std::size_t ran, std::size_t left) const noexcept {
    constexpr std::size_t k_ticks_a_key = 500;
    std::size_t const upper = left / 2;
    // Many of its keys may be new.
    double const rate = ran == 0 ? 1 : static_cast<double>(entries.size()) / static_cast<double>(ran);
    auto const by_rate = static_cast<std::size_t>(rate * static_cast<double>(upper));
    return std::min(upper, std::max(entries.size(), by_rate)) * k_ticks_a_key;
  }
  void merge(keyed_piece& upper) {
    for (auto& entry : upper.entries) {
      places.find_or_make(
          entries, std::move(entry.first),
          [&](std::size_t place) { work->append(entries[place].second, std::move(entry.second)); },
          [&](key&& own) { entries.emplace_back(std::move(own), std::move(entry.second)); });
    }
  }

 private:
  template <class Key> FILCH_INLINE void add(Key&& k, element&& x) {
    if constexpr (std::is_same_v<std::remove_cvref_t<Key>, key>) {
      places.find_or_make(
          entries, static_cast<Key&&>(k),
          [&](std::size_t place) { work->add(entries[place].second, static_cast<element&&>(x)); },
          [&](Key&& own) {
            key taken(static_cast<Key&&>(own));  // first: it may be a part of x, which may be moved away
            entries.emplace_back(std::move(taken), work->first(static_cast<element&&>(x)));
          });
    } else {
      add(key(static_cast<Key&&>(k)), static_cast<element&&>(x));
    }
  }
};

/// Values are combined by op.
template <class Iterator, class ValueOf, class Op> struct reducing_values {
  using element = std::iter_reference_t<Iterator>;
  using value = kept_result_of<Iterator, ValueOf>;
  static_assert(std::invocable<Op&, value, value>, "filch: op must take two values of value_of's type");
  ValueOf& value_of;
  Op& op;
  value first(element&& x) const { return value(detail::call_with(value_of, static_cast<element&&>(x))); }
  void add(value& sum, element&& x) const {
    append(sum, value(detail::call_with(value_of, static_cast<element&&>(x))));
  }
  void append(value& sum, value&& upper) const {
    sum = detail::result_for<value>(body_of<Op, value, value>{op}, std::move(sum), std::move(upper));
  }
};

/// Elements are collected.
template <class Iterator> struct collecting_values {
  using element = std::iter_reference_t<Iterator>;
  using value = std::vector<std::iter_value_t<Iterator>>;
  value first(element&& x) const {
    value all;
    add(all, static_cast<element&&>(x));
    return all;
  }
  void add(value& all, element&& x) const { all.emplace_back(static_cast<element&&>(x)); }
  void append(value& all, value&& upper) const {
    all.insert(all.end(), std::make_move_iterator(upper.begin()), std::make_move_iterator(upper.end()));
  }
};

template <class Sched, class Hash, class Equal, class Stop, class Iterator, class KeyOf, class Work>
auto keyed(Stop& stop, input<Iterator> const& in, KeyOf& key_of, Work& work, Hash const& hash, Equal const& equal) {
  using piece_type = keyed_piece<Iterator, KeyOf, Work, Hash, Equal>;
  piece_type piece{in.first, {key_of}, std::addressof(work), typename piece_type::index(hash, equal)};
  detail::run_pieces<Sched>(0, in.length, piece, stop);
  return std::move(piece.entries);
}

template <class Sched, class Stop, class Iterator, class KeyOf, class ValueOf, class Op = std::plus<>,
          class Key = kept_result_of<Iterator, KeyOf>, class Hash = std::hash<Key>, class Equal = std::equal_to<Key>>
auto reduce_by_key(Stop& stop, input<Iterator> const& in, KeyOf& key_of, ValueOf& value_of, Op&& op = Op{},
                   Hash const& hash = {}, Equal const& equal = {}) {
  reducing_values<Iterator, ValueOf, std::remove_reference_t<Op>> work{value_of, op};
  return detail::keyed<Sched, Hash, Equal>(stop, in, key_of, work, hash, equal);
}

template <class Sched, class Stop, class Iterator, class KeyOf, class Key = kept_result_of<Iterator, KeyOf>,
          class Hash = std::hash<Key>, class Equal = std::equal_to<Key>>
auto group_by(Stop& stop, input<Iterator> const& in, KeyOf& key_of, Hash const& hash = {}, Equal const& equal = {}) {
  collecting_values<Iterator> work;
  return detail::keyed<Sched, Hash, Equal>(stop, in, key_of, work, hash, equal);
}

}  // namespace detail

/// For each key of the elements x of [first, last), combines value_of(x) of all its elements with op. Returns a
/// vector of pairs of key and result, in the order in which the keys come first in the range. Equal keys need not be
/// neighbours.
///
/// op is called in the order of the elements. It must be associative, and need not be commutative; it needs no
/// identity. So the result is that of the serial loop, also the order of the keys, but for rounding.
/// Exceptions, pool and thread: as in `for_index`; also std::bad_alloc.
/// Complexity: one look-up by hash for each element, one call of op for each but the first of its key, and both for
/// each key of each piece given away. Nothing is sorted. A merge of two pieces takes a look-up for each key of the
/// upper one, so with about as many keys as elements a second worker gains little. Allocates the result and an
/// index of the keys, in each piece. At most 3 * 2^30 keys, else std::length_error. Cost: that of `for_index`.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          class KeyOf, class ValueOf, class Op = std::plus<>, class Key = detail::kept_result_of<Iterator, KeyOf>,
          class Hash = std::hash<Key>, class Equal = std::equal_to<Key>>
auto reduce_by_key(Iterator first, Sentinel last, KeyOf key_of, ValueOf value_of, Op op = {}, Hash hash = {},
                   Equal equal = {}) {
  detail::never_stopped never;
  return detail::reduce_by_key<Sched>(never, detail::input_of(first, last), key_of, value_of, op, hash, equal);
}
/// The same for a range.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, class KeyOf, class ValueOf,
          class Op = std::plus<>, class Key = detail::kept_result_of<std::ranges::iterator_t<Range>, KeyOf>,
          class Hash = std::hash<Key>, class Equal = std::equal_to<Key>>
  requires detail::no_end_of<KeyOf, Range>
auto reduce_by_key(Range&& range, KeyOf key_of, ValueOf value_of, Op op = {}, Hash hash = {}, Equal equal = {}) {
  detail::never_stopped never;
  return detail::reduce_by_key<Sched>(never, detail::input_of(range), key_of, value_of, op, hash, equal);
}
/// Both with a stop token: a std::optional of the vector, empty if a stop was requested before the end.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class... Args>
  requires detail::begins_with_inputs<1, Args...>
auto reduce_by_key(Token const& token, Args&&... args) {
  return detail::run_stoppable<1>(
      token,
      [](auto& stop, auto const& in, auto key_of, auto value_of, auto... fn) {
        return detail::reduce_by_key<Sched>(stop, in, key_of, value_of, fn...);
      },
      std::forward<Args>(args)...);
}

/// Collects copies of the elements x of [first, last) by key_of(x). Returns a vector of pairs of a key and a vector
/// of its elements. The keys are in the order in which they come first in the range, and the elements of a key in
/// theirs. Complexity and the rest: as in `reduce_by_key`, where moving the elements of the upper piece is op.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          class KeyOf, class Key = detail::kept_result_of<Iterator, KeyOf>, class Hash = std::hash<Key>,
          class Equal = std::equal_to<Key>>
auto group_by(Iterator first, Sentinel last, KeyOf key_of, Hash hash = {}, Equal equal = {}) {
  detail::never_stopped never;
  return detail::group_by<Sched>(never, detail::input_of(first, last), key_of, hash, equal);
}
/// The same for a range.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, class KeyOf,
          class Key = detail::kept_result_of<std::ranges::iterator_t<Range>, KeyOf>, class Hash = std::hash<Key>,
          class Equal = std::equal_to<Key>>
  requires detail::no_end_of<KeyOf, Range>
auto group_by(Range&& range, KeyOf key_of, Hash hash = {}, Equal equal = {}) {
  detail::never_stopped never;
  return detail::group_by<Sched>(never, detail::input_of(range), key_of, hash, equal);
}
/// Both with a stop token: a std::optional of the vector, empty if a stop was requested before the end.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class... Args>
  requires detail::begins_with_inputs<1, Args...>
auto group_by(Token const& token, Args&&... args) {
  return detail::run_stoppable<1>(
      token,
      [](auto& stop, auto const& in, auto key_of, auto... fn) {
        return detail::group_by<Sched>(stop, in, key_of, fn...);
      },
      std::forward<Args>(args)...);
}

}  // namespace filch::inline FILCH_ABI

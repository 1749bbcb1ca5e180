// Searches from the end, for one of several elements, for repeated ones.
#pragma once

#include <filch/detail/finding.hpp>
#include <filch/detail/matching.hpp>
#include <filch/detail/standard.hpp>

#include <algorithm>

namespace filch::inline FILCH_ABI::detail {

template <class Sched, class Stop, class Iterator, class Pred, class Proj = std::identity>
std::size_t find_last_if(Stop& stop, input<Iterator> const& in, Pred&& pred, Proj&& proj = Proj{}) {
  input<std::reverse_iterator<Iterator>> const reversed{std::make_reverse_iterator(in.end()), in.length};
  std::size_t const behind = detail::find_where<Sched>(stop, reversed, pred, proj);
  return behind == in.length ? in.length : in.length - 1 - behind;
}
template <class Sched, class Stop, class Iterator, class Pred, class Proj = std::identity>
std::size_t find_last_if_not(Stop& stop, input<Iterator> const& in, Pred&& pred, Proj&& proj = Proj{}) {
  return detail::find_last_if<Sched>(stop, in, negated<std::remove_reference_t<Pred>>{pred}, proj);
}
template <class Sched, class Stop, class Iterator, class Value, class Proj = std::identity>
std::size_t find_last(Stop& stop, input<Iterator> const& in, Value const& value, Proj&& proj = Proj{}) {
  return detail::find_last_if<Sched>(stop, in, equal_to<Value>{value}, proj);
}
template <class Sched, class Stop, class Iterator, class Value, class Proj = std::identity>
bool contains(Stop& stop, input<Iterator> const& in, Value const& value, Proj&& proj = Proj{}) {
  return detail::finds_any<Sched>(stop, in, equal_to<Value>{value}, proj);
}
template <class Sched, class Stop, class Iterator, class Iterator2, class... Fn>
bool contains_subrange(Stop& stop, input<Iterator> const& in, input<Iterator2> const& in2, Fn&&... fn) {
  return in2.length == 0 || detail::find_match<Sched>(stop, in, in2, fn...) != in.length;
}
template <class Sched, class Stop, class Iterator, class Iterator2, class... Fn>
bool starts_with(Stop& stop, input<Iterator> const& in, input<Iterator2> const& in2, Fn&&... fn) {
  return in2.length <= in.length && detail::find_difference<Sched, true>(stop, in, in2, fn...) == k_not_found;
}
template <class Sched, class Stop, class Iterator, class Iterator2, class... Fn>
bool ends_with(Stop& stop, input<Iterator> const& in, input<Iterator2> const& in2, Fn&&... fn) {
  if (in2.length > in.length) return false;
  input<Iterator> const end{in.at(in.length - in2.length), in2.length};
  return detail::find_difference<Sched, true>(stop, end, in2, fn...) == k_not_found;
}

/// Is there an element of in2 that matches?
template <class Iterator, class Iterator2, class Pred, class Proj, class Proj2> struct matches_any {
  input<Iterator2> in2;
  projected_pair_of<Iterator, Iterator2, Pred, Proj, Proj2> test;
  template <class Element> FILCH_INLINE bool operator()(Element&& x) const {
    Iterator2 j = in2.first;
    for (std::size_t left = in2.length; left != 0; --left, static_cast<void>(++j)) {
      if (static_cast<bool>(test(static_cast<std::iter_reference_t<Iterator>>(x), *j))) return true;
    }
    return false;
  }
};
template <class Sched, class Stop, class Iterator, class Iterator2, class Pred = std::equal_to<>,
          class Proj = std::identity, class Proj2 = std::identity>
std::size_t find_first_of(Stop& stop, input<Iterator> const& in, input<Iterator2> const& in2, Pred&& pred = Pred{},
                          Proj&& proj = Proj{}, Proj2&& proj2 = Proj2{}) {
  matches_any<Iterator, Iterator2, std::remove_reference_t<Pred>, std::remove_reference_t<Proj>,
              std::remove_reference_t<Proj2>> const test{in2, {{proj}, {proj2}, {pred}}};
  return detail::find_where<Sched>(stop, in, test);
}

/// Do `count` elements from a position on satisfy the test? They are read from the last one on: a miss rules out all
/// positions up to it. A piece keeps what it knows from stretch to stretch, so it reads no element twice.
template <class Iterator, class Test> struct repeated {
  using value = bool;
  Iterator begin;
  std::size_t count;
  Test test;
  std::size_t lowest = 0;  // no position below it, of those that are left, satisfies
  std::size_t known = 0;   // the elements of [lowest, known) satisfy the test
  template <class Pred> std::size_t first_where(std::size_t first, std::size_t last, Pred pred) {
    std::size_t from = std::max(first, lowest);
    std::size_t passed = std::max(from, known);
    while (from < last) {
      std::size_t at = from + count;
      while (at != passed && static_cast<bool>(test(*detail::iterator_after(begin, at - 1)))) --at;
      if (at == passed) {
        if (pred(true)) return from;
        return last;
      }
      passed = from + count;
      from = at;
    }
    lowest = from;
    known = passed;
    return last;
  }
};
template <class Sched, class Stop, class Iterator, class Value, class Pred = std::equal_to<>,
          class Proj = std::identity>
std::size_t search_n(Stop& stop, input<Iterator> const& in, std::size_t count, Value const& value,
                     Pred&& pred = Pred{}, Proj&& proj = Proj{}) {
  if (count == 0) return 0;
  if (count > in.length) return in.length;
  auto const test = [&](auto&& x) {
    return static_cast<bool>(detail::call_with(pred, detail::call_with(proj, static_cast<decltype(x)>(x)), value));
  };
  std::size_t const places = in.length - count + 1;
  std::size_t const found =
      detail::find_position<Sched>(stop, repeated<Iterator, decltype(test)>{in.first, count, test}, places);
  return found == k_not_found ? in.length : found;
}

template <class Sched, class Stop, class Iterator, class Pred, class Proj = std::identity>
bool is_partitioned(Stop& stop, input<Iterator> const& in, Pred&& pred, Proj&& proj = Proj{}) {
  std::size_t const n = detail::find_where<Sched>(stop, in, negated<std::remove_reference_t<Pred>>{pred}, proj);
  if (stop.was_seen()) return false;
  return !detail::finds_any<Sched>(stop, input<Iterator>{in.at(n), in.length - n}, pred, proj);
}

}  // namespace filch::inline FILCH_ABI::detail

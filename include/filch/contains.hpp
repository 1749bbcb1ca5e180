// More searches. The rules of find.hpp hold.
#pragma once

#include <filch/default_scheduler.hpp>
#include <filch/detail/arguments.hpp>
#include <filch/detail/finding.hpp>
#include <filch/detail/matching.hpp>

namespace filch::inline FILCH_ABI {
namespace detail {

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
template <class Sched, class Stop, class Iterator, class Iterator2, class Pred = std::ranges::equal_to,
          class Proj = std::identity, class Proj2 = std::identity>
std::size_t find_first_of(Stop& stop, input<Iterator> const& in, input<Iterator2> const& in2, Pred&& pred = Pred{},
                          Proj&& proj = Proj{}, Proj2&& proj2 = Proj2{}) {
  matches_any<Iterator, Iterator2, std::remove_reference_t<Pred>, std::remove_reference_t<Proj>,
              std::remove_reference_t<Proj2>> const test{in2, {{proj}, {proj2}, {pred}}};
  return detail::find_where<Sched>(stop, in, test);
}

/// Do `count` elements from a position on satisfy the test? They are read from the last one on: a miss rules out all
/// positions up to it.
template <class Iterator, class Test> struct repeated {
  using value = bool;
  Iterator begin;
  std::size_t count;
  Test test;
  template <class Pred> std::size_t first_where(std::size_t first, std::size_t last, Pred pred) const {
    std::size_t known = first;  // the elements of [first, known) satisfy the test
    while (first < last) {
      std::size_t at = first + count;
      while (at != known && static_cast<bool>(test(*detail::iterator_after(begin, at - 1)))) --at;
      if (at == known) {
        if (pred(true)) return first;
        return last;
      }
      known = std::max(first + count, at);
      first = at;
    }
    return last;
  }
};
template <class Sched, class Stop, class Iterator, class Value, class Pred = std::ranges::equal_to,
          class Proj = std::identity>
std::size_t search_n(Stop& stop, input<Iterator> const& in, std::size_t count, Value const& value,
                     Pred&& pred = Pred{}, Proj&& proj = Proj{}) {
  if (count == 0) return 0;
  if (count > in.length) return in.length;
  auto const test = [&](auto&& x) {
    return static_cast<bool>(std::invoke(pred, std::invoke(proj, static_cast<decltype(x)>(x)), value));
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

}  // namespace detail

/// The last element x of [first, last) for which proj(x) == value; the end if there is none.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          class Value, class Proj = std::identity>
Iterator find_last(Iterator first, Sentinel last, Value const& value, Proj proj = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(first, last);
  return in.at(detail::find_last<Sched>(never, in, value, proj));
}
/// The same for a range.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, class Value,
          class Proj = std::identity>
  requires detail::no_end_of<Value, Range>
std::ranges::borrowed_iterator_t<Range> find_last(Range&& range, Value const& value, Proj proj = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(range);
  return in.at(detail::find_last<Sched>(never, in, value, proj));
}
/// The same with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class... Args>
  requires detail::begins_with_inputs<1, Args...>
auto find_last(Token const& token, Args&&... args) {
  return detail::run_stoppable<1>(
      token,
      [](auto& stop, auto const& in, auto const& value, auto... fn) {
        return detail::not_dangling<Args...>(in.at(detail::find_last<Sched>(stop, in, value, fn...)));
      },
      std::forward<Args>(args)...);
}

/// The last element x of [first, last) for which pred(proj(x)) is true; the end if there is none.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel, class Pred,
          class Proj = std::identity>
Iterator find_last_if(Iterator first, Sentinel last, Pred pred, Proj proj = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(first, last);
  return in.at(detail::find_last_if<Sched>(never, in, pred, proj));
}
/// The same for a range.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, class Pred,
          class Proj = std::identity>
  requires detail::no_end_of<Pred, Range>
std::ranges::borrowed_iterator_t<Range> find_last_if(Range&& range, Pred pred, Proj proj = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(range);
  return in.at(detail::find_last_if<Sched>(never, in, pred, proj));
}
/// The same with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class... Args>
  requires detail::begins_with_inputs<1, Args...>
auto find_last_if(Token const& token, Args&&... args) {
  return detail::run_stoppable<1>(
      token,
      [](auto& stop, auto const& in, auto pred, auto... fn) {
        return detail::not_dangling<Args...>(in.at(detail::find_last_if<Sched>(stop, in, pred, fn...)));
      },
      std::forward<Args>(args)...);
}

/// The last element x of [first, last) for which pred(proj(x)) is false; the end if there is none.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel, class Pred,
          class Proj = std::identity>
Iterator find_last_if_not(Iterator first, Sentinel last, Pred pred, Proj proj = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(first, last);
  return in.at(detail::find_last_if_not<Sched>(never, in, pred, proj));
}
/// The same for a range.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, class Pred,
          class Proj = std::identity>
  requires detail::no_end_of<Pred, Range>
std::ranges::borrowed_iterator_t<Range> find_last_if_not(Range&& range, Pred pred, Proj proj = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(range);
  return in.at(detail::find_last_if_not<Sched>(never, in, pred, proj));
}
/// The same with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class... Args>
  requires detail::begins_with_inputs<1, Args...>
auto find_last_if_not(Token const& token, Args&&... args) {
  return detail::run_stoppable<1>(
      token,
      [](auto& stop, auto const& in, auto pred, auto... fn) {
        return detail::not_dangling<Args...>(in.at(detail::find_last_if_not<Sched>(stop, in, pred, fn...)));
      },
      std::forward<Args>(args)...);
}

/// Is proj(x) == value for an element x of [first, last)?
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          class Value, class Proj = std::identity>
bool contains(Iterator first, Sentinel last, Value const& value, Proj proj = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(first, last);
  return detail::contains<Sched>(never, in, value, proj);
}
/// The same for a range.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, class Value,
          class Proj = std::identity>
  requires detail::no_end_of<Value, Range>
bool contains(Range&& range, Value const& value, Proj proj = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(range);
  return detail::contains<Sched>(never, in, value, proj);
}
/// The same with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class... Args>
  requires detail::begins_with_inputs<1, Args...>
std::optional<bool> contains(Token const& token, Args&&... args) {
  return detail::run_stoppable<1>(
      token,
      [](auto& stop, auto const& in, auto const& value, auto... fn) {
        return detail::contains<Sched>(stop, in, value, fn...);
      },
      std::forward<Args>(args)...);
}

/// Are all elements x of [first, last) for which pred(proj(x)) is true before all others? Complexity: at most n calls
/// of pred, and one more.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel, class Pred,
          class Proj = std::identity>
bool is_partitioned(Iterator first, Sentinel last, Pred pred, Proj proj = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(first, last);
  return detail::is_partitioned<Sched>(never, in, pred, proj);
}
/// The same for a range.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, class Pred,
          class Proj = std::identity>
  requires detail::no_end_of<Pred, Range>
bool is_partitioned(Range&& range, Pred pred, Proj proj = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(range);
  return detail::is_partitioned<Sched>(never, in, pred, proj);
}
/// The same with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class... Args>
  requires detail::begins_with_inputs<1, Args...>
std::optional<bool> is_partitioned(Token const& token, Args&&... args) {
  return detail::run_stoppable<1>(
      token,
      [](auto& stop, auto const& in, auto pred, auto... fn) {
        return detail::is_partitioned<Sched>(stop, in, pred, fn...);
      },
      std::forward<Args>(args)...);
}

/// Does a part of [first, last) match [first2, last2), as `search` finds it?
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          class Iterator2, sized_random_access_end<Iterator2> Sentinel2, class Pred = std::ranges::equal_to,
          class Proj = std::identity, class Proj2 = std::identity>
bool contains_subrange(Iterator first, Sentinel last, Iterator2 first2, Sentinel2 last2, Pred pred = {},
                       Proj proj = {}, Proj2 proj2 = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(first, last);
  return detail::contains_subrange<Sched>(never, in, detail::input_of(first2, last2), pred, proj, proj2);
}
/// The same for ranges.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, sized_random_access_range Range2,
          class Pred = std::ranges::equal_to, class Proj = std::identity, class Proj2 = std::identity>
bool contains_subrange(Range&& range, Range2&& range2, Pred pred = {}, Proj proj = {}, Proj2 proj2 = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(range);
  return detail::contains_subrange<Sched>(never, in, detail::input_of(range2), pred, proj, proj2);
}
/// The same with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class First, class Arg1,
          class Arg2 = detail::absent, class Arg3 = detail::absent, class Arg4 = detail::absent,
          class Arg5 = detail::absent, class Arg6 = detail::absent>
  requires detail::begins_with_inputs<2, First, Arg1, Arg2, Arg3, Arg4, Arg5, Arg6>
auto contains_subrange(Token const& token, First&& first, Arg1&& a, Arg2&& b = {}, Arg3&& c = {}, Arg4&& d = {},
                       Arg5&& e = {}, Arg6&& f = {}) {
  return detail::run_stoppable<2, detail::defaults<std::ranges::equal_to, std::identity, std::identity>>(
      token,
      [](auto& stop, auto const& in, auto const& in2, auto... fn) {
        return detail::contains_subrange<Sched>(stop, in, in2, fn...);
      },
      std::forward<First>(first), std::forward<Arg1>(a), std::forward<Arg2>(b), std::forward<Arg3>(c),
      std::forward<Arg4>(d), std::forward<Arg5>(e), std::forward<Arg6>(f));
}

/// Does [first, last) begin with elements that match all of [first2, last2)?
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          class Iterator2, sized_random_access_end<Iterator2> Sentinel2, class Pred = std::ranges::equal_to,
          class Proj = std::identity, class Proj2 = std::identity>
bool starts_with(Iterator first, Sentinel last, Iterator2 first2, Sentinel2 last2, Pred pred = {}, Proj proj = {},
                 Proj2 proj2 = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(first, last);
  return detail::starts_with<Sched>(never, in, detail::input_of(first2, last2), pred, proj, proj2);
}
/// The same for ranges.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, sized_random_access_range Range2,
          class Pred = std::ranges::equal_to, class Proj = std::identity, class Proj2 = std::identity>
bool starts_with(Range&& range, Range2&& range2, Pred pred = {}, Proj proj = {}, Proj2 proj2 = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(range);
  return detail::starts_with<Sched>(never, in, detail::input_of(range2), pred, proj, proj2);
}
/// The same with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class First, class Arg1,
          class Arg2 = detail::absent, class Arg3 = detail::absent, class Arg4 = detail::absent,
          class Arg5 = detail::absent, class Arg6 = detail::absent>
  requires detail::begins_with_inputs<2, First, Arg1, Arg2, Arg3, Arg4, Arg5, Arg6>
auto starts_with(Token const& token, First&& first, Arg1&& a, Arg2&& b = {}, Arg3&& c = {}, Arg4&& d = {},
                 Arg5&& e = {}, Arg6&& f = {}) {
  return detail::run_stoppable<2, detail::defaults<std::ranges::equal_to, std::identity, std::identity>>(
      token,
      [](auto& stop, auto const& in, auto const& in2, auto... fn) {
        return detail::starts_with<Sched>(stop, in, in2, fn...);
      },
      std::forward<First>(first), std::forward<Arg1>(a), std::forward<Arg2>(b), std::forward<Arg3>(c),
      std::forward<Arg4>(d), std::forward<Arg5>(e), std::forward<Arg6>(f));
}

/// Does [first, last) end with elements that match all of [first2, last2)?
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          class Iterator2, sized_random_access_end<Iterator2> Sentinel2, class Pred = std::ranges::equal_to,
          class Proj = std::identity, class Proj2 = std::identity>
bool ends_with(Iterator first, Sentinel last, Iterator2 first2, Sentinel2 last2, Pred pred = {}, Proj proj = {},
               Proj2 proj2 = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(first, last);
  return detail::ends_with<Sched>(never, in, detail::input_of(first2, last2), pred, proj, proj2);
}
/// The same for ranges.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, sized_random_access_range Range2,
          class Pred = std::ranges::equal_to, class Proj = std::identity, class Proj2 = std::identity>
bool ends_with(Range&& range, Range2&& range2, Pred pred = {}, Proj proj = {}, Proj2 proj2 = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(range);
  return detail::ends_with<Sched>(never, in, detail::input_of(range2), pred, proj, proj2);
}
/// The same with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class First, class Arg1,
          class Arg2 = detail::absent, class Arg3 = detail::absent, class Arg4 = detail::absent,
          class Arg5 = detail::absent, class Arg6 = detail::absent>
  requires detail::begins_with_inputs<2, First, Arg1, Arg2, Arg3, Arg4, Arg5, Arg6>
auto ends_with(Token const& token, First&& first, Arg1&& a, Arg2&& b = {}, Arg3&& c = {}, Arg4&& d = {},
               Arg5&& e = {}, Arg6&& f = {}) {
  return detail::run_stoppable<2, detail::defaults<std::ranges::equal_to, std::identity, std::identity>>(
      token,
      [](auto& stop, auto const& in, auto const& in2, auto... fn) {
        return detail::ends_with<Sched>(stop, in, in2, fn...);
      },
      std::forward<First>(first), std::forward<Arg1>(a), std::forward<Arg2>(b), std::forward<Arg3>(c),
      std::forward<Arg4>(d), std::forward<Arg5>(e), std::forward<Arg6>(f));
}

/// The first element x of [first, last) for which pred(proj(x), proj2(y)) is true for an element y of [first2,
/// last2); the end if there is none. Complexity: at most n m calls of pred.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          class Iterator2, sized_random_access_end<Iterator2> Sentinel2, class Pred = std::ranges::equal_to,
          class Proj = std::identity, class Proj2 = std::identity>
Iterator find_first_of(Iterator first, Sentinel last, Iterator2 first2, Sentinel2 last2, Pred pred = {},
                       Proj proj = {}, Proj2 proj2 = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(first, last);
  return in.at(detail::find_first_of<Sched>(never, in, detail::input_of(first2, last2), pred, proj, proj2));
}
/// The same for ranges.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, sized_random_access_range Range2,
          class Pred = std::ranges::equal_to, class Proj = std::identity, class Proj2 = std::identity>
std::ranges::borrowed_iterator_t<Range> find_first_of(Range&& range, Range2&& range2, Pred pred = {}, Proj proj = {},
                                                      Proj2 proj2 = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(range);
  return in.at(detail::find_first_of<Sched>(never, in, detail::input_of(range2), pred, proj, proj2));
}
/// The same with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class First, class Arg1,
          class Arg2 = detail::absent, class Arg3 = detail::absent, class Arg4 = detail::absent,
          class Arg5 = detail::absent, class Arg6 = detail::absent>
  requires detail::begins_with_inputs<2, First, Arg1, Arg2, Arg3, Arg4, Arg5, Arg6>
auto find_first_of(Token const& token, First&& first, Arg1&& a, Arg2&& b = {}, Arg3&& c = {}, Arg4&& d = {},
                   Arg5&& e = {}, Arg6&& f = {}) {
  return detail::run_stoppable<2, detail::defaults<std::ranges::equal_to, std::identity, std::identity>>(
      token,
      [](auto& stop, auto const& in, auto const& in2, auto... fn) {
        return detail::not_dangling<First, Arg1, Arg2, Arg3, Arg4, Arg5, Arg6>(
            in.at(detail::find_first_of<Sched>(stop, in, in2, fn...)));
      },
      std::forward<First>(first), std::forward<Arg1>(a), std::forward<Arg2>(b), std::forward<Arg3>(c),
      std::forward<Arg4>(d), std::forward<Arg5>(e), std::forward<Arg6>(f));
}

/// The first of the first `count` neighbours x of [first, last) for which pred(proj(x), value) is true; the end if
/// there are none; first if count is 0 or less. Complexity: about n calls of pred on one worker, at most count more
/// for each stretch of another one.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          class Value, class Pred = std::ranges::equal_to, class Proj = std::identity>
Iterator search_n(Iterator first, Sentinel last, std::iter_difference_t<Iterator> count, Value const& value,
                  Pred pred = {}, Proj proj = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(first, last);
  return in.at(
      detail::search_n<Sched>(never, in, count > 0 ? static_cast<std::size_t>(count) : 0, value, pred, proj));
}
/// The same for a range. Returns the neighbours; an empty subrange at the end if there are none.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, class Value,
          class Pred = std::ranges::equal_to, class Proj = std::identity>
  requires detail::has_subranges
std::ranges::borrowed_subrange_t<Range> search_n(Range&& range, std::ranges::range_difference_t<Range> count,
                                                 Value const& value, Pred pred = {}, Proj proj = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(range);
  std::size_t const n = count > 0 ? static_cast<std::size_t>(count) : 0;
  return detail::part_of<Range>(in, detail::search_n<Sched>(never, in, n, value, pred, proj), n);
}
/// The same with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class... Args>
  requires detail::begins_with_inputs<1, Args...>
auto search_n(Token const& token, Args&&... args) {
  return detail::run_stoppable<1>(
      token,
      [](auto& stop, auto const& in, auto count, auto const& value, auto... fn) {
        std::size_t const n = count > 0 ? static_cast<std::size_t>(count) : 0;
        return detail::part_found<Args...>(in, detail::search_n<Sched>(stop, in, n, value, fn...), n);
      },
      std::forward<Args>(args)...);
}

}  // namespace filch::inline FILCH_ABI

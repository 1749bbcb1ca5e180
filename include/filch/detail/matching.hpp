// Searches for a part of a range that matches another range.
#pragma once

#include <filch/detail/arguments.hpp>
#include <filch/detail/finding.hpp>

#include <algorithm>
#include <cstdint>

namespace filch::inline FILCH_ABI::detail {

/// Is the second of two neighbours less than the first?
template <class Comp> struct descent {
  Comp& comp;
  template <class Element, class Element2> FILCH_INLINE bool operator()(Element&& x, Element2&& y) const {
    return static_cast<bool>(detail::call_with(comp, static_cast<Element2&&>(y), static_cast<Element&&>(x)));
  }
};
template <class Comp> descent(Comp&) -> descent<Comp>;

/// The length of the longest sorted range at the beginning of `in`.
template <class Sched, class Stop, class Iterator, class Comp = std::less<>, class Proj = std::identity>
std::size_t sorted_length(Stop& stop, input<Iterator> const& in, Comp&& comp = Comp{}, Proj&& proj = Proj{}) {
  return std::min(in.length, detail::find_adjacent<Sched>(stop, in, descent{comp}, proj) + 1);
}
template <class Sched, class Stop, class Iterator, class Comp = std::less<>, class Proj = std::identity>
bool is_sorted(Stop& stop, input<Iterator> const& in, Comp&& comp = Comp{}, Proj&& proj = Proj{}) {
  return detail::find_pair<Sched, true>(stop, in, descent{comp}, proj) == k_not_found;
}

/// Does `in`, from a position on, match all of in2, which is not empty?
template <class Iterator, class Iterator2, class Test> struct match_at {
  using value = bool;
  static constexpr std::size_t k_turn =
      points_to_numbers<Iterator> && points_to_numbers<Iterator2> && is_arithmetic_function<Test> ? k_arithmetic_turn
                                                                                                  : 1;
  /// Does it look for numbers in memory?
  static constexpr bool k_seeks_number = point_to_same_numbers<Iterator, Iterator2> &&
                                         vector_number<std::iter_value_t<Iterator>> &&
                                         is_equality<Test, std::iter_value_t<Iterator>>;
  static constexpr std::int32_t k_often = 16;
  static constexpr std::int32_t k_least_surplus = -(1 << 20);
  Iterator first;
  Iterator2 first2;
  std::size_t length2;
  Test test;
  std::size_t from_above;  // 0, or the length of the search: then position 0 is the last place
  // Kept from stretch to stretch, since those of a dear test are short; a word, since it is copied around each.
  bool seeks_last = from_above != 0;  // the last element of in2, else the first
  std::int32_t surplus = 0;           // k_often times the places where that was found, less all places

  Iterator place(std::size_t position) const {
    return detail::iterator_after(first, from_above == 0 ? position : from_above - 1 - position);
  }
  /// Do the elements from `i` on match all of in2? That at `matched` does.
  bool rest_matches(Iterator const& i, std::size_t matched) const {
    for (std::size_t n = 0; n != length2; ++n) {
      std::size_t const at = matched == 0 ? n : length2 - 1 - n;
      if (at != matched &&
          !static_cast<bool>(test(*detail::iterator_after(i, at), *detail::iterator_after(first2, at))))
        return false;
    }
    return true;
  }
  /// Most places differ in one element: a loop of its own. It is the first of in2, and from above the last, as in
  /// std's functions; the other one where that matches often.
  template <class Pred> FILCH_INLINE std::size_t first_where(std::size_t begin, std::size_t last, Pred pred) {
    std::size_t known = seeks_last ? length2 - 1 : 0;
    std::size_t since = begin;
    for (; begin != last; ++begin) {
      Iterator const i = detail::iterator_after(place(begin), known);
      Iterator2 const wanted = detail::iterator_after(first2, known);
      std::size_t const n = last - begin;
      std::size_t const skipped =
          from_above == 0 ? places_skipped<1>(i, wanted, n) : places_skipped<-1>(i, wanted, n);
      begin += skipped;
      if (skipped == n) break;
      if (pred(rest_matches(place(begin), known))) break;
      surplus += k_often;
      if (surplus > static_cast<std::int32_t>(begin - since) + 2 * k_often) {
        seeks_last = !seeks_last;
        known = length2 - 1 - known;
        surplus = 0;
        since = begin;
      }
    }
    surplus = std::max(surplus - static_cast<std::int32_t>(begin - since), k_least_surplus);
    return begin;
  }
  /// The number of the n elements from i on, up or down, before the first one that matches that of in2.
  /// Four at a time, as elements::first_where.
  template <int Step>
  FILCH_INLINE std::size_t places_skipped(Iterator const& i, Iterator2 const& of, std::size_t n) const {
    constexpr bool k_is_number = points_to_numbers<Iterator2>;  // which is kept in a register
    [[maybe_unused]] std::conditional_t<k_is_number, std::iter_value_t<Iterator2>, nothing> wanted{};
    if constexpr (k_is_number) wanted = *of;
    Iterator at = i;
    std::size_t const all = n;
    if constexpr (k_seeks_number) {
      number_blocks<std::iter_value_t<Iterator2>> const blocks(wanted);
      std::size_t const skipped =
          Step > 0 ? blocks.skip_up(std::to_address(i), n) : blocks.skip_down(std::to_address(i) + 1, n);
      if (skipped == n) return n;  // the next place may not be one
      at = i + Step * static_cast<std::iter_difference_t<Iterator>>(skipped);
      n -= skipped;
    }
    auto const matches = [&] {
      if constexpr (k_is_number) {
        return static_cast<bool>(test(*at, static_cast<std::iter_reference_t<Iterator2>>(wanted)));
      } else {
        return static_cast<bool>(test(*at, *of));
      }
    };
    auto const places = [&] { return static_cast<std::size_t>(Step > 0 ? at - i : i - at); };
    for (std::size_t left = n / 4; left != 0; --left) {
      if (matches()) return places();
      at += Step;
      if (matches()) return places();
      at += Step;
      if (matches()) return places();
      at += Step;
      if (matches()) return places();
      if (left == 1 && n % 4 == 0) return all;  // the next place may not be one
      at += Step;
    }
    for (std::size_t left = n % 4; left != 0; --left) {
      if (matches()) return places();
      if (left != 1) at += Step;
    }
    return all;
  }
};

template <class Sched, bool FromAbove, class Stop, class Iterator, class Iterator2, class Pred, class Proj,
          class Proj2>
std::size_t find_any_match(Stop& stop, input<Iterator> const& in, input<Iterator2> const& in2, Pred& pred, Proj& proj,
                           Proj2& proj2) {
  if (in2.length > in.length) return in.length;
  std::size_t const places = in.length - in2.length + 1;
  projected_pair_of<Iterator, Iterator2, Pred, Proj, Proj2> const test{{proj}, {proj2}, {pred}};
  match_at<Iterator, Iterator2, decltype(test)> const source{in.first, in2.first, in2.length, test,
                                                             FromAbove ? places : 0};
  std::size_t const found = detail::find_position<Sched>(stop, source, places);
  if (found == k_not_found) return in.length;
  return FromAbove ? places - 1 - found : found;
}

/// The position of the first part of `in` that matches in2; the length if there is none.
template <class Sched, class Stop, class Iterator, class Iterator2, class Pred = std::equal_to<>,
          class Proj = std::identity, class Proj2 = std::identity>
std::size_t find_match(Stop& stop, input<Iterator> const& in, input<Iterator2> const& in2, Pred&& pred = Pred{},
                       Proj&& proj = Proj{}, Proj2&& proj2 = Proj2{}) {
  if (in2.length == 0) return 0;
  return detail::find_any_match<Sched, false>(stop, in, in2, pred, proj, proj2);
}
/// The same for the last part.
template <class Sched, class Stop, class Iterator, class Iterator2, class Pred = std::equal_to<>,
          class Proj = std::identity, class Proj2 = std::identity>
std::size_t find_last_match(Stop& stop, input<Iterator> const& in, input<Iterator2> const& in2, Pred&& pred = Pred{},
                            Proj&& proj = Proj{}, Proj2&& proj2 = Proj2{}) {
  if (in2.length == 0) return in.length;
  return detail::find_any_match<Sched, true>(stop, in, in2, pred, proj, proj2);
}

/// The part of `in` of that length from `position` on; an empty one if that is the end.
template <class Range, class Iterator>
std::ranges::borrowed_subrange_t<Range> part_of(input<Iterator> const& in, std::size_t position, std::size_t length) {
  if constexpr (std::ranges::borrowed_range<Range>) {
    return {in.at(position), in.at(position == in.length ? position : position + length)};
  } else {
    return {};
  }
}

/// The result of a search: the part for a range, its position for a pair of iterators.
template <class First, class... Rest, class Iterator>
auto part_found(input<Iterator> const& in, std::size_t position, std::size_t length) {
  if constexpr (begins_with_range<First, Rest...>) {
    return detail::part_of<First>(in, position, length);
  } else {
    return in.at(position);
  }
}

}  // namespace filch::inline FILCH_ABI::detail

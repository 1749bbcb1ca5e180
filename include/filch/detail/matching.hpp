// Searches for a part of a range that matches another range.
#pragma once

#include <filch/detail/arguments.hpp>
#include <filch/detail/finding.hpp>

namespace filch::inline FILCH_ABI::detail {

/// Is the second of two neighbours less than the first?
template <class Comp> struct descent {
  Comp& comp;
  template <class Element, class Element2> FILCH_INLINE bool operator()(Element&& x, Element2&& y) const {
    return static_cast<bool>(std::invoke(comp, static_cast<Element2&&>(y), static_cast<Element&&>(x)));
  }
};
template <class Comp> descent(Comp&) -> descent<Comp>;

/// The length of the longest sorted range at the beginning of `in`.
template <class Sched, class Stop, class Iterator, class Comp = std::ranges::less, class Proj = std::identity>
std::size_t sorted_length(Stop& stop, input<Iterator> const& in, Comp&& comp = Comp{}, Proj&& proj = Proj{}) {
  return std::min(in.length, detail::find_adjacent<Sched>(stop, in, descent{comp}, proj) + 1);
}
template <class Sched, class Stop, class Iterator, class Comp = std::ranges::less, class Proj = std::identity>
bool is_sorted(Stop& stop, input<Iterator> const& in, Comp&& comp = Comp{}, Proj&& proj = Proj{}) {
  return detail::find_pair<Sched, true>(stop, in, descent{comp}, proj) == k_not_found;
}

/// Does `in`, from `position` on, match all of in2?
template <class Iterator, class Iterator2, class Test> struct match_at {
  using value = bool;
  Iterator first;
  Iterator2 first2;
  std::size_t length2;
  Test test;
  std::size_t from_above;  // 0, or the length of the search: then position 0 is the last place

  FILCH_INLINE bool at(std::size_t position) const {
    std::size_t const place = from_above == 0 ? position : from_above - 1 - position;
    Iterator i = detail::iterator_after(first, place);
    Iterator2 j = first2;
    for (std::size_t n = 0; n != length2; ++n, static_cast<void>(++i), static_cast<void>(++j)) {
      if (!static_cast<bool>(test(*i, *j))) return false;
    }
    return true;
  }
  template <class Pred> FILCH_INLINE std::size_t first_where(std::size_t begin, std::size_t last, Pred pred) const {
    while (begin != last && !pred(at(begin))) ++begin;
    return begin;
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
template <class Sched, class Stop, class Iterator, class Iterator2, class Pred = std::ranges::equal_to,
          class Proj = std::identity, class Proj2 = std::identity>
std::size_t find_match(Stop& stop, input<Iterator> const& in, input<Iterator2> const& in2, Pred&& pred = Pred{},
                       Proj&& proj = Proj{}, Proj2&& proj2 = Proj2{}) {
  if (in2.length == 0) return 0;
  return detail::find_any_match<Sched, false>(stop, in, in2, pred, proj, proj2);
}
/// The same for the last part.
template <class Sched, class Stop, class Iterator, class Iterator2, class Pred = std::ranges::equal_to,
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

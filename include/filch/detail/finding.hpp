// Searches: the lowest position that a predicate takes. The pieces above a hit end after their stretch.
#pragma once

#include <filch/detail/converting.hpp>
#include <filch/detail/pieces.hpp>
#include <filch/detail/ranges.hpp>

#include <algorithm>
#include <limits>

namespace filch::inline FILCH_ABI::detail {

inline constexpr std::size_t k_not_found = std::numeric_limits<std::size_t>::max();

/// The values of Source are booleans. Any true one ends all pieces if `Any`, else those above it.
template <class Source, bool Any> struct finding_piece {
  static constexpr bool k_ends_all = Any;
  Source in;
  std::size_t begin = 0;
  std::size_t end = 0;    // the positions of [begin, end) have run, and are false
  bool is_found = false;  // is position `end` true, or any position if `Any`?

  bool run(std::size_t first, std::size_t last) {
    end = in.first_where(first, last, [](auto&& x) { return static_cast<bool>(x); });
    is_found = end != last;
    return !is_found;
  }
  finding_piece split(std::size_t middle, std::size_t) const { return {in, middle, middle}; }
  void merge(finding_piece const& upper) noexcept {
    if (is_found) return;
    if (Any || end == upper.begin) {
      end = upper.end;
      is_found = upper.is_found;
    }
  }
  /// After a request to stop, a hit is the lowest one if all positions below it have run.
  void abandon(finding_piece const& upper) noexcept { merge(upper); }
};

/// The lowest position of n, or any one, whose value is true; k_not_found if there is none. A position that was found
/// is the result also after a request to stop.
template <class Sched, bool Any = false, class Stop, class Source>
std::size_t find_position(Stop& stop, Source const& in, std::size_t n) {
  finding_piece<Source, Any> piece{in};
  detail::run_pieces<Sched>(0, n, piece, stop);
  if (!piece.is_found) return k_not_found;
  stop.forget();
  return piece.end;
}

/// Is x equal to a value? The caller's value, in place.
template <class Value> struct equal_to {
  Value const& value;
  template <class Element> FILCH_INLINE bool operator()(Element&& x) const {
    if constexpr (are_numbers<Value, Element>) {  // the conversions of ==, so no compiler warns of a sign
      using common = std::common_type_t<Value, std::remove_cvref_t<Element>>;
      return std::equal_to<common>()(static_cast<common>(x), static_cast<common>(value));
    } else {
      return static_cast<Element&&>(x) == value;
    }
  }
};
template <class Value> equal_to(Value const&) -> equal_to<Value>;
template <class Value> inline constexpr bool is_arithmetic_function<equal_to<Value>> = std::is_arithmetic_v<Value>;
template <class Reference, class Value, class Proj, vector_number Number>
  requires(is_identity<Proj> && std::is_arithmetic_v<Value> &&
           std::is_same_v<std::common_type_t<Value, Number>, Number>)
struct compared_number<projected<Reference, equal_to<Value>, Proj>, Number> {
  static constexpr bool is_there = true;
  static Number of(projected<Reference, equal_to<Value>, Proj> const& fn) noexcept {
    return static_cast<Number>(fn.pred.f.value);
  }
};

/// The opposite of a predicate.
template <class Pred> struct negated {
  Pred& pred;
  template <class... Element> FILCH_INLINE bool operator()(Element&&... x) const {
    return !static_cast<bool>(detail::call_with(pred, static_cast<Element&&>(x)...));
  }
};
template <class Pred> negated(Pred&) -> negated<Pred>;

/// The lowest position of `in` whose projection pred takes; its length if there is none.
template <class Sched, class Stop, class Iterator, class Pred, class Proj = std::identity>
std::size_t find_where(Stop& stop, input<Iterator> const& in, Pred&& pred, Proj&& proj = Proj{}) {
  projected_of<Iterator, std::remove_reference_t<Pred>, std::remove_reference_t<Proj>> const test{{proj}, {pred}};
  return std::min(in.length, detail::find_position<Sched>(stop, elements(in.first, test), in.length));
}

/// Does pred take the projection of any element?
template <class Sched, class Stop, class Iterator, class Pred, class Proj = std::identity>
bool finds_any(Stop& stop, input<Iterator> const& in, Pred&& pred, Proj&& proj = Proj{}) {
  projected_of<Iterator, std::remove_reference_t<Pred>, std::remove_reference_t<Proj>> const test{{proj}, {pred}};
  return detail::find_position<Sched, true>(stop, elements(in.first, test), in.length) != k_not_found;
}

/// The lowest position, or any one, at which the projections of two inputs do not match; k_not_found if there is
/// none.
template <class Sched, bool Any, class Stop, class Iterator, class Iterator2, class Pred = std::equal_to<>,
          class Proj = std::identity, class Proj2 = std::identity>
std::size_t find_difference(Stop& stop, input<Iterator> const& in, input<Iterator2> const& in2, Pred&& pred = Pred{},
                            Proj&& proj = Proj{}, Proj2&& proj2 = Proj2{}) {
  negated const differ{pred};
  projected_pair_of<Iterator, Iterator2, decltype(differ), std::remove_reference_t<Proj>,
                    std::remove_reference_t<Proj2>> const test{{proj}, {proj2}, {differ}};
  return detail::find_position<Sched, Any>(stop, element_pairs(in.first, in2.first, test),
                                           std::min(in.length, in2.length));
}

/// The lowest position at which two inputs do not match; the length of the shorter if there is none.
template <class Sched, class Stop, class Iterator, class Iterator2, class... Fn>
std::size_t find_mismatch(Stop& stop, input<Iterator> const& in, input<Iterator2> const& in2, Fn&&... fn) {
  return std::min({in.length, in2.length, detail::find_difference<Sched, false>(stop, in, in2, fn...)});
}

template <class Sched, class Stop, class Iterator, class Iterator2, class... Fn>
bool are_equal(Stop& stop, input<Iterator> const& in, input<Iterator2> const& in2, Fn&&... fn) {
  return in.length == in2.length && detail::find_difference<Sched, true>(stop, in, in2, fn...) == k_not_found;
}

/// The lowest position, or any one, whose projection and the next one pred takes; k_not_found if there is none.
template <class Sched, bool Any, class Stop, class Iterator, class Pred = std::equal_to<>, class Proj = std::identity>
std::size_t find_pair(Stop& stop, input<Iterator> const& in, Pred&& pred = Pred{}, Proj&& proj = Proj{}) {
  if (in.length < 2) return k_not_found;
  projected_pair_of<Iterator, Iterator, std::remove_reference_t<Pred>, std::remove_reference_t<Proj>,
                    std::remove_reference_t<Proj>> const test{{proj}, {proj}, {pred}};
  return detail::find_position<Sched, Any>(stop, element_pairs(in.first, in.at(1), test), in.length - 1);
}

/// The lowest position whose projection and the next one pred takes; the length if there is none.
template <class Sched, class Stop, class Iterator, class... Fn>
std::size_t find_adjacent(Stop& stop, input<Iterator> const& in, Fn&&... fn) {
  return std::min(in.length, detail::find_pair<Sched, false>(stop, in, fn...));
}

}  // namespace filch::inline FILCH_ABI::detail

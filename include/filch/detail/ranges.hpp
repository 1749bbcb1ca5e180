// The inputs of algorithms: ranges and iterator pairs that are sized and have random access. A piece reaches the
// elements of its positions through `elements` or `element_pairs`.
#pragma once

#include <filch/detail/body.hpp>
#include <filch/detail/lengths.hpp>
#include <filch/detail/number_blocks.hpp>
#include <filch/detail/standard.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace filch::inline FILCH_ABI {

/// A range that can be split at any position in constant time. The inputs of all algorithms are such ranges. A range
/// without random access, such as a list, can be traversed by one worker only: use the standard's algorithm.
template <class Range>
concept sized_random_access_range = std::ranges::random_access_range<Range> && std::ranges::sized_range<Range>;

/// The end of a pair of iterators that can be split at any position in constant time.
template <class Sentinel, class Iterator>
concept sized_random_access_end =
    std::random_access_iterator<Iterator> && std::sized_sentinel_for<Sentinel, Iterator>;

namespace detail {

/// Is Next, the argument behind Range, no end of a pair of iterators? (A range may be an array, which is its first
/// iterator, too.)
template <class Next, class Range>
concept no_end_of = !sized_random_access_end<std::remove_cvref_t<Next>, std::decay_t<Range>>;

/// Can this compiler make the library's std::ranges::subrange? Clang before 16 can't make that of libstdc++.
#if defined(__clang__) && defined(__GLIBCXX__)
inline constexpr bool has_subranges = __clang_major__ >= 16;
#else
inline constexpr bool has_subranges = true;
#endif

/// The iterator `n` positions after `first`.
template <class Iterator> FILCH_INLINE Iterator iterator_after(Iterator const& first, std::size_t n) {
  return first + static_cast<std::iter_difference_t<Iterator>>(n);
}
/// The number of elements of [first, last). None if it is reversed. Throws std::length_error if it has 2^64 or more.
template <class Iterator, class Sentinel>
FILCH_INLINE std::size_t length_of(Iterator const& first, Sentinel const& last) {
  auto const n = last - first;
  return n > 0 ? detail::checked_length(n) : 0;
}
template <class Range> FILCH_INLINE std::size_t length_of(Range& range) {
  return detail::checked_length(std::ranges::size(range));
}

/// A range or a pair of iterators, as algorithms see it.
template <class Iterator> struct input {
  using iterator = Iterator;
  Iterator first;
  std::size_t length;
  Iterator at(std::size_t position) const { return detail::iterator_after(first, position); }
  Iterator end() const { return at(length); }
};
template <class Iterator, sized_random_access_end<Iterator> Sentinel>
FILCH_INLINE input<Iterator> input_of(Iterator first, Sentinel const& last) {
  std::size_t const length = detail::length_of(first, last);
  return {std::move(first), length};
}
template <sized_random_access_range Range> FILCH_INLINE auto input_of(Range&& range) {
  return input<std::ranges::iterator_t<Range>>{std::ranges::begin(range), detail::length_of(range)};
}

/// Is Fn a function of the standard or of this library that costs an instruction or so, where its arguments are
/// numbers?
template <class Fn> inline constexpr bool is_arithmetic_function = false;
template <class Fn> inline constexpr bool is_arithmetic_function<Fn const> = is_arithmetic_function<Fn>;
template <> inline constexpr bool is_arithmetic_function<std::identity> = true;
template <> inline constexpr bool is_arithmetic_function<std::ranges::equal_to> = true;
template <> inline constexpr bool is_arithmetic_function<std::equal_to<>> = true;
template <class Number> inline constexpr bool is_arithmetic_function<std::plus<Number>> = true;
template <class Number> inline constexpr bool is_arithmetic_function<std::minus<Number>> = true;
template <class Number> inline constexpr bool is_arithmetic_function<std::multiplies<Number>> = true;
template <class Number> inline constexpr bool is_arithmetic_function<std::negate<Number>> = true;

/// Does Iterator point to numbers in memory?
template <class Iterator>
inline constexpr bool points_to_numbers =
    std::contiguous_iterator<Iterator> && std::is_arithmetic_v<std::iter_value_t<Iterator>>;

/// Positions of a turn of a loop without functions of the user.
inline constexpr std::size_t k_arithmetic_turn = 16;

/// A reference to a bit. In C++20 a const one takes no value, but a copy of it does.
template <class Ref>
concept bit_reference = std::is_class_v<Ref> && std::convertible_to<Ref const&, bool> && requires(Ref bit) {
  bit = true;
  bit.flip();
};

/// The type in which a Result for an element is kept: the element's, if it is the reference that stands for one.
template <class Iterator, class Result>
using kept_as = std::conditional_t<
    std::is_same_v<std::remove_cvref_t<Result>, std::remove_cvref_t<std::iter_reference_t<Iterator>>>,
    std::iter_value_t<Iterator>, std::remove_cvref_t<Result>>;
template <class Iterator, class Fn>
using kept_result_of = kept_as<Iterator, std::invoke_result_t<Fn&, std::iter_reference_t<Iterator>>>;

/// Can Pred be called for the projections of elements? (std::indirect_unary_predicate wants one that can be copied.)
template <class Pred, class Iterator, class Proj>
concept predicate_for = std::predicate<Pred&, std::indirect_result_t<Proj&, Iterator>>;

/// pred(proj(x)), as a condition. If it is a value, `pass` gives it to a function: it may refer to x, or to a
/// projection that ends with the expression.
template <class Reference, class Pred, class Proj> struct projected {
  [[no_unique_address]] body_of<Proj, Reference> proj;
  [[no_unique_address]] body_of<Pred, std::invoke_result_t<Proj&, Reference>> pred;
  FILCH_INLINE bool operator()(Reference&& x) const {
    return static_cast<bool>(pred(proj(static_cast<Reference&&>(x))));
  }
  template <class Callee> FILCH_INLINE decltype(auto) pass(Callee& g, Reference&& x) const {
    return g(pred(proj(static_cast<Reference&&>(x))));
  }
};
/// The same for pred(proj(x), proj2(y)).
template <class Reference, class Reference2, class Pred, class Proj, class Proj2> struct projected_pair {
  [[no_unique_address]] body_of<Proj, Reference> proj;
  [[no_unique_address]] body_of<Proj2, Reference2> proj2;
  [[no_unique_address]] body_of<Pred, std::invoke_result_t<Proj&, Reference>,
                                std::invoke_result_t<Proj2&, Reference2>> pred;
  FILCH_INLINE bool operator()(Reference&& x, Reference2&& y) const {
    return static_cast<bool>(pred(proj(static_cast<Reference&&>(x)), proj2(static_cast<Reference2&&>(y))));
  }
  template <class Callee> FILCH_INLINE decltype(auto) pass(Callee& g, Reference&& x, Reference2&& y) const {
    return g(pred(proj(static_cast<Reference&&>(x)), proj2(static_cast<Reference2&&>(y))));
  }
};

template <class Fn> inline constexpr bool is_projected = false;
template <class Fn> inline constexpr bool is_projected<Fn const> = is_projected<Fn>;
template <class Reference, class Pred, class Proj>
inline constexpr bool is_projected<projected<Reference, Pred, Proj>> = true;
template <class Reference, class Reference2, class Pred, class Proj, class Proj2>
inline constexpr bool is_projected<projected_pair<Reference, Reference2, Pred, Proj, Proj2>> = true;

/// g(f(x...)) in one expression: what f returns may refer to x, or to a projection of it.
template <class Fn, class Body, class Callee, class... Elements>
FILCH_INLINE decltype(auto) pass_value(Body const& f, Callee& g, Elements&&... x) {
  if constexpr (is_projected<Fn>) {
    return f.f.pass(g, static_cast<Elements&&>(x)...);
  } else {
    return g(f(static_cast<Elements&&>(x)...));
  }
}

template <class Reference, class Pred, class Proj>
inline constexpr bool is_arithmetic_function<projected<Reference, Pred, Proj>> =
    is_arithmetic_function<Pred> && is_arithmetic_function<Proj>;
template <class Reference, class Reference2, class Pred, class Proj, class Proj2>
inline constexpr bool is_arithmetic_function<projected_pair<Reference, Reference2, Pred, Proj, Proj2>> =
    is_arithmetic_function<Pred> && is_arithmetic_function<Proj> && is_arithmetic_function<Proj2>;

/// Does Fn return its argument?
template <class Fn> inline constexpr bool is_identity = false;
template <class Fn> inline constexpr bool is_identity<Fn const> = is_identity<Fn>;
template <> inline constexpr bool is_identity<std::identity> = true;
template <class Reference, class Pred, class Proj>
inline constexpr bool is_identity<projected<Reference, Pred, Proj>> = is_identity<Pred> && is_identity<Proj>;

/// Is Fn true where two Values are equal?
template <class Fn, class Value> inline constexpr bool is_equality = false;
template <class Fn, class Value> inline constexpr bool is_equality<Fn const, Value> = is_equality<Fn, Value>;
template <class Value> inline constexpr bool is_equality<std::ranges::equal_to, Value> = true;
template <class Value> inline constexpr bool is_equality<std::equal_to<>, Value> = true;
template <class Value> inline constexpr bool is_equality<std::equal_to<Value>, Value> = true;
template <class Reference, class Reference2, class Pred, class Proj, class Proj2, class Value>
inline constexpr bool is_equality<projected_pair<Reference, Reference2, Pred, Proj, Proj2>, Value> =
    is_equality<Pred, Value> && is_identity<Proj> && is_identity<Proj2>;

/// Is it true where they are not?
template <class Pred> struct negated;
template <class Fn, class Value> inline constexpr bool is_difference = false;
template <class Fn, class Value> inline constexpr bool is_difference<Fn const, Value> = is_difference<Fn, Value>;
template <class Pred, class Value>
inline constexpr bool is_difference<negated<Pred>, Value> = is_equality<Pred, Value>;
template <class Reference, class Reference2, class Pred, class Proj, class Proj2, class Value>
inline constexpr bool is_difference<projected_pair<Reference, Reference2, Pred, Proj, Proj2>, Value> =
    is_difference<Pred, Value> && is_identity<Proj> && is_identity<Proj2>;

/// The number with which Fn compares Numbers: `of(fn)`, if it is there.
template <class Fn, class Number> struct compared_number {
  static constexpr bool is_there = false;
};
template <class Fn, class Number> struct compared_number<Fn const, Number> : compared_number<Fn, Number> {};

/// Does Iterator point to objects of its value type in memory? (A volatile one is none.)
template <class Iterator>
inline constexpr bool points_to_values =
    std::contiguous_iterator<Iterator> &&
    std::is_same_v<std::remove_const_t<std::remove_reference_t<std::iter_reference_t<Iterator>>>,
                   std::iter_value_t<Iterator>>;

/// Do both point to numbers of one type?
template <class Iterator, class Iterator2>
inline constexpr bool point_to_same_numbers =
    points_to_values<Iterator> && points_to_values<Iterator2> && std::is_arithmetic_v<std::iter_value_t<Iterator>> &&
    std::is_same_v<std::iter_value_t<Iterator>, std::iter_value_t<Iterator2>>;

template <class Iterator, class Pred, class Proj>
using projected_of = projected<std::iter_reference_t<Iterator>, Pred, Proj>;
template <class Iterator, class Iterator2, class Pred, class Proj, class Proj2>
using projected_pair_of =
    projected_pair<std::iter_reference_t<Iterator>, std::iter_reference_t<Iterator2>, Pred, Proj, Proj2>;

/// The elements from `begin` on, through a function.
template <class Iterator, class Fn> struct elements {
  using value = std::invoke_result_t<Fn&, std::iter_reference_t<Iterator>>;
  static constexpr bool is_arithmetic = points_to_numbers<Iterator> && is_arithmetic_function<Fn>;
  using number = compared_number<Fn, std::iter_value_t<Iterator>>;
  /// Does it look for a number in memory?
  static constexpr bool seeks_number = points_to_values<Iterator> && number::is_there;
  static constexpr std::size_t k_turn = seeks_number ? k_arithmetic_turn : 1;
  Iterator begin;
  [[no_unique_address]] body_of<Fn, std::iter_reference_t<Iterator>> f;

  elements(Iterator const& i, Fn& fn) : begin(i), f{fn} {}

  /// g of one value.
  template <class Callee> FILCH_INLINE auto with(std::size_t position, Callee g) const {
    return detail::pass_value<Fn>(f, g, *detail::iterator_after(begin, position));
  }
  /// Calls g with each value of [first, last), in order.
  template <class Callee> FILCH_INLINE void each(std::size_t first, std::size_t last, Callee g) const {
    Iterator i = detail::iterator_after(begin, first);
    FILCH_UNROLL
    for (std::size_t left = last - first; left != 0; --left, static_cast<void>(++i)) detail::pass_value<Fn>(f, g, *i);
  }
  /// The first position of [first, last) whose value pred takes; else last.
  template <class Pred> FILCH_INLINE std::size_t first_where(std::size_t first, std::size_t last, Pred pred) const {
    if constexpr (seeks_number) {
      number_blocks<std::iter_value_t<Iterator>> const blocks(number::of(f.f));
      first += blocks.skip_up(std::to_address(begin) + first, last - first);
    }
    Iterator const begun = detail::iterator_after(begin, first);
    Iterator i = begun;
    // Four at a time, as the standard library does: a jump out of a loop keeps compilers from unrolling it.
    for (std::size_t left = (last - first) / 4; left != 0; --left) {
      if (pred(f(*i))) return first + static_cast<std::size_t>(i - begun);
      ++i;
      if (pred(f(*i))) return first + static_cast<std::size_t>(i - begun);
      ++i;
      if (pred(f(*i))) return first + static_cast<std::size_t>(i - begun);
      ++i;
      if (pred(f(*i))) return first + static_cast<std::size_t>(i - begun);
      ++i;
    }
    for (Iterator const end = detail::iterator_after(begin, last); i != end; ++i) {
      if (pred(f(*i))) return first + static_cast<std::size_t>(i - begun);
    }
    return last;
  }
};
template <class Iterator, class Fn> elements(Iterator const&, Fn&) -> elements<Iterator, Fn>;

/// The pairs of elements of two ranges, through a function of two arguments.
template <class Iterator, class Iterator2, class Fn> struct element_pairs {
  using value = std::invoke_result_t<Fn&, std::iter_reference_t<Iterator>, std::iter_reference_t<Iterator2>>;
  static constexpr bool is_arithmetic =
      points_to_numbers<Iterator> && points_to_numbers<Iterator2> && is_arithmetic_function<Fn>;
  /// Does it compare numbers of one type in memory?
  static constexpr bool compares_memory =
      point_to_same_numbers<Iterator, Iterator2> && is_difference<Fn, std::iter_value_t<Iterator>>;
  static constexpr std::size_t k_turn = compares_memory ? k_arithmetic_turn : 1;
  Iterator begin;
  Iterator2 begin2;
  [[no_unique_address]] body_of<Fn, std::iter_reference_t<Iterator>, std::iter_reference_t<Iterator2>> f;

  element_pairs(Iterator const& i, Iterator2 const& j, Fn& fn) : begin(i), begin2(j), f{fn} {}

  /// g of one value.
  template <class Callee> FILCH_INLINE auto with(std::size_t position, Callee g) const {
    return detail::pass_value<Fn>(f, g, *detail::iterator_after(begin, position),
                                  *detail::iterator_after(begin2, position));
  }
  template <class Callee> FILCH_INLINE void each(std::size_t first, std::size_t last, Callee g) const {
    Iterator i = detail::iterator_after(begin, first);
    Iterator2 j = detail::iterator_after(begin2, first);
    FILCH_UNROLL
    for (std::size_t left = last - first; left != 0; --left, static_cast<void>(++i), static_cast<void>(++j))
      detail::pass_value<Fn>(f, g, *i, *j);
  }
  template <class Pred> FILCH_INLINE std::size_t first_where(std::size_t first, std::size_t last, Pred pred) const {
    if constexpr (compares_memory) {
      auto const* const from = std::to_address(begin);
      if (!pred(false) && std::equal(from + first, from + last, std::to_address(begin2) + first)) return last;
    }
    Iterator const begun = detail::iterator_after(begin, first);
    Iterator const end = detail::iterator_after(begin, last);
    Iterator2 j = detail::iterator_after(begin2, first);
    for (Iterator i = begun; i != end; ++i, static_cast<void>(++j)) {
      if (pred(f(*i, *j))) return first + static_cast<std::size_t>(i - begun);
    }
    return last;
  }
};
template <class Iterator, class Iterator2, class Fn>
element_pairs(Iterator const&, Iterator2 const&, Fn&) -> element_pairs<Iterator, Iterator2, Fn>;

}  // namespace detail
}  // namespace filch::inline FILCH_ABI

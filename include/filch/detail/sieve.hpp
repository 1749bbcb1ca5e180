// std::views::filter of what can be split. The base is split, and the predicate runs in the pieces: each element is
// read once, by the function that also has the filter's predicate in it.
#pragma once

#include <filch/detail/converting.hpp>
#include <filch/detail/ranges.hpp>
#include <filch/detail/standard.hpp>

#include <concepts>
#include <cstddef>
#include <optional>
#include <ranges>
#include <type_traits>
#include <utility>

namespace filch::inline FILCH_ABI {
namespace detail {

template <class Range> struct filtered_base {
  static constexpr bool can_be_split = false;
};
template <class View, class Pred> struct filtered_base<std::ranges::filter_view<View, Pred>> {
  static constexpr bool is_nested = filtered_base<View>::can_be_split;
  static constexpr bool can_be_split =
      is_nested || (std::ranges::random_access_range<View> && std::ranges::sized_range<View>);
  static constexpr bool is_mapped = false;
  /// Do iterators of the base outlive a copy of it?
  static constexpr bool has_iterators = !is_nested && std::ranges::borrowed_range<View>;
};
// A std::views::transform of one filter.
template <class View, class Fn> struct filtered_base<std::ranges::transform_view<View, Fn>> {
  static constexpr bool is_nested = false;
  static constexpr bool is_mapped = true;
  static constexpr bool can_be_split = false;
  static constexpr bool has_iterators = false;
};
template <class View, class Pred, class Fn>
struct filtered_base<std::ranges::transform_view<std::ranges::filter_view<View, Pred>, Fn>> {
  static constexpr bool is_nested = false;
  static constexpr bool is_mapped = true;
  static constexpr bool can_be_split = filtered_base<std::ranges::filter_view<View, Pred>>::can_be_split &&
                                       !filtered_base<std::ranges::filter_view<View, Pred>>::is_nested;
  static constexpr bool has_iterators = false;
};

}  // namespace detail

/// A std::views::filter, or several of them, of a sized range with random access; or a std::views::transform of one.
/// Algorithms that need no position in it take it: they split the range below it.
template <class Range>
concept filtered_range = detail::filtered_base<std::remove_cvref_t<Range>>::can_be_split &&
                         !std::is_const_v<std::remove_reference_t<Range>> &&
                         (std::is_rvalue_reference_v<Range&&> || std::copyable<std::remove_cvref_t<Range>>);
/// The same without a transform: its elements are those of the range below.
template <class Range>
concept purely_filtered_range =
    filtered_range<Range> && !detail::filtered_base<std::remove_cvref_t<Range>>::is_mapped;

namespace detail {

/// The predicates of two filters.
template <class Inner, class Outer> struct both_take {
  // A predicate may change itself, also in a filter that is called as one.
  mutable Inner inner;
  mutable Outer outer;
  template <class Element> FILCH_INLINE bool operator()(Element& x) const {
    return static_cast<bool>(detail::call_with(inner, x)) && static_cast<bool>(detail::call_with(outer, x));
  }
};

/// A range that can be split, and what takes its elements.
template <class Base, class Taken> struct sieve {
  using iterator = std::ranges::iterator_t<Base>;
  using reference = std::ranges::range_reference_t<Base>;
  using mapped = reference;
  Base base;
  Taken taken;
  [[no_unique_address]] std::identity map{};
  input<iterator> in() { return detail::input_of(base); }
};

/// The iterator of a view at a position of its base. The standard libraries' constructors differ.
template <class View, class Iterator> FILCH_INLINE auto iterator_at(View& view, Iterator const& i) {
  using iterator = std::ranges::iterator_t<View>;
  if constexpr (std::constructible_from<iterator, View*, Iterator>) {
    return iterator(std::addressof(view), i);  // libstdc++
  } else {
    return iterator(view, i);
  }
}
/// A transform of a filter. The view does not tell its function, but its iterator at a position calls it. So the
/// elements of the base are the iterators of the range below the filter.
template <class View> class mapped_sieve {
  using filter = std::remove_cvref_t<decltype(std::declval<View>().base())>;
  using below = std::remove_cvref_t<decltype(std::declval<filter>().base())>;
  using place = std::ranges::iterator_t<below>;
  using predicate = std::remove_cvref_t<decltype(std::declval<filter&>().pred())>;
  struct taking {
    mutable predicate pred;  // as in both_take
    FILCH_INLINE bool operator()(place const& i) const { return static_cast<bool>(detail::call_with(pred, *i)); }
  };
  struct mapping {
    View* view;
    filter* filtered;
    FILCH_INLINE decltype(auto) operator()(place const& i) const {
      return *detail::iterator_at(*view, detail::iterator_at(*filtered, i));
    }
  };

  filter filter_;
  below below_;

 public:
  using iterator = std::ranges::iterator_t<std::ranges::iota_view<place, place>>;
  using reference = place;
  using mapped = std::ranges::range_reference_t<View>;

  mapped_sieve(View& view, filter&& of)
      : filter_(std::move(of)),
        below_(std::move(filter_).base()),
        base(std::ranges::begin(below_),
             detail::iterator_after(std::ranges::begin(below_), detail::length_of(below_))),
        taken{filter_.pred()},
        map{std::addressof(view), std::addressof(filter_)} {}
  mapped_sieve(mapped_sieve const&) = delete;
  mapped_sieve& operator=(mapped_sieve const&) = delete;

  input<iterator> in() { return detail::input_of(base); }

  std::ranges::iota_view<place, place> base;
  taking taken;
  mapping map;
};

template <class View> auto filters_of(View&& view) {
  auto taken = view.pred();
  auto base = static_cast<View&&>(view).base();
  if constexpr (filtered_base<std::remove_cvref_t<View>>::is_nested) {
    auto inner = detail::filters_of(std::move(base));
    both_take<decltype(inner.taken), decltype(taken)> both{std::move(inner.taken), std::move(taken)};
    return sieve<decltype(inner.base), decltype(both)>{std::move(inner.base), std::move(both)};
  } else {
    return sieve<decltype(base), decltype(taken)>{std::move(base), std::move(taken)};
  }
}
/// The filter `view`, which outlives the result.
template <class View> auto sieve_of(View&& view) {
  if constexpr (filtered_base<std::remove_cvref_t<View>>::is_mapped) {
    return mapped_sieve<std::remove_reference_t<View>>(view, static_cast<View&&>(view).base());
  } else {
    return detail::filters_of(static_cast<View&&>(view));
  }
}
template <class View> using sieve_type = decltype(detail::sieve_of(std::declval<View>()));
template <class View> using sieve_reference = typename sieve_type<View>::mapped;

/// f(proj(x)) for an element x that the filter takes.
template <class Sieve, class Fn, class Proj> struct sifted_call {
  using reference = typename Sieve::reference;
  body_of<decltype(Sieve::taken), reference&> taken;
  body_of<decltype(Sieve::map), reference> map;
  body_of<Proj, typename Sieve::mapped> proj;
  body_of<Fn, std::invoke_result_t<Proj&, typename Sieve::mapped>> f;
  FILCH_INLINE void operator()(reference&& x) const {
    if (static_cast<bool>(taken(x))) static_cast<void>(f(proj(map(static_cast<reference&&>(x)))));
  }
};
template <class Sieve, class Fn, class Proj> sifted_call<Sieve, Fn, Proj> call_of(Sieve& s, Fn& f, Proj& proj) {
  return {{s.taken}, {s.map}, {proj}, {f}};
}
/// Does the filter take x, and is pred(proj(x)) true? An lvalue of an element that was made is used again.
template <class Sieve, class Pred, class Proj> struct sifted_test {
  using reference = typename Sieve::reference;
  body_of<decltype(Sieve::taken), reference&> taken;
  body_of<decltype(Sieve::map), reference> map;
  body_of<Proj, typename Sieve::mapped> proj;
  body_of<Pred, std::invoke_result_t<Proj&, typename Sieve::mapped>> pred;
  FILCH_INLINE bool operator()(reference&& x) const {
    return static_cast<bool>(taken(x)) && static_cast<bool>(pred(proj(map(static_cast<reference&&>(x)))));
  }
  FILCH_INLINE bool operator()(reference& x) const
    requires(!std::is_reference_v<reference>)
  {
    return static_cast<bool>(taken(x)) && static_cast<bool>(pred(proj(map(x))));
  }
};
template <class Sieve, class Pred, class Proj>
sifted_test<Sieve, Pred, Proj> test_of(Sieve& s, Pred& pred, Proj& proj) {
  return {{s.taken}, {s.map}, {proj}, {pred}};
}

/// The elements that a filter takes, through a function, as a reduction reads them.
template <class Sieve, class Fn> struct sifted_elements {
  using reference = typename Sieve::reference;
  using value = std::invoke_result_t<Fn&, typename Sieve::mapped>;
  static constexpr bool is_arithmetic = false;
  typename Sieve::iterator begin;
  body_of<decltype(Sieve::taken), reference&> taken;
  body_of<decltype(Sieve::map), reference> map;
  body_of<Fn, typename Sieve::mapped> f;

  sifted_elements(Sieve& s, Fn& fn) : begin(s.in().first), taken{s.taken}, map{s.map}, f{fn} {}

  /// Makes `first_value` of the first element that is taken, if there is one. Returns the position behind it.
  template <class Value>
  std::size_t begin_with(std::optional<Value>& first_value, std::size_t first, std::size_t last) const {
    for (auto i = detail::iterator_after(begin, first); first != last && !first_value;
         ++first, static_cast<void>(++i)) {
      reference x = *i;
      if (static_cast<bool>(taken(x)))
        first_value.emplace(detail::converted_to<Value>(f(map(static_cast<reference&&>(x)))));
    }
    return first;
  }
  template <class Callee> FILCH_INLINE void each(std::size_t first, std::size_t last, Callee g) const {
    auto i = detail::iterator_after(begin, first);
    for (std::size_t left = last - first; left != 0; --left, static_cast<void>(++i)) {
      reference x = *i;
      if (static_cast<bool>(taken(x))) g(f(map(static_cast<reference&&>(x))));
    }
  }
};
template <class Sieve, class Fn> sifted_elements(Sieve&, Fn&) -> sifted_elements<Sieve, Fn>;

/// The better one of two values by comp of their projections: y if is_better(y, x).
template <class Better> struct keeping_better {
  Better better;
  template <class Value, class Element> FILCH_INLINE Value operator()(Value x, Element&& y) const {
    if (better(x, y)) return static_cast<Value>(static_cast<Element&&>(y));
    return x;
  }
};

template <class Range> consteval auto kind_of_sifted_iterator() {
  if constexpr (std::is_lvalue_reference_v<Range> && filtered_base<std::remove_cvref_t<Range>>::has_iterators) {
    return std::type_identity<std::ranges::iterator_t<Range>>{};
  } else {
    return std::type_identity<std::ranges::dangling>{};
  }
}
/// An iterator of a filter; std::ranges::dangling where none outlives the call, or has a known parent.
template <class Range> using sifted_iterator_t = typename decltype(detail::kind_of_sifted_iterator<Range>())::type;
/// The iterator of a filter at that element of its base.
template <class Range, class Iterator>
sifted_iterator_t<Range> sifted_iterator([[maybe_unused]] std::remove_reference_t<Range>& view,
                                         [[maybe_unused]] Iterator const& i) {
  if constexpr (std::same_as<sifted_iterator_t<Range>, std::ranges::dangling>) {
    return {};
  } else {
    return detail::iterator_at(view, i);
  }
}

}  // namespace detail
}  // namespace filch::inline FILCH_ABI

// The parts of filch::zip: tuples of references that algorithms can assign, move and swap through.
#pragma once

#include <filch/detail/ranges.hpp>
#include <filch/detail/standard.hpp>

#include <concepts>
#include <cstddef>
#include <ranges>
#include <tuple>
#include <type_traits>
#include <utility>

namespace filch::inline FILCH_ABI {
namespace detail {

/// Can a value be assigned through a Ref that is const?
template <class Ref, class Value>
inline constexpr bool assigns_through =
    std::is_assignable_v<Ref const&, Value> || (bit_reference<Ref> && std::is_assignable_v<Ref&, Value>);

template <class Ref, class Value> FILCH_INLINE constexpr void assign_through(Ref const& to, Value&& value) {
  if constexpr (std::is_assignable_v<Ref const&, Value>) {
    static_cast<void>(to = static_cast<Value&&>(value));
  } else {
    Ref copy = to;
    static_cast<void>(copy = static_cast<Value&&>(value));
  }
}

}  // namespace detail

/// An element of a zip: a std::tuple of references to one element of each range (or of values, where a range makes
/// its elements). An assignment to it assigns to the elements, also if it is const or a temporary.
template <class... Refs> class zip_reference : public std::tuple<Refs...> {
  using base = std::tuple<Refs...>;
  using indices = std::index_sequence_for<Refs...>;

 public:
  explicit constexpr zip_reference(Refs&&... parts) : base(static_cast<Refs&&>(parts)...) {}
  constexpr zip_reference(zip_reference const&) = default;
  constexpr zip_reference(zip_reference&&) = default;
  ~zip_reference() = default;

  /// Refers to the elements of a tuple, or to what they refer to.
  template <class... Us>
    requires(sizeof...(Us) == sizeof...(Refs) && (std::is_convertible_v<Us&, Refs> && ...))
  constexpr zip_reference(std::tuple<Us...>& from) : zip_reference(from, indices{}) {}
  template <class... Us>
    requires(sizeof...(Us) == sizeof...(Refs) && (std::is_convertible_v<Us const&, Refs> && ...))
  constexpr zip_reference(std::tuple<Us...> const& from) : zip_reference(from, indices{}) {}
  template <class... Us>
    requires(sizeof...(Us) == sizeof...(Refs) && (std::is_convertible_v<Us &&, Refs> && ...))
  constexpr zip_reference(std::tuple<Us...>&& from) : zip_reference(std::move(from), indices{}) {}

  constexpr zip_reference& operator=(zip_reference const& from) = default;
  constexpr zip_reference& operator=(zip_reference&& from) = default;
  template <class... Us>
    requires(sizeof...(Us) == sizeof...(Refs) && (detail::assigns_through<Refs, Us const&> && ...))
  constexpr zip_reference const& operator=(std::tuple<Us...> const& from) const {
    return assign(from, indices{});
  }
  template <class... Us>
    requires(sizeof...(Us) == sizeof...(Refs) && (detail::assigns_through<Refs, Us &&> && ...))
  constexpr zip_reference const& operator=(std::tuple<Us...>&& from) const {
    return assign(std::move(from), indices{});
  }
  // The same where it is not const: else a conversion to zip_reference would be as good.
  template <class... Us>
    requires(sizeof...(Us) == sizeof...(Refs) && (detail::assigns_through<Refs, Us const&> && ...))
  constexpr zip_reference& operator=(std::tuple<Us...> const& from) {
    assign(from, indices{});
    return *this;
  }
  template <class... Us>
    requires(sizeof...(Us) == sizeof...(Refs) && (detail::assigns_through<Refs, Us &&> && ...))
  constexpr zip_reference& operator=(std::tuple<Us...>&& from) {
    assign(std::move(from), indices{});
    return *this;
  }

  /// Swaps the elements.
  friend constexpr void swap(zip_reference a, zip_reference b)
    requires((std::is_lvalue_reference_v<Refs> && std::swappable<std::remove_reference_t<Refs>>) && ...)
  {
    swap_parts(a, b, indices{});
  }

 private:
  template <class Tuple, std::size_t... Index>
  constexpr zip_reference(Tuple&& from, std::index_sequence<Index...>)
      : base(static_cast<Refs>(std::get<Index>(static_cast<Tuple&&>(from)))...) {}
  template <class Tuple, std::size_t... Index>
  constexpr zip_reference const& assign(Tuple&& from, std::index_sequence<Index...>) const {
    (detail::assign_through<Refs>(std::get<Index>(*this), std::get<Index>(static_cast<Tuple&&>(from))), ...);
    return *this;
  }
  template <std::size_t... Index>
  static constexpr void swap_parts(zip_reference& a, zip_reference& b, std::index_sequence<Index...>) {
    (std::ranges::swap(std::get<Index>(a), std::get<Index>(b)), ...);
  }
};

namespace detail {

template <std::size_t Index, class Part> struct zip_leaf {
  Part value;
};
/// The parts of a zip. Trivially copyable if they are, as std::tuple is not.
template <class Indices, class... Parts> struct zip_parts;
template <std::size_t... Index, class... Parts>
struct zip_parts<std::index_sequence<Index...>, Parts...> : zip_leaf<Index, Parts>... {
  /// f(part...).
  template <class Fn> FILCH_INLINE constexpr decltype(auto) apply(Fn f) {
    return f(static_cast<zip_leaf<Index, Parts>&>(*this).value...);
  }
  template <class Fn> FILCH_INLINE constexpr decltype(auto) apply(Fn f) const {
    return f(static_cast<zip_leaf<Index, Parts> const&>(*this).value...);
  }
  /// The part of that number.
  template <std::size_t Number> constexpr auto const& at() const noexcept { return part_at<Number>(*this); }

 private:
  template <std::size_t Number, class Part>
  static constexpr Part const& part_at(zip_leaf<Number, Part> const& leaf) noexcept {
    return leaf.value;
  }
};

/// A range of which a zip keeps the beginning only.
template <class Iterator> struct borrowed_part {
  static constexpr bool is_borrowed = true;
  static constexpr bool is_view = true;
  Iterator first;
  template <class Range> explicit constexpr borrowed_part(Range&& range) : first(std::ranges::begin(range)) {}
  constexpr Iterator begin() const { return first; }
};
/// A range that a zip keeps.
template <class Range> struct kept_part {
  static constexpr bool is_borrowed = false;
  static constexpr bool is_view = std::ranges::enable_view<Range>;
  Range range;
  explicit constexpr kept_part(Range&& r) : range(std::move(r)) {}
  constexpr auto begin() { return std::ranges::begin(range); }
  constexpr auto begin() const
    requires sized_random_access_range<Range const>
  {
    return std::ranges::begin(range);
  }
};

template <class Part>
concept has_const_begin = requires(Part const& part) { part.begin(); };

template <class Range, bool IsBorrowed> struct zip_part {
  using type = borrowed_part<std::ranges::iterator_t<Range>>;
};
template <class Range> struct zip_part<Range, false> {
  using type = kept_part<Range>;
};
template <class Range> using zip_part_of = typename zip_part<Range, std::ranges::borrowed_range<Range>>::type;

}  // namespace detail
}  // namespace filch::inline FILCH_ABI

template <class... Refs>
struct std::tuple_size<filch::zip_reference<Refs...>> : std::integral_constant<std::size_t, sizeof...(Refs)> {};
template <std::size_t Index, class... Refs>
struct std::tuple_element<Index, filch::zip_reference<Refs...>> : std::tuple_element<Index, std::tuple<Refs...>> {};

// An element of a zip, its value and what a move of it takes have a common reference, as C++20's iterators want.
template <class... Ts, class... Us, template <class> class TQualified, template <class> class UQualified>
  requires(sizeof...(Ts) == sizeof...(Us)) &&
          requires { typename filch::zip_reference<std::common_reference_t<TQualified<Ts>, UQualified<Us>>...>; }
struct std::basic_common_reference<filch::zip_reference<Ts...>, filch::zip_reference<Us...>, TQualified, UQualified> {
  using type = filch::zip_reference<std::common_reference_t<TQualified<Ts>, UQualified<Us>>...>;
};
template <class... Ts, class... Us, template <class> class TQualified, template <class> class UQualified>
  requires(sizeof...(Ts) == sizeof...(Us)) &&
          requires { typename filch::zip_reference<std::common_reference_t<TQualified<Ts>, UQualified<Us>>...>; }
struct std::basic_common_reference<filch::zip_reference<Ts...>, std::tuple<Us...>, TQualified, UQualified> {
  using type = filch::zip_reference<std::common_reference_t<TQualified<Ts>, UQualified<Us>>...>;
};
template <class... Ts, class... Us, template <class> class TQualified, template <class> class UQualified>
  requires(sizeof...(Ts) == sizeof...(Us)) &&
          requires { typename filch::zip_reference<std::common_reference_t<TQualified<Ts>, UQualified<Us>>...>; }
struct std::basic_common_reference<std::tuple<Ts...>, filch::zip_reference<Us...>, TQualified, UQualified> {
  using type = filch::zip_reference<std::common_reference_t<TQualified<Ts>, UQualified<Us>>...>;
};

// The forms of algorithms with a stop token. One function for each name takes the arguments of all its other forms.
#pragma once

#include <filch/detail/ranges.hpp>
#include <filch/detail/stopping.hpp>

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace filch::inline FILCH_ABI::detail {

/// Is the argument behind an iterator its end?
template <class Iterator, class... Rest> inline constexpr bool is_end_next = false;
template <class Iterator, class Sentinel, class... Rest>
inline constexpr bool is_end_next<Iterator, Sentinel, Rest...> =
    sized_random_access_end<std::remove_cvref_t<Sentinel>, Iterator>;

/// Are the first arguments an iterator and its end?
template <class... Args> inline constexpr bool is_bounded_next = false;
template <class First, class... Rest>
inline constexpr bool is_bounded_next<First, Rest...> = is_end_next<std::decay_t<First>, Rest...>;

/// Are the first arguments of a form a range, and not an iterator and its end? (An array may be both.)
template <class First, class... Rest>
inline constexpr bool begins_with_range =
    sized_random_access_range<First> && !is_end_next<std::decay_t<First>, Rest...>;

/// Are the first arguments the input behind another one: a range if ranges are allowed, or an iterator with or
/// without its end?
template <bool AllowsRanges, class First = void, class... Rest>
inline constexpr bool begins_with_next_input =
    std::random_access_iterator<std::decay_t<First>> || (AllowsRanges && begins_with_range<First, Rest...>);

/// Are the first arguments of a form so many inputs, or outputs, of which each is sized and has random access? The
/// first one is a range, or an iterator and its end.
template <std::size_t Count, class First = void, class Next = void, class... Rest>
inline constexpr bool are_inputs_next = false;
template <class First, class Next, class... Rest>
inline constexpr bool are_inputs_next<1, First, Next, Rest...> =
    begins_with_range<First, Next> || is_end_next<std::decay_t<First>, Next>;
template <class First, class Next, class... Rest>
inline constexpr bool are_inputs_next<2, First, Next, Rest...> =
    begins_with_range<First, Next> ? begins_with_next_input<true, Next, Rest...>
                                   : is_end_next<std::decay_t<First>, Next> && begins_with_next_input<false, Rest...>;
template <std::size_t Count, class... Args>
concept begins_with_inputs = are_inputs_next<Count, Args...>;

/// Calls body(in, rest...). The first argument is a range if ranges are allowed, or an iterator of `length` elements,
/// or the first two are an iterator and its end.
template <bool AllowsRanges, class Body, class First, class... Rest>
decltype(auto) with_input(std::size_t length, Body const& body, First&& first, Rest&&... rest) {
  using iterator = std::decay_t<First>;
  if constexpr (AllowsRanges && begins_with_range<First, Rest...>) {
    return body(detail::input_of(first), std::forward<Rest>(rest)...);
  } else if constexpr (is_end_next<iterator, Rest...>) {
    return [&](auto&& last, auto&&... others) -> decltype(auto) {
      return body(detail::input_of(iterator(first), last), std::forward<decltype(others)>(others)...);
    }(std::forward<Rest>(rest)...);
  } else {
    return body(input<iterator>{first, length}, std::forward<Rest>(rest)...);
  }
}

/// An argument of a form that is missing, or is `{}`. It is the type of a parameter that no argument gives another.
struct absent {};
template <class Arg>
concept is_absent = std::same_as<std::remove_cvref_t<Arg>, absent>;
/// The functions that a form takes in place of absent ones.
template <class... Functions> struct defaults {};

/// Calls body(rest...), with the defaults for the first ones that are absent. Absent ones behind those are left out.
template <class Body, class... Rest> decltype(auto) with_defaults(defaults<>, Body const& body, Rest&&... rest) {
  if constexpr ((is_absent<Rest> && ...)) {
    return body();
  } else {
    return body(std::forward<Rest>(rest)...);
  }
}
template <class Default, class... Defaults, class Body, class First, class... Rest>
decltype(auto) with_defaults(defaults<Default, Defaults...>, Body const& body, First&& first, Rest&&... rest) {
  auto const with_first = [&](auto&& f) -> decltype(auto) {
    return detail::with_defaults(
        defaults<Defaults...>{},
        [&](auto&&... more) -> decltype(auto) {
          return body(std::forward<decltype(f)>(f), std::forward<decltype(more)>(more)...);
        },
        std::forward<Rest>(rest)...);
  };
  if constexpr (is_absent<First>) {
    return with_first(Default{});
  } else {
    return with_first(std::forward<First>(first));
  }
}

/// Calls body(inputs..., rest...) with so many inputs, or outputs: all of them ranges, or all of them iterators. An
/// iterator without its end has as many elements as the input before it.
template <std::size_t Count, class Defaults, bool AllowsRanges = true, class Body, class... Args>
decltype(auto) with_inputs(std::size_t length, Body const& body, Args&&... args) {
  if constexpr (Count == 0) {
    return detail::with_defaults(Defaults{}, body, std::forward<Args>(args)...);
  } else {
    return detail::with_input<AllowsRanges>(
        length,
        [&](auto const& in, auto&&... rest) -> decltype(auto) {
          return detail::with_inputs<Count - 1, Defaults, AllowsRanges && begins_with_range<Args...>>(
              in.length,
              [&](auto&&... more) -> decltype(auto) { return body(in, std::forward<decltype(more)>(more)...); },
              std::forward<decltype(rest)>(rest)...);
        },
        std::forward<Args>(args)...);
  }
}

/// The result of a form whose first argument is of type First: std::ranges::dangling for a temporary container.
template <class First, class... Rest, class Iterator> auto not_dangling(Iterator const& i) {
  if constexpr (begins_with_range<First, Rest...>) {
    return std::ranges::borrowed_iterator_t<First>(i);
  } else {
    return i;
  }
}

/// The same for the second argument of a form with two ranges.
template <class First, class Second, class... Rest, class Iterator> auto second_not_dangling(Iterator const& i) {
  if constexpr (begins_with_range<First, Second, Rest...>) {
    return std::ranges::borrowed_iterator_t<Second>(i);
  } else {
    return i;
  }
}

/// Calls body(stop, inputs..., rest...) with the arguments of a form. The body takes functions and initial values by
/// value, as the form does. Returns what `until_stopped` does.
template <std::size_t Count, class Defaults = defaults<>, stop_token_like Token, class Body, class... Args>
auto run_stoppable(Token const& token, Body const& body, Args&&... args) {
  return detail::until_stopped(token, [&](stop_request<Token>& stop) {
    return detail::with_inputs<Count, Defaults>(
        0, [&](auto&&... all) -> decltype(auto) { return body(stop, std::forward<decltype(all)>(all)...); },
        std::forward<Args>(args)...);
  });
}

}  // namespace filch::inline FILCH_ABI::detail

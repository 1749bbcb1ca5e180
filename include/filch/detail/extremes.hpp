// The least and the greatest element of a range.
#pragma once

#include <filch/detail/pieces.hpp>
#include <filch/detail/ranges.hpp>
#include <filch/detail/reducing.hpp>
#include <filch/detail/sieve.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <limits>
#include <optional>

namespace filch::inline FILCH_ABI::detail {

enum class extreme { first_least, first_greatest, last_greatest };

/// Is x better than `best`, which comes before it?
template <extreme Which, class Comp, class Best, class Element>
FILCH_INLINE bool is_better(Comp& comp, Best&& best, Element&& x) {
  if constexpr (Which == extreme::first_least) {
    return static_cast<bool>(comp(static_cast<Element&&>(x), static_cast<Best&&>(best)));
  } else if constexpr (Which == extreme::first_greatest) {
    return static_cast<bool>(comp(static_cast<Best&&>(best), static_cast<Element&&>(x)));
  } else {
    return !static_cast<bool>(comp(static_cast<Element&&>(x), static_cast<Best&&>(best)));
  }
}

/// Keeps the positions of the extremes Which... of its elements; also their values where the range makes its elements
/// at each access, so that each is made once. But keys that a projection refers to are compared as references: they
/// may have a derived type. Numbers have none.
template <class Iterator, class Comp, class Proj, extreme... Which> struct extreme_piece {
  static constexpr std::size_t k_none = std::numeric_limits<std::size_t>::max();
  using key = std::invoke_result_t<Proj&, std::iter_reference_t<Iterator>>;
  using value = std::remove_cvref_t<key>;
  static constexpr bool keeps_values = !std::is_reference_v<std::iter_reference_t<Iterator>> &&
                                       (!std::is_lvalue_reference_v<key> || std::is_arithmetic_v<value>) &&
                                       std::copy_constructible<value>;
  elements<Iterator, Proj> in;
  body_of<Comp, key, key> comp;
  std::size_t best[sizeof...(Which)];
  [[no_unique_address]] std::conditional_t<keeps_values, std::array<std::optional<value>, sizeof...(Which)>, nothing>
      values{};

  extreme_piece(elements<Iterator, Proj> const& all, body_of<Comp, key, key> const& less) : in(all), comp(less) {
    for (std::size_t& b : best) b = k_none;
  }
  void run(std::size_t first, std::size_t last) {
    if constexpr (keeps_values) return run_with_values(first, last);
    if (best[0] == k_none) {
      for (std::size_t& b : best) b = first;
      ++first;
    }
    std::size_t n = 0;
    ((this->template run_one<Which>(first, last, best[n]), ++n), ...);
  }
  extreme_piece split(std::size_t, std::size_t) const { return {in, comp}; }
  void merge(extreme_piece const& upper) {
    if (upper.best[0] == k_none) return;  // the loop was stopped
    std::size_t n = 0;
    if constexpr (keeps_values) {
      ((this->template keep_better<Which>(n, *upper.values[n], upper.best[n]), ++n), ...);
    } else {
      ((this->template merge_one<Which>(best[n], upper.best[n]), ++n), ...);
    }
  }

 private:
  template <extreme One> FILCH_INLINE void run_one(std::size_t first, std::size_t last, std::size_t& kept) const {
    if constexpr (std::is_arithmetic_v<value>) return run_with_number<One>(first, last, kept);
    Iterator found = detail::iterator_after(in.begin, kept);
    std::size_t position = kept;
    Iterator i = detail::iterator_after(in.begin, first);
    for (; first != last; ++first, static_cast<void>(++i)) {
      if (!detail::is_better<One>(comp, in.f(*found), in.f(*i))) continue;
      found = i;
      position = first;
    }
    kept = position;
  }
  /// The best number is in a register: a comparison does not wait for a load from the position that the last one
  /// chose.
  template <extreme One>
  FILCH_INLINE void run_with_number(std::size_t first, std::size_t last, std::size_t& kept) const {
    value number = in.f(*detail::iterator_after(in.begin, kept));
    std::size_t position = kept;
    Iterator i = detail::iterator_after(in.begin, first);
    for (; first != last; ++first, static_cast<void>(++i)) {
      value x = in.f(*i);
      if (!detail::is_better<One>(comp, number, x)) continue;
      number = x;
      position = first;
    }
    kept = position;
  }
  void run_with_values(std::size_t first, std::size_t last) {
    Iterator i = detail::iterator_after(in.begin, first);
    for (; first != last; ++first, static_cast<void>(++i)) {
      value const x(in.f(*i));
      std::size_t n = 0;
      ((this->template keep_better<Which>(n, x, first), ++n), ...);
    }
  }
  template <extreme One> FILCH_INLINE void keep_better(std::size_t n, value const& x, std::size_t position) {
    if (values[n].has_value() && !detail::is_better<One>(comp, std::as_const(*values[n]), x)) return;
    values[n].emplace(x);  // no assignment: a tuple of references would pass it on
    best[n] = position;
  }
  template <extreme One> bool is_better_at(std::size_t best_so_far, std::size_t position) const {
    return detail::is_better<One>(comp, in.f(*detail::iterator_after(in.begin, best_so_far)),
                                  in.f(*detail::iterator_after(in.begin, position)));
  }
  template <extreme One> void merge_one(std::size_t& mine, std::size_t other) const {
    if (mine == k_none || is_better_at<One>(mine, other)) mine = other;
  }
};

/// Keeps the positions of both extremes. Compares two neighbours, the lesser with the least one, and the greater with
/// the greatest one: three calls of comp for two elements.
template <class Iterator, class Comp, class Proj> struct both_extremes_piece {
  static constexpr std::size_t k_none = std::numeric_limits<std::size_t>::max();
  using key = std::invoke_result_t<Proj&, std::iter_reference_t<Iterator>>;
  elements<Iterator, Proj> in;
  body_of<Comp, key, key> comp;
  std::size_t least = k_none;
  std::size_t greatest = k_none;
  std::size_t single = k_none;  // the last position, if it has no neighbour yet

  void run(std::size_t first, std::size_t last) {
    if (least == k_none) {
      least = greatest = first;
      ++first;
    }
    Iterator min = detail::iterator_after(in.begin, least);
    Iterator max = detail::iterator_after(in.begin, greatest);
    Iterator i = detail::iterator_after(in.begin, single == k_none ? first : single);
    std::size_t left = last - first + (single == k_none ? 0 : 1);
    for (; left > 1; left -= 2) {
      Iterator const lower = i;
      Iterator const upper = ++i;
      static_cast<void>(++i);
      // No branch: which of two neighbours is less can't be predicted.
      bool const descends = detail::is_better<extreme::first_least>(comp, in.f(*lower), in.f(*upper));
      take(min, max, descends ? upper : lower, descends ? lower : upper);
    }
    least = static_cast<std::size_t>(min - in.begin);
    greatest = static_cast<std::size_t>(max - in.begin);
    single = left == 0 ? k_none : last - 1;
  }
  both_extremes_piece split(std::size_t, std::size_t) const { return {in, comp}; }
  void merge(both_extremes_piece& upper) {
    end();
    upper.end();
    if (upper.least == k_none) return;  // the loop was stopped
    if (least == k_none) {
      least = upper.least;
      greatest = upper.greatest;
    } else {
      take_positions(upper.least, upper.greatest);
    }
  }
  /// All positions have run.
  void end() {
    if (single != k_none) take_positions(single, single);
    single = k_none;
  }

 private:
  FILCH_INLINE void take(Iterator& min, Iterator& max, Iterator const& lesser, Iterator const& greater) const {
    if (detail::is_better<extreme::first_least>(comp, in.f(*min), in.f(*lesser))) min = lesser;
    if (detail::is_better<extreme::last_greatest>(comp, in.f(*max), in.f(*greater))) max = greater;
  }
  void take_positions(std::size_t lesser, std::size_t greater) {
    Iterator min = detail::iterator_after(in.begin, least);
    Iterator max = detail::iterator_after(in.begin, greatest);
    take(min, max, detail::iterator_after(in.begin, lesser), detail::iterator_after(in.begin, greater));
    least = static_cast<std::size_t>(min - in.begin);
    greatest = static_cast<std::size_t>(max - in.begin);
  }
};

/// The extreme element of an input; its end if it is empty.
template <class Sched, extreme Which, class Stop, class Iterator, class Comp = std::less<>,
          class Proj = std::identity>
Iterator find_extreme(Stop& stop, input<Iterator> const& in, Comp&& comp = Comp{}, Proj&& proj = Proj{}) {
  extreme_piece<Iterator, std::remove_reference_t<Comp>, std::remove_reference_t<Proj>, Which> piece({in.first, proj},
                                                                                                     {comp});
  detail::run_pieces<Sched>(0, in.length, piece, stop);
  return in.at(std::min(in.length, piece.best[0]));
}

/// The first of the least elements and the last of the greatest.
template <class Sched, class Stop, class Iterator, class Comp = std::less<>, class Proj = std::identity>
std::ranges::minmax_element_result<Iterator> find_both_extremes(Stop& stop, input<Iterator> const& in,
                                                                Comp&& comp = Comp{}, Proj&& proj = Proj{}) {
  using with_values = extreme_piece<Iterator, std::remove_reference_t<Comp>, std::remove_reference_t<Proj>,
                                    extreme::first_least, extreme::last_greatest>;
  if constexpr (with_values::keeps_values) {
    with_values piece({in.first, proj}, {comp});
    detail::run_pieces<Sched>(0, in.length, piece, stop);
    return {in.at(std::min(in.length, piece.best[0])), in.at(std::min(in.length, piece.best[1]))};
  } else {
    both_extremes_piece<Iterator, std::remove_reference_t<Comp>, std::remove_reference_t<Proj>> piece{
        {in.first, proj}, {comp}};
    detail::run_pieces<Sched>(0, in.length, piece, stop);
    piece.end();
    return {in.at(std::min(in.length, piece.least)), in.at(std::min(in.length, piece.greatest))};
  }
}

/// Copies of both extreme elements.
template <class Value, class Iterator>
std::ranges::minmax_result<Value> values_of(std::ranges::minmax_element_result<Iterator> const& both) {
  if constexpr (std::is_rvalue_reference_v<std::iter_reference_t<Iterator>>) {
    if (both.min == both.max) {  // what is moved from the range is moved once
      Value only(*both.min);
      return {only, static_cast<Value&&>(only)};
    }
  }
  return {static_cast<Value>(*both.min), static_cast<Value>(*both.max)};
}

/// The value of the extreme element that a filter takes; none if it takes none, or after a stop.
template <class Sched, extreme Which, class Stop, class Range, class Comp, class Proj>
std::optional<std::ranges::range_value_t<Range>> find_sifted_extreme(Stop& stop, Range&& range, Comp& comp,
                                                                     Proj& proj) {
  using value = std::ranges::range_value_t<Range>;
  auto s = detail::sieve_of(static_cast<Range&&>(range));
  auto const is_better = [&comp, &proj](auto& best, auto& x) {
    auto const less = [&comp](auto&& a, auto&& b) {
      return detail::call_with(comp, static_cast<decltype(a)>(a), static_cast<decltype(b)>(b));
    };
    return detail::is_better<Which>(less, detail::call_with(proj, best), detail::call_with(proj, x));
  };
  keeping_better<decltype(is_better)> better{is_better};
  std::identity all;
  using elements = decltype(sifted_elements(s, all));
  reducing_piece<value, elements, decltype(better)> piece{elements(s, all), {better}, std::nullopt};
  detail::run_pieces<Sched>(0, s.in().length, piece, stop);
  if (stop.was_seen()) piece.value.reset();
  return std::move(piece.value);
}

/// The least and the greatest value so far. One element is both.
template <class Value> struct both_values {
  Value min;
  Value max;
  template <std::convertible_to<Value> Element>
    requires(!std::same_as<std::remove_cvref_t<Element>, both_values>)
  both_values(Element&& x) : min(detail::converted_to<Value>(static_cast<Element&&>(x))), max(min) {}
};
/// Adds an element, or the values of the piece above.
template <class Value, class Less> struct keeping_both {
  Less less;
  template <class Element> FILCH_INLINE both_values<Value> operator()(both_values<Value> low, Element&& x) const {
    if constexpr (std::same_as<std::remove_cvref_t<Element>, both_values<Value>>) {
      add(low, x.min, x.max);
    } else {
      add(low, x, x);
    }
    return low;
  }

 private:
  template <class Element> FILCH_INLINE void add(both_values<Value>& low, Element& lesser, Element& greater) const {
    if (detail::is_better<extreme::first_least>(less, low.min, lesser)) low.min = lesser;
    if (detail::is_better<extreme::last_greatest>(less, low.max, greater)) low.max = greater;
  }
};

/// The values of the least and the greatest element that a filter takes, as in `find_sifted_extreme`.
template <class Sched, class Stop, class Range, class Comp, class Proj>
std::optional<std::ranges::minmax_result<std::ranges::range_value_t<Range>>> find_sifted_extremes(Stop& stop,
                                                                                                  Range&& range,
                                                                                                  Comp& comp,
                                                                                                  Proj& proj) {
  using value = std::ranges::range_value_t<Range>;
  auto s = detail::sieve_of(static_cast<Range&&>(range));
  auto const less = [&comp, &proj](auto& a, auto& b) {
    return static_cast<bool>(detail::call_with(comp, detail::call_with(proj, a), detail::call_with(proj, b)));
  };
  keeping_both<value, decltype(less)> better{less};
  std::identity all;
  using elements = decltype(sifted_elements(s, all));
  reducing_piece<both_values<value>, elements, decltype(better)> piece{elements(s, all), {{better}}, std::nullopt};
  detail::run_pieces<Sched>(0, s.in().length, piece, stop);
  if (stop.was_seen() || !piece.value) return std::nullopt;
  return std::ranges::minmax_result<value>{std::move(piece.value->min), std::move(piece.value->max)};
}

}  // namespace filch::inline FILCH_ABI::detail

// The least and the greatest element of a range.
#pragma once

#include <filch/detail/pieces.hpp>
#include <filch/detail/ranges.hpp>

#include <algorithm>
#include <limits>

namespace filch::inline FILCH_ABI::detail {

enum class extreme { first_least, first_greatest, last_greatest };

/// Is x better than `best`, which comes before it?
template <extreme Which, class Comp, class Best, class X>
FILCH_INLINE bool is_better(Comp& comp, Best&& best, X&& x) {
  if constexpr (Which == extreme::first_least) {
    return static_cast<bool>(comp(static_cast<X&&>(x), static_cast<Best&&>(best)));
  } else if constexpr (Which == extreme::first_greatest) {
    return static_cast<bool>(comp(static_cast<Best&&>(best), static_cast<X&&>(x)));
  } else {
    return !static_cast<bool>(comp(static_cast<X&&>(x), static_cast<Best&&>(best)));
  }
}

/// Keeps the position of an extreme of its elements.
template <class Iterator, class Comp, class Proj, extreme Which> struct extreme_piece {
  static constexpr std::size_t k_none = std::numeric_limits<std::size_t>::max();
  using key = std::invoke_result_t<Proj&, std::iter_reference_t<Iterator>>;
  elements<Iterator, Proj> in;
  body_of<Comp, key, key> comp;
  std::size_t best = k_none;

  void run(std::size_t first, std::size_t last) {
    if (best == k_none) best = first++;
    Iterator found = iterator_after(in.begin, best);
    Iterator const end = iterator_after(in.begin, last);
    for (Iterator i = iterator_after(in.begin, first); i != end; ++i) {
      if (detail::is_better<Which>(comp, in.f(*found), in.f(*i))) found = i;
    }
    best = static_cast<std::size_t>(found - in.begin);
  }
  extreme_piece split(std::size_t, std::size_t) const { return {in, comp}; }
  void merge(extreme_piece const& upper) {
    if (upper.best == k_none) return;  // the loop was stopped
    if (best == k_none || detail::is_better<Which>(comp, in.at(best), in.at(upper.best))) best = upper.best;
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
    Iterator min = iterator_after(in.begin, least);
    Iterator max = iterator_after(in.begin, greatest);
    Iterator i = iterator_after(in.begin, single == k_none ? first : single);
    std::size_t left = last - first + (single == k_none ? 0 : 1);
    for (; left > 1; left -= 2) {
      Iterator const lower = i;
      Iterator const upper = ++i;
      ++i;
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
    if (detail::is_better<extreme::first_least>(comp, in.at(least), in.at(lesser))) least = lesser;
    if (detail::is_better<extreme::last_greatest>(comp, in.at(greatest), in.at(greater))) greatest = greater;
  }
};

/// The extreme element of an input; its end if it is empty.
template <class Sched, extreme Which, class Stop, class Iterator, class Comp = std::ranges::less,
          class Proj = std::identity>
Iterator find_extreme(Stop& stop, input<Iterator> const& in, Comp&& comp = Comp{}, Proj&& proj = Proj{}) {
  extreme_piece<Iterator, std::remove_reference_t<Comp>, std::remove_reference_t<Proj>, Which> piece{{in.first, proj},
                                                                                                     {comp}};
  detail::run_pieces<Sched>(0, in.length, piece, stop);
  return in.at(std::min(in.length, piece.best));
}

/// The first of the least elements and the last of the greatest.
template <class Sched, class Stop, class Iterator, class Comp = std::ranges::less, class Proj = std::identity>
std::ranges::minmax_element_result<Iterator> find_both_extremes(Stop& stop, input<Iterator> const& in,
                                                                Comp&& comp = Comp{}, Proj&& proj = Proj{}) {
  both_extremes_piece<Iterator, std::remove_reference_t<Comp>, std::remove_reference_t<Proj>> piece{{in.first, proj},
                                                                                                    {comp}};
  detail::run_pieces<Sched>(0, in.length, piece, stop);
  piece.end();
  return {in.at(std::min(in.length, piece.least)), in.at(std::min(in.length, piece.greatest))};
}

}  // namespace filch::inline FILCH_ABI::detail

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

/// Keeps the positions of the extremes Which... of its elements.
template <class Iterator, class Comp, class Proj, extreme... Which> struct extreme_piece {
  static constexpr std::size_t k_none = std::numeric_limits<std::size_t>::max();
  using key = std::invoke_result_t<Proj&, std::iter_reference_t<Iterator>>;
  elements<Iterator, Proj> in;
  body_of<Comp, key, key> comp;
  std::size_t best[sizeof...(Which)];

  extreme_piece(elements<Iterator, Proj> const& all, body_of<Comp, key, key> const& less) : in(all), comp(less) {
    for (std::size_t& b : best) b = k_none;
  }
  void run(std::size_t first, std::size_t last) {
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
    ((this->template merge_one<Which>(best[n], upper.best[n]), ++n), ...);
  }

 private:
  template <extreme One> FILCH_INLINE void run_one(std::size_t first, std::size_t last, std::size_t& kept) const {
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
  template <extreme One> void merge_one(std::size_t& mine, std::size_t other) const {
    if (mine == k_none || detail::is_better<One>(comp, in.at(mine), in.at(other))) mine = other;
  }
};

/// The extreme element of an input; its end if it is empty.
template <class Sched, extreme Which, class Stop, class Iterator, class Comp = std::ranges::less,
          class Proj = std::identity>
Iterator find_extreme(Stop& stop, input<Iterator> const& in, Comp&& comp = Comp{}, Proj&& proj = Proj{}) {
  extreme_piece<Iterator, std::remove_reference_t<Comp>, std::remove_reference_t<Proj>, Which> piece({in.first, proj},
                                                                                                     {comp});
  detail::run_pieces<Sched>(0, in.length, piece, stop);
  return in.at(std::min(in.length, piece.best[0]));
}

/// The first of the least elements and the last of the greatest.
template <class Sched, class Stop, class Iterator, class Comp = std::ranges::less, class Proj = std::identity>
std::ranges::minmax_element_result<Iterator> find_both_extremes(Stop& stop, input<Iterator> const& in,
                                                                Comp&& comp = Comp{}, Proj&& proj = Proj{}) {
  extreme_piece<Iterator, std::remove_reference_t<Comp>, std::remove_reference_t<Proj>, extreme::first_least,
                extreme::last_greatest>
      piece({in.first, proj}, {comp});
  detail::run_pieces<Sched>(0, in.length, piece, stop);
  return {in.at(std::min(in.length, piece.best[0])), in.at(std::min(in.length, piece.best[1]))};
}

}  // namespace filch::inline FILCH_ABI::detail

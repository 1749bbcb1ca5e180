// The merge sort of filch::std_par. C++17. `leaf` sorts a short range; it may also make its elements, so it runs once
// for each part before anything reads the elements. It is stable if the leaf is.
#pragma once

#include <filch/detail/std_par/buffer.hpp>
#include <filch/detail/std_par/merges.hpp>

#include <bits/stl_iterator_base_types.h>

namespace filch {
inline namespace FILCH_ABI {
namespace std_par {

inline constexpr std::size_t k_shortest_leaf = 512;
inline constexpr std::size_t k_leaves_of_worker = 4;

template <class Iterator, class Compare, class Leaf> class merge_sort {
 public:
  using value = typename std::iterator_traits<Iterator>::value_type;
  merge_sort(scheduler_calls const& calls, Compare& less, Leaf& leaf, std::size_t longest_leaf, std::size_t wanted)
      : calls_(calls), less_(less), leaf_(leaf), longest_leaf_(longest_leaf), wanted_(wanted) {}

  /// Sorts n elements. They end in the range, or in the memory `other`, where they are made. Each level of merges
  /// moves them from one to the other.
  void all(Iterator first, value* other, std::size_t n, bool to_other) noexcept {
    Iterator const last = std_par::advanced(first, n);
    if (n <= longest_leaf_) {
      leaf_(first, last, less_);
      if (to_other) {
        for (value* out = other; first != last; ++first, ++out) put_new(out, first);
      }
      return;
    }
    std::size_t const half = n / 2;
    Iterator const middle = std_par::advanced(first, half);
    std_par::fork(
        calls_, [&] { all(first, other, half, !to_other); }, [&] { all(middle, other + half, n - half, !to_other); });
    if (to_other) {
      merge(first, middle, middle, last, other, put_new<Iterator>);
    } else {
      merge(other, other + half, other + half, other + n, first, put_back);
    }
  }

  /// Sorts the least `wanted` elements to the front. The others follow in any order.
  void front(Iterator first, value* other, std::size_t n) noexcept {
    if (n <= longest_leaf_) {
      leaf_(first, std_par::advanced(first, n), less_);
      return;
    }
    std::size_t const half = n / 2;
    Iterator const middle = std_par::advanced(first, half);
    std_par::fork(calls_, [&] { front(first, other, half); }, [&] { front(middle, other + half, n - half); });
    // Both fronts, merged: the first elements take the places of the lower front, the rest those of the upper one.
    std::size_t const lower = half < wanted_ ? half : wanted_;
    std::size_t const upper = n - half < wanted_ ? n - half : wanted_;
    merge(first, std_par::advanced(first, lower), middle, std_par::advanced(middle, upper), other, put_new<Iterator>);
    for (std::size_t i = 0; i != lower; ++i) put_back(std_par::advanced(first, i), other + i);
    for (std::size_t i = 0; i != upper; ++i) put_back(std_par::advanced(middle, i), other + lower + i);
  }

 private:
  template <class In> static void put_new(value* out, In in) {
    ::new (static_cast<void*>(out)) value(std::move(*in));
  }
  static void put_back(Iterator out, value* in) {
    *out = std::move(*in);
    in->~value();
  }
  template <class In, class Out, class Put>
  void merge(In first1, In last1, In first2, In last2, Out out, Put const& put) {
    std_par::merge_ranges(calls_, first1, last1, first2, last2, out, less_,
                          [&](In from1, In to1, In from2, In to2, Out to) {
                            std_par::move_merged(from1, to1, from2, to2, to, less_, put);
                          });
  }

  scheduler_calls const& calls_;
  Compare& less_;
  Leaf& leaf_;
  std::size_t longest_leaf_;
  std::size_t wanted_;
};

/// `wanted`: how many of the least elements, 0 for all.
template <class Iterator, class Compare, class Leaf>
void sort_range(scheduler_calls const& calls, Iterator first, Iterator last, Compare& less, Leaf& leaf,
                std::size_t wanted) {
  std::size_t const n = std_par::distance_of(first, last);
  std::size_t const workers = calls.workers();
  std::size_t leaves = 1;
  while (leaves < k_leaves_of_worker * workers) leaves *= 2;
  std::size_t longest = (n + leaves - 1) / leaves;
  if (longest < k_shortest_leaf) longest = k_shortest_leaf;
  auto const in_order = [&]() noexcept { leaf(first, last, less); };
  if (workers == 1 || n <= longest) return in_order();
  using sorter = merge_sort<Iterator, Compare, Leaf>;
  buffer<typename sorter::value> const other(n);
  if (!other) return in_order();
  sorter sort(calls, less, leaf, longest, wanted);
  auto whole = [&]() noexcept {
    if (wanted == 0 || wanted >= n) {
      sort.all(first, other.get(), n, false);
    } else {
      sort.front(first, other.get(), n);
    }
  };
  calls.enter(std_par::as_call(whole));
}

}  // namespace std_par
}  // namespace FILCH_ABI
}  // namespace filch

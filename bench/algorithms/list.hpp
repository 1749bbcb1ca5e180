// The entries of --algorithms. An entry has prepare(n), reset, plain and verify, `on` for a scheduler, and where
// there is one `standard` for std's algorithm and `on_peer` for a peer; restore, table, sizes and limits if they
// differ.
#pragma once

#include "../algorithm.hpp"
#include "by_key.hpp"
#include "filters.hpp"
#include "loops.hpp"
#include "reductions.hpp"
#include "scans.hpp"
#include "searches.hpp"
#include "sorts.hpp"

namespace bench::algorithms {

template <class... A> struct list_of {
  template <class Visit> static void for_each(Visit visit) { (visit.template operator()<A>(), ...); }
};

using list = list_of<for_each, saxpy, reduce, transform_reduce, count_if, min_element, inclusive_scan<long>,
                     inclusive_scan<double>, exclusive_scan, copy_if, remove_if, unique, partition, stable_partition,
                     partition_copy, find_if<1>, find_if<50>, find_if<99>, find_if<100>, is_sorted,
                     histogram<bins::few>, histogram<bins::many>, histogram<bins::skewed>, reduce_by_key,
                     sort<double>, sort<int>, sort<std::string>, stable_sort, integer_sort, timed_loop<bodies<1>>,
                     timed_loop<bodies<100>>, timed_loop<bodies<10'000>>, timed_loop<bodies<1'000'000>>,
                     timed_loop<pareto>, timed_loop<dear<true>>, timed_loop<dear<false>>, for_index>;

/// As function pointers see it.
template <class A> typename A::input& input_of(algorithm_job& j) {
  return static_cast<algorithm_job_of<A>&>(j).input;
}

}  // namespace bench::algorithms

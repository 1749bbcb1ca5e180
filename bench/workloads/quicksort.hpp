// quicksort: in place, both parts forked. Published by: A. Prell, T. Rauber, Channel-based Work
// Stealing, 2014, 10^8 integers. Published cut-off: k_insertion_most elements or fewer are sorted by insertion.
// Answer: element i is i (shuffled.hpp).
#pragma once

#include "../workload.hpp"
#include "shuffled.hpp"

#include <algorithm>
#include <filch/join.hpp>

namespace bench {

struct quicksort {
  static constexpr std::string_view name = "quicksort";
  static constexpr std::string_view about = "in-place sort of 32-bit integers";
  static constexpr std::string_view quick_size = "2000000";
  static std::vector<std::string_view> sizes() { return {"10000000", "100000000", "1000000"}; }
  static std::vector<std::string_view> published_sizes() { return {"100000000"}; }
  static constexpr std::ptrdiff_t k_insertion_most = 100;

  struct input {
    std::size_t count;
    std::unique_ptr<int[]> original;
    std::unique_ptr<int[]> data;
  };
  using answer = int const*;

  static std::size_t size_of(std::string_view size) {
    return static_cast<std::size_t>(parse_size(name, size, 1, 1'000'000'000));
  }
  static input prepare(std::string_view size) {
    auto const n = size_of(size);
    return {n, shuffled(n), std::make_unique<int[]>(n)};
  }
  static void reset(input& in) { std::copy_n(in.original.get(), in.count, in.data.get()); }

  static void insert(int* low, int* high) {
    for (int* next = low; next != high; ++next) {
      int const x = *next;
      int* place = next;
      for (; place != low && place[-1] > x; --place) *place = place[-1];
      *place = x;
    }
  }
  // Partitions by the median of three elements: no element of [low, result) is greater than one of [result, high).
  // Not inlined: every contender runs the same code, at the same address.
  [[gnu::noinline]] static int* partition(int* low, int* high) {
    int const a = *low;
    int const b = low[(high - low) / 2];
    int const c = high[-1];
    int const pivot = std::max(std::min(a, b), std::min(std::max(a, b), c));
    for (;; ++low) {
      while (*low < pivot) ++low;
      do --high;
      while (pivot < *high);
      if (low >= high) return low;
      std::swap(*low, *high);
    }
  }
  template <class S> static void sort(int* low, int* high) {
    if (high - low <= k_insertion_most) return insert(low, high);
    int* const middle = partition(low, high);
    filch::join<S>([=] { sort<S>(low, middle); }, [=] { sort<S>(middle, high); });
  }
  static void sequential(int* low, int* high) {
    if (high - low <= k_insertion_most) return insert(low, high);
    int* const middle = partition(low, high);
    sequential(low, middle);
    sequential(middle, high);
  }

  template <class S> static answer run(input& in) {
    sort<S>(in.data.get(), in.data.get() + in.count);
    return in.data.get();
  }
  static answer plain(input& in) {
    sequential(in.data.get(), in.data.get() + in.count);
    return in.data.get();
  }
  static bool verify(input const& in, answer found) { return found && is_counting(found, in.count); }
};

}  // namespace bench

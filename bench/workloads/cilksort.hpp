// cilksort: parallel merge sort with a parallel merge (the Cilk-5 example). Published cut-offs: below
// k_quick_below elements the standard library sorts, below k_merge_below it merges.
// Answer: element i is i (shuffled.hpp).
#pragma once

#include "../workload.hpp"
#include "shuffled.hpp"

#include <algorithm>
#include <filch/join.hpp>

namespace bench {

struct cilksort {
  static constexpr std::string_view name = "cilksort";
  static constexpr std::string_view about = "merge sort of 32-bit integers with parallel merge";
  static constexpr std::string_view quick_size = "2000000";
  static std::vector<std::string_view> sizes() { return {"10000000", "100000000", "1000000"}; }
  static constexpr std::ptrdiff_t k_quick_below = 2048;
  static constexpr std::ptrdiff_t k_merge_below = 2048;

  struct input {
    std::size_t count;
    std::unique_ptr<int[]> shuffled;
    std::unique_ptr<int[]> data;
    std::unique_ptr<int[]> scratch;
  };
  using answer = int const*;

  static std::size_t size_of(std::string_view size) {
    return static_cast<std::size_t>(parse_size(name, size, 1, 1'000'000'000));
  }
  static input prepare(std::string_view size) {
    auto const n = size_of(size);
    return {n, shuffled(n), std::make_unique<int[]>(n), std::make_unique<int[]>(n)};
  }
  static void reset(input& in) { std::copy_n(in.shuffled.get(), in.count, in.data.get()); }

  // Merges [a, a_end) and [b, b_end) into out: splits the longer in half, the other at the same value.
  template <class S> static void merge(int const* a, int const* a_end, int const* b, int const* b_end, int* out) {
    if (a_end - a < b_end - b) {
      std::swap(a, b);
      std::swap(a_end, b_end);
    }
    if (a_end - a < k_merge_below) {
      std::merge(a, a_end, b, b_end, out);
      return;
    }
    int const* const a_middle = a + (a_end - a) / 2;
    int const* const b_middle = std::lower_bound(b, b_end, *a_middle);
    int* const out_middle = out + (a_middle - a) + (b_middle - b);
    filch::join<S>([=] { merge<S>(a, a_middle, b, b_middle, out); },
                   [=] { merge<S>(a_middle, a_end, b_middle, b_end, out_middle); });
  }
  // Sorts n elements at `low`; the result is in `low`, `tmp` is scratch.
  template <class S> static void sort(int* low, int* tmp, std::ptrdiff_t n) {
    if (n < k_quick_below) {
      std::sort(low, low + n);
      return;
    }
    std::ptrdiff_t const q = n / 4;
    filch::invoke<S>([=] { sort<S>(low, tmp, q); }, [=] { sort<S>(low + q, tmp + q, q); },
                     [=] { sort<S>(low + 2 * q, tmp + 2 * q, q); },
                     [=] { sort<S>(low + 3 * q, tmp + 3 * q, n - 3 * q); });
    filch::join<S>([=] { merge<S>(low, low + q, low + q, low + 2 * q, tmp); },
                   [=] { merge<S>(low + 2 * q, low + 3 * q, low + 3 * q, low + n, tmp + 2 * q); });
    merge<S>(tmp, tmp + 2 * q, tmp + 2 * q, tmp + n, low);
  }
  static void sequential(int* low, int* tmp, std::ptrdiff_t n) {
    if (n < k_quick_below) {
      std::sort(low, low + n);
      return;
    }
    std::ptrdiff_t const q = n / 4;
    for (std::ptrdiff_t i = 0; i < 3; ++i) sequential(low + i * q, tmp + i * q, q);
    sequential(low + 3 * q, tmp + 3 * q, n - 3 * q);
    std::merge(low, low + q, low + q, low + 2 * q, tmp);
    std::merge(low + 2 * q, low + 3 * q, low + 3 * q, low + n, tmp + 2 * q);
    std::merge(tmp, tmp + 2 * q, tmp + 2 * q, tmp + n, low);
  }

  template <class S> static answer run(input& in) {
    sort<S>(in.data.get(), in.scratch.get(), static_cast<std::ptrdiff_t>(in.count));
    return in.data.get();
  }
  static answer plain(input& in) {
    sequential(in.data.get(), in.scratch.get(), static_cast<std::ptrdiff_t>(in.count));
    return in.data.get();
  }
  static bool verify(input const& in, answer found) { return is_counting(found, in.count); }
};

}  // namespace bench

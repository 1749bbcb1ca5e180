// Counts in bins, and sums by key.
#pragma once

#include "inputs.hpp"

#include <filch/group_by.hpp>
#include <filch/histogram.hpp>

#include <unordered_map>

namespace bench::algorithms {

enum class bins { few, many, skewed };

/// 16 bins; a tenth as many as elements; 256, of which one has nine tenths of the elements.
template <bins Which> struct histogram {
  static constexpr std::string_view name = Which == bins::few    ? "histogram-few"
                                           : Which == bins::many ? "histogram-many"
                                                                 : "histogram-skewed";
  using counts = std::vector<std::uint32_t>;
  struct input {
    std::vector<std::uint32_t> x;
    counts answer;
  };
  static input prepare(std::size_t n) {
    std::size_t n_bins = Which == bins::few ? 16 : Which == bins::skewed ? 256 : n / 10 + 1;
    auto const bin = [n_bins](std::size_t i) {
      if (Which == bins::skewed && scrambled(i) % 10 != 0) return std::uint64_t{7};
      return (scrambled(i) >> 8) % n_bins;
    };
    return {filled<std::uint32_t>(n, bin), counts(n_bins)};
  }
  static void reset(input& in) { std::fill(in.answer.begin(), in.answer.end(), 0); }
  static void plain(input& in) {
    std::uint32_t* const counts = in.answer.data();
    for (std::uint32_t const x : in.x) ++counts[x];
  }
  template <class S> static void on(input& in) {
    filch::histogram<S>(in.x.begin(), in.x.end(), in.answer.begin(), in.answer.size());
  }
  template <class P> static void on_peer(input& in) {
    auto const add = [](counts& to, counts const& from) {
      for (std::size_t bin = 0; bin < to.size(); ++bin) to[bin] += from[bin];
    };
    add(in.answer, P::reduce(
                       in.x.size(), counts(in.answer.size()),
                       [x = in.x.data()](counts& to, std::size_t i) { ++to[x[i]]; }, add));
  }
  static bool verify(input const& in, std::size_t calls) {
    counts expected(in.answer.size());
    for (std::uint32_t const x : in.x) expected[x] += static_cast<std::uint32_t>(calls);
    return in.answer == expected;
  }
};

/// A thousand keys.
struct reduce_by_key {
  static constexpr std::string_view name = "reduce_by_key";
  static constexpr std::uint32_t k_keys = 1000;
  struct entry {
    std::uint32_t key, value;
  };
  struct input {
    std::vector<entry> x;
    std::vector<std::pair<std::uint32_t, std::uint64_t>> answer;
  };
  using sums = std::unordered_map<std::uint32_t, std::uint64_t>;
  static input prepare(std::size_t n) {
    input in;
    in.x.reserve(n);
    for (std::size_t i = 0; i < n; ++i) {
      auto const random = scrambled(i);
      in.x.push_back({static_cast<std::uint32_t>(random % k_keys), static_cast<std::uint32_t>(random >> 60)});
    }
    return in;
  }
  static void reset(input& in) { in.answer.clear(); }
  static void plain(input& in) {
    sums all;
    for (entry const& e : in.x) all[e.key] += e.value;
    in.answer.assign(all.begin(), all.end());
  }
  template <class S> static void on(input& in) {
    in.answer = filch::reduce_by_key<S>(
        in.x.begin(), in.x.end(), [](entry const& e) { return e.key; },
        [](entry const& e) { return std::uint64_t{e.value}; });
  }
  template <class P> static void on_peer(input& in) {
    sums const all = P::reduce(
        in.x.size(), sums(), [x = in.x.data()](sums& to, std::size_t i) { to[x[i].key] += x[i].value; },
        [](sums& to, sums const& from) {
          for (auto const& [key, sum] : from) to[key] += sum;
        });
    in.answer.assign(all.begin(), all.end());
  }
  static bool verify(input const& in) {
    std::vector<std::uint64_t> expected(k_keys);
    std::vector<bool> is_there(k_keys);
    for (entry const& e : in.x) {
      expected[e.key] += e.value;
      is_there[e.key] = true;
    }
    for (auto const& [key, sum] : in.answer) {
      if (!is_there[key] || expected[key] != sum) return false;
    }
    return std::count(is_there.begin(), is_there.end(), true) == static_cast<std::ptrdiff_t>(in.answer.size());
  }
};

}  // namespace bench::algorithms

// ssf, the sub string finder: for each position of a string, the other position where the longest equal substring
// begins. The string is s(n) = s(n-1) s(n-2), s(0) = "a", s(1) = "b"; a tree of forks over the positions, again and
// again. Published by: K.-F. Faxen (ICPP 2010), section IV-A and table I, after an example of oneTBB. Size is
// N[:REPETITIONS]; without them the published ones divided by k_scale. No cut-off: a position is a leaf.
// Answer: each position's match, known from a table of the common lengths of all pairs.
#pragma once

#include "../workload.hpp"
#include "halves.hpp"

namespace bench {

struct ssf {
  static constexpr std::string_view name = "ssf";
  static constexpr std::string_view about = "sub string finder over a Fibonacci string, N[:REPETITIONS]";
  static constexpr std::string_view quick_size = "13";
  static std::vector<std::string_view> sizes() { return {"12", "13", "14", "15", "16"}; }
  static std::vector<std::string_view> published_sizes() {
    return {"12:16384", "13:8192", "14:4096", "15:2048", "16:1024"};
  }
  static constexpr long k_scale = 16;
  static constexpr long k_published_repetitions = 1L << 26;  // over 2^n: 16K where n is 12, and so on

  struct match {
    std::size_t length = 0;
    std::size_t position = 0;  // the first of those with the greatest length
    bool operator==(match const&) const = default;
  };
  struct input {
    std::string text;
    long repetitions;
    std::vector<match> expected;
    std::vector<match> found;
  };
  using answer = bool;

  static std::vector<long> size_of(std::string_view size) {
    return parse_size_parts(name, size, "N or N:REPETITIONS", 1, {{"N", 0, 22}, {"REPETITIONS", 1, 100'000'000}});
  }
  static input prepare(std::string_view size) {
    auto const numbers = size_of(size);
    long const n = numbers[0];
    long const scaled = std::max(1L, (k_published_repetitions / k_scale) >> n);
    input in{fibonacci_string(n), numbers.size() > 1 ? numbers[1] : scaled, {}, {}};
    in.expected = matches_by_table(in.text);
    reset(in);
    return in;
  }
  static void reset(input& in) { in.found.assign(in.text.size(), {}); }

  static std::string fibonacci_string(long n) {
    std::string before = "a";
    std::string last = "b";
    if (n == 0) return before;
    for (long i = 1; i < n; ++i) before = std::exchange(last, last + before);
    return last;
  }
  // The length at (i, j) is one more than that at (i + 1, j + 1) where the characters are equal, else 0.
  static std::vector<match> matches_by_table(std::string const& text) {
    std::size_t const n = text.size();
    std::vector<match> best(n);
    std::vector<std::size_t> lengths(n + 1);  // at (i, j), for the i of this step
    for (std::size_t i = n; i-- > 0;) {
      for (std::size_t j = 0; j < n; ++j) {
        lengths[j] = text[i] == text[j] ? lengths[j + 1] + 1 : 0;
        if (j != i && lengths[j] > best[i].length) best[i] = {lengths[j], j};
      }
    }
    return best;
  }

  // Not inlined: every contender runs the same code, at the same place.
  [[gnu::noinline]] static match longest(char const* text, std::size_t size, std::size_t i) {
    match best;
    for (std::size_t j = 0; j < size; ++j) {
      if (j == i) continue;
      std::size_t const most = size - std::max(i, j);
      std::size_t length = 0;
      while (length < most && text[i + length] == text[j + length]) ++length;
      if (length > best.length) best = {length, j};
    }
    return best;
  }
  static void find(input& in, std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) in.found[i] = longest(in.text.data(), in.text.size(), i);
  }

  template <class S> static answer run(input& in) {
    for (long r = 0; r < in.repetitions; ++r)
      run_halves<S>(0, in.text.size(), 1, [&in](std::size_t first, std::size_t last) { find(in, first, last); });
    return true;
  }
  static answer plain(input& in) {
    for (long r = 0; r < in.repetitions; ++r) find(in, 0, in.text.size());
    return true;
  }
  static bool verify(input const& in, answer ran) { return ran && in.found == in.expected; }
};

}  // namespace bench

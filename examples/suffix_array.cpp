// All suffixes of a file in order, and with them the longest text that it has twice: rounds of sorts and scans, each
// of which orders by twice as many bytes (U. Manber, G. Myers, 1990).
//   example-suffix_array file
#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <filch/for_each.hpp>
#include <filch/for_index.hpp>
#include <filch/integer_sort.hpp>
#include <filch/minmax.hpp>
#include <filch/scan.hpp>
#include <filch/transform.hpp>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "stopwatch.hpp"

struct suffix {
  std::uint64_t key;    // orders it by its first bytes
  std::uint32_t begin;  // its place in the text
};

static std::vector<std::uint32_t> suffix_array(std::string const& text) {
  auto const n = static_cast<std::uint32_t>(text.size());
  std::vector<suffix> suffixes(n);
  std::vector<std::uint32_t> rank(n), order(n);

  // Seven bytes in nine bits each: an end comes before each byte.
  filch::for_index(std::uint32_t{0}, n, [&](std::uint32_t i) {
    std::uint64_t key = 0;
    for (std::uint32_t k = i; k < i + 7; ++k)
      key = key << 9 | (k < n ? static_cast<unsigned char>(text[k]) + 1u : 0u);
    suffixes[i] = {key, i};
  });
  for (std::uint32_t known = 7;; known *= 2) {
    filch::integer_sort(suffixes.begin(), suffixes.end(), &suffix::key);

    // A suffix's rank is the number of different keys below it.
    filch::for_index(std::uint32_t{0}, n,
                     [&](std::uint32_t i) { order[i] = i != 0 && suffixes[i].key != suffixes[i - 1].key; });
    filch::inclusive_scan(order.begin(), order.end(), order.begin());
    filch::for_index(std::uint32_t{0}, n, [&](std::uint32_t i) { rank[suffixes[i].begin] = order[i]; });
    if (order[n - 1] == n - 1) break;

    filch::for_each(suffixes.begin(), suffixes.end(), [&](suffix& s) {
      std::uint64_t const rest = s.begin + known < n ? rank[s.begin + known] + 1u : 0u;
      s.key = std::uint64_t{rank[s.begin]} << 32 | rest;
    });
  }
  filch::transform(suffixes.begin(), suffixes.end(), order.begin(), [](suffix const& s) { return s.begin; });
  return order;
}

/// The number of bytes with which two suffixes begin.
static std::size_t in_common(std::string const& text, std::size_t a, std::size_t b) {
  auto const first = text.begin() + static_cast<std::ptrdiff_t>(a),
             second = text.begin() + static_cast<std::ptrdiff_t>(b);
  return static_cast<std::size_t>(std::mismatch(first, text.end(), second, text.end()).first - first);
}

int main(int argc, char** argv) {
  std::ifstream in(argc > 1 ? argv[1] : "", std::ios::binary);
  std::string const text(std::istreambuf_iterator<char>(in), {});
  if (text.size() < 2 || text.size() > 1'000'000'000) {
    std::fputs("usage: example-suffix_array file, of 2 to 10^9 bytes\n", stderr);
    return 1;
  }

  stopwatch time;
  std::vector<std::uint32_t> const order = suffix_array(text);
  std::vector<std::size_t> common(order.size() - 1);
  filch::transform(order.begin(), order.end() - 1, order.begin() + 1, common.begin(),
                   [&](std::uint32_t a, std::uint32_t b) { return in_common(text, a, b); });
  auto const longest = filch::max_element(common.begin(), common.end());
  std::printf("%zu suffixes in %.0f ms\n", text.size(), time.milliseconds());

  auto const [first, second] = std::minmax({order[static_cast<std::size_t>(longest - common.begin())],
                                            order[static_cast<std::size_t>(longest - common.begin()) + 1]});
  std::printf("%zu bytes are at %u and at %u:\n", *longest, first, second);
  for (char const c : text.substr(first, std::min<std::size_t>(*longest, 400))) {
    std::putchar(std::isprint(static_cast<unsigned char>(c)) || c == '\n' ? c : '.');
  }
  std::putchar('\n');
}

// Elements, projections and values that end with the expression that reads them: nothing refers to them later.
#include "pieces.hpp"

#include <filch/algorithm.hpp>

#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <ranges>
#include <string>
#include <utility>

#if !defined(__clang_major__) || __clang_major__ >= 16
namespace filch_test {
namespace {

namespace v = std::views;
using S = filch::default_scheduler;

/// Too long for a string's own memory.
std::string long_name(int x) { return std::to_string(x) + std::string(40, '!'); }
struct named {
  std::string name;
  friend bool operator==(named const&, named const&) = default;
};
/// Records that are made at each access.
auto records(std::size_t n) {
  return v::iota(0, static_cast<int>(n)) | v::transform([](int x) { return named{long_name(x)}; });
}
std::string const& name_of(named const& r) { return r.name; }
std::vector<std::string> names(std::size_t n) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i != n; ++i) all.push_back(long_name(static_cast<int>(i)));
  return all;
}
/// Its result is as true as the int that it refers to.
struct truth {
  int const& value;
  operator bool() const { return value >= 500; }
};

/// The length at which the slow cases of these tests end.
constexpr std::size_t k_most = 1'000;

TEST(passed_values, are_written_before_a_projection_ends) {
  in_every_pool<S>([](std::size_t n) {
    if (n > k_most) return;
    std::vector<std::string> const words = names(n);
    std::vector<std::string> out(n), expected(n);
    auto const add = [](std::string const& s) { return s + std::string(40, '?'); };
    filch::transform<S>(words, out, std::identity{}, add);
    std::ranges::transform(words, expected.begin(), add);
    EXPECT_EQ(out, expected);
    filch::transform<S>(words, words, out, std::ranges::max, add, std::identity{});
    EXPECT_EQ(out, expected);
    filch::transform<S>(words, words, out, std::ranges::max, add, add);
    EXPECT_EQ(out, expected);
    filch::transform<S>(records(n), out, name_of);
    EXPECT_EQ(out, words);
    filch::transform<S>(records(n), out, std::identity{}, &named::name);
    EXPECT_EQ(out, words);
    std::vector<named> all(n);
    filch::transform<S>(records(n), all, [](named&& r) -> named&& { return std::move(r); });
    EXPECT_TRUE(std::ranges::equal(all, records(n)));
  });
}

TEST(passed_values, are_tested_before_a_projection_ends) {
  in_every_pool<S>([](std::size_t n) {
    std::vector<int> numbers_up(n);
    std::iota(numbers_up.begin(), numbers_up.end(), 0);
    auto const same = [](int x) { return x; };
    auto const is_high = [](int const& x) { return truth{x}; };
    auto const high = static_cast<std::ptrdiff_t>(n > 500 ? n - 500 : 0);
    auto const lows = static_cast<std::ptrdiff_t>(n) - high;
    EXPECT_EQ(filch::count_if<S>(numbers_up, std::identity{}, [](int x) { return x >= 500; }), high);
    EXPECT_EQ(filch::count_if<S>(numbers_up, is_high, same), high);
    EXPECT_EQ(filch::find_if<S>(numbers_up, std::identity{}, [](int x) { return x >= 500; }) - numbers_up.begin(),
              lows);
    EXPECT_EQ(filch::find_if<S>(numbers_up, is_high, same) - numbers_up.begin(), lows);
    EXPECT_EQ(filch::any_of<S>(numbers_up, is_high, same), high != 0);
    EXPECT_EQ(filch::all_of<S>(numbers_up, is_high, same), lows == 0);
    auto const both = [](int const& x, int const&) { return truth{x}; };
    EXPECT_EQ(filch::mismatch<S>(numbers_up, numbers_up, both, same, same).in1 - numbers_up.begin(), 0);
    EXPECT_EQ(filch::adjacent_find<S>(numbers_up, both, same) - numbers_up.begin(),
              n > 501 ? 500 : static_cast<std::ptrdiff_t>(n));
  });
}

TEST(passed_values, begin_a_piece_before_an_element_ends) {
  in_every_pool<S>([](std::size_t n) {
    if (n > k_most) return;
    std::vector<std::string> out(n), expected(n);
    auto const longer = [](std::string const& a, std::string const& b) { return std::max(a, b); };
    auto const words = names(n);
    filch::transform_inclusive_scan<S>(records(n), out, longer, name_of);
    std::inclusive_scan(words.begin(), words.end(), expected.begin(), longer);
    EXPECT_EQ(out, expected);
    filch::transform_exclusive_scan<S>(records(n), out, std::string("-"), longer, name_of);
    std::exclusive_scan(words.begin(), words.end(), expected.begin(), std::string("-"), longer);
    EXPECT_EQ(out, expected);
    std::string const greatest = std::reduce(words.begin(), words.end(), std::string("-"), longer);
    EXPECT_EQ(filch::transform_reduce<S>(records(n), std::string("-"), longer, name_of), greatest);
    EXPECT_EQ(filch::transform_reduce<S>(filch::reproducible, records(n), std::string("-"), longer, name_of),
              greatest);
  });
}

TEST(passed_values, of_two_inputs_begin_a_piece_before_they_end) {
  in_every_pool<S>([](std::size_t n) {
    auto const k = static_cast<int>(n);
    auto const low = v::iota(0, k);
    auto const high = v::iota(5, k + 5);
    int const sum = std::accumulate(high.begin(), high.end(), 0);
    EXPECT_EQ(filch::transform_reduce<S>(low, high, 0, std::plus<>{}, std::ranges::max), sum);
    EXPECT_EQ(filch::transform_reduce<S>(filch::reproducible, low, high, 0, std::plus<>{}, std::ranges::max), sum);
    if (n > k_most) return;
    auto const greater = [](named const& a, named const& b) -> named const& { return a.name < b.name ? b : a; };
    auto const last = [](named a, named const& b) { return std::max(a.name, b.name) == a.name ? a : b; };
    named const init{"-"};
    named const expected = std::accumulate(records(n).begin(), records(n).end(), init, last);
    EXPECT_EQ(filch::transform_reduce<S>(records(n), records(n), init, last, greater), expected);
    EXPECT_EQ(filch::transform_reduce<S>(filch::reproducible, records(n), records(n), init, last, greater), expected);
  });
}

TEST(passed_values, of_extremes_are_compared_before_an_element_ends) {
  in_every_pool<S>([](std::size_t n) {
    if (n == 0 || n > k_most) return;
    auto const all = records(n);
    auto const words = names(n);
    EXPECT_EQ(filch::max_element<S>(all, {}, name_of) - all.begin(), std::ranges::max_element(words) - words.begin());
    EXPECT_EQ(filch::min_element<S>(all, {}, name_of) - all.begin(), std::ranges::min_element(words) - words.begin());
    auto const both = filch::minmax_element<S>(all, {}, name_of);
    EXPECT_EQ(both.min - all.begin(), std::ranges::min_element(words) - words.begin());
    EXPECT_EQ(both.max - all.begin(), std::ranges::max_element(words) - words.begin());
  });
}

/// A value that no element converts to, nor the other way round.
struct marker {};
struct text_or_marker {
  std::string text;
  bool is_marker = false;
  text_or_marker& operator=(std::string const& s) { return text = s, is_marker = false, *this; }
  text_or_marker& operator=(marker const&) { return text.clear(), is_marker = true, *this; }
};

TEST(passed_values, are_not_converted_to_those_that_replace_others) {
  in_every_pool<S>([](std::size_t n) {
    std::vector<int> const in = numbers(n, -3, 9);
    std::vector<long> out(n), expected(n);
    std::ranges::replace_copy(in, expected.begin(), 5, 7U);
    EXPECT_EQ(filch::replace_copy<S>(in.begin(), in.end(), out.begin(), 5, 7U), out.end());
    EXPECT_EQ(out, expected);
    std::fill(out.begin(), out.end(), 0);
    auto const is_five = [](int x) { return x == 5; };
    EXPECT_EQ(filch::replace_copy_if<S>(in, out, is_five, 7U).out, out.end());
    EXPECT_EQ(out, expected);
    std::vector<int> own(n), own_expected(n);
    std::replace_copy(in.begin(), in.end(), own_expected.begin(), 5, 7);
    filch::replace_copy<S>(in, own, 5, 7);
    EXPECT_EQ(own, own_expected);
    std::vector<float> const reals(in.begin(), in.end());
    std::vector<double> wide(n), wide_expected(n);
    std::ranges::replace_copy(reals, wide_expected.begin(), 5.F, 0.1);
    filch::replace_copy<S>(reals, wide, 5.F, 0.1);
    EXPECT_EQ(wide, wide_expected);
  });
}

TEST(passed_values, are_replaced_where_types_have_nothing_in_common) {
  in_every_pool<S>([](std::size_t n) {
    if (n > k_most) return;
    auto const words = names(n);
    std::vector<text_or_marker> out(n);
    auto const is_even_word = [](std::string const& s) { return (s[s.find('!') - 1] - '0') % 2 == 0; };
    filch::replace_copy_if<S>(words, out, is_even_word, marker{});
    for (std::size_t i = 0; i != n; ++i) EXPECT_TRUE(i % 2 == 0 ? out[i].is_marker : out[i].text == words[i]) << i;
    // Elements that are made at each access, and a condition that takes them for itself.
    auto const made = v::iota(0, static_cast<int>(n)) | v::transform(long_name);
    std::vector<std::string> texts(n), expected(n);
    std::ranges::replace_copy(words, expected.begin(), long_name(3), "three");
    filch::replace_copy_if<S>(made, texts, [](std::string s) { return s == long_name(3); }, "three");
    EXPECT_EQ(texts, expected);
    filch::replace_copy<S>(made, texts, long_name(3), "three");
    EXPECT_EQ(texts, expected);
  });
}

}  // namespace
}  // namespace filch_test
#endif

// std::views as inputs and outputs: the results of the serial loop.
#include "views.hpp"

#if FILCH_TEST_VIEWS
namespace filch_test {
namespace {

TEST(views, that_can_be_split_are_inputs) {
  in_every_pool<scheduler>([](std::size_t n) {
    auto const data = numbers(n);
    int const m = static_cast<int>(n);
    auto const both = [](auto&& range) {
      agrees_with_the_loop<scheduler>(range);
      agrees_at_positions<scheduler>(range);
    };
    both(data | v::transform(square));
    both(data | v::reverse | v::drop(m / 3));
    both(v::iota(0, m) | v::transform(square) | v::reverse | v::take(m / 2));
  });
}

TEST(views, are_outputs) {
  in_every_pool<scheduler>([](std::size_t n) {
    auto const data = numbers(n);
    std::vector<int> out(n), expected(data.rbegin(), data.rend());
    filch::copy<scheduler>(data, out | v::reverse);
    EXPECT_EQ(out, expected);
    expected.clear();
    std::copy_if(data.begin(), data.end(), std::back_inserter(expected), is_even);
    expected.resize(std::min(expected.size(), std::size_t{3}));
    filch::copy_if<scheduler>(data, out | v::take(3), is_even);
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), out.begin()));
  });
}

/// A projection or copy of an element that a view makes does not refer into it.
TEST(views, that_make_strings_are_copied_whole) {
  in_every_pool<scheduler>([](std::size_t n) {
    auto const words = v::iota(std::size_t{0}, n) | v::transform([](std::size_t i) {
                         return std::pair(i, "a long string that is on the heap " + std::to_string(i));
                       });
    std::vector<std::string> out(n);
    filch::transform<scheduler>(words, out, std::identity{}, &std::pair<std::size_t, std::string>::second);
    for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(out[i], words[static_cast<int>(i)].second);
    EXPECT_EQ(filch::copy_if<scheduler>(
                  words | v::transform([](auto const& p) { return p.second; }), out,
                  [](std::string const& s) {
                    return s.back() == '7';
                  }).out -
                  out.begin(),
              filch::count_if<scheduler>(words, [](auto const& p) { return p.first % 10 == 7; }));
    if (n > 7) {
      EXPECT_EQ(out[0], words[7].second);
    }
    EXPECT_EQ(filch::reduce<scheduler>(words | v::transform([](auto const& p) { return p.second; }), std::string(),
                                       [](std::string a, std::string b) { return a.size() > b.size() ? a : b; })
                  .size(),
              n == 0 ? 0 : words[static_cast<int>(n) - 1].second.size());
  });
}

/// Its area is that of the derived type.
struct shape {
  virtual ~shape() = default;
  virtual double area() const { return 0; }
};
struct square_shape : shape {
  double side;
  explicit square_shape(double x) : side(x) {}
  double area() const override { return side * side; }
};

TEST(views, extremes_of_made_elements_compare_what_projections_refer_to) {
  std::vector<std::unique_ptr<shape>> shapes;
  for (double x : {2., 3., 1.}) shapes.push_back(std::make_unique<square_shape>(x));
  // Comparators may take what is not const.
  auto const is_less = [](shape& a, shape& b) { return a.area() < b.area(); };
  auto const shape_at = [&](int i) -> shape& { return *shapes[static_cast<std::size_t>(i)]; };
  auto const indices = v::iota(0, 3);
  EXPECT_EQ(*filch::max_element<scheduler>(indices, is_less, shape_at), 1);
  EXPECT_EQ(*filch::min_element<scheduler>(indices, is_less, shape_at), 2);
  EXPECT_EQ(filch::max<scheduler>(indices, is_less, shape_at), 1);
  EXPECT_EQ(filch::minmax<scheduler>(indices, is_less, shape_at).min, 2);
}

TEST(views, extremes_of_filters_take_elements_that_are_not_const) {
  std::vector<int> all;
  for (int i = 0; i < 1'000; ++i) all.push_back(i * 7'919 % 1'000);
  auto some = all | v::filter([](int x) { return x % 2 == 1; });
  auto const of = [](int& x) { return x; };
  EXPECT_EQ(filch::max<scheduler>(some, {}, of), 999);
  EXPECT_EQ(filch::min<scheduler>(some, {}, of), 1);
  auto const both = filch::minmax<scheduler>(some, {}, of);
  EXPECT_EQ(both.min, 1);
  EXPECT_EQ(both.max, 999);
}

/// Every k-th of numbers below n, the greatest first, as strings on the heap.
std::vector<std::string> words_of_every(int k, std::size_t n) {
  std::vector<std::string> words;
  for (int i = 0; i < static_cast<int>(n); i += k) words.push_back("a long string " + std::to_string(2'000'000 - i));
  return words;
}
/// Each is moved once, and never compared after that.
TEST(views, that_give_elements_away_are_merged) {
  auto const give = v::transform([](std::string& s) -> std::string&& { return std::move(s); });
  in_every_pool<scheduler>([&](std::size_t n) {
    if (n > 1'000) return;
    auto const expect = [&](auto standard, auto own) {
      auto const x = words_of_every(2, n), y = words_of_every(3, n);
      std::vector<std::string> expected;
      standard(x, y, std::back_inserter(expected), std::greater<>());
      for (std::size_t const room : {expected.size() / 3, expected.size() / 2, expected.size()}) {
        auto from = x, from2 = y;
        std::vector<std::string> out(room);
        auto const ends = own(from | give, from2 | give, out, std::greater<>());
        EXPECT_TRUE(std::equal(out.begin(), out.end(), expected.begin()));
        EXPECT_EQ(ends.out, out.end());
        auto const first = static_cast<std::size_t>(ends.in1.base() - from.begin());
        auto const second = static_cast<std::size_t>(ends.in2.base() - from2.begin());
        EXPECT_TRUE(std::equal(from.begin() + static_cast<std::ptrdiff_t>(first), from.end(),
                               x.begin() + static_cast<std::ptrdiff_t>(first)));
        EXPECT_TRUE(std::equal(from2.begin() + static_cast<std::ptrdiff_t>(second), from2.end(),
                               y.begin() + static_cast<std::ptrdiff_t>(second)));
      }
    };
    expect(std::ranges::merge, [](auto&&... all) { return filch::merge<scheduler>(all...); });
    expect(std::ranges::set_union, [](auto&&... all) { return filch::set_union<scheduler>(all...); });
    expect(std::ranges::set_intersection, [](auto&&... all) { return filch::set_intersection<scheduler>(all...); });
    expect(std::ranges::set_difference, [](auto&&... all) { return filch::set_difference<scheduler>(all...); });
    expect(std::ranges::set_symmetric_difference,
           [](auto&&... all) { return filch::set_symmetric_difference<scheduler>(all...); });
  });
}

/// Where the answer is known early, or the output is short, a long input is not
/// read to its end. Two lengths may be more together than a word counts.
TEST(views, that_are_very_long_are_read_as_far_as_needed) {
  using numbers64 = std::vector<std::uint64_t>;
  std::uint64_t const most = ~std::uint64_t{0};
  outside_and_in_pools<scheduler>([&] {
    auto const all = v::iota(std::uint64_t{10}, most);
    for (auto const& range : {v::iota(std::uint64_t{10}, std::uint64_t{1} << 62), all}) {
      numbers64 few(12);
      std::iota(few.begin(), few.end(), std::uint64_t{20});
      EXPECT_TRUE(filch::includes<scheduler>(range, few));
      EXPECT_FALSE(filch::includes<scheduler>(few, range));
      numbers64 out(20);
      auto const both = filch::set_intersection<scheduler>(range, few, out);
      EXPECT_EQ(both.out, out.begin() + 12);
      EXPECT_TRUE(both.in1 == range.end() && both.in2 == few.end());
      EXPECT_TRUE(std::equal(few.begin(), few.end(), out.begin()));
      EXPECT_EQ(filch::set_intersection<scheduler>(few, range, out).out, out.begin() + 12);
      EXPECT_EQ(filch::set_intersection<scheduler>(few, range, few | v::take(0)).in1, few.begin());
      auto const none = filch::set_difference<scheduler>(few, range, out);
      EXPECT_EQ(none.out, out.begin());
      EXPECT_TRUE(none.in1 == few.end() && none.in2 == range.end());
      EXPECT_EQ(filch::set_intersection<scheduler>(range, numbers64(), out).in1, range.end());
      EXPECT_EQ(filch::set_difference<scheduler>(numbers64(), range, out).in2, range.end());
      few.insert(few.begin(), 5);
      EXPECT_EQ(filch::set_difference<scheduler>(few, range, out).out, out.begin() + 1);
      EXPECT_FALSE(filch::includes<scheduler>(range, few));
      few.front() = few.at(1);
      EXPECT_FALSE(filch::includes<scheduler>(range, few));
      auto const united = filch::set_union<scheduler>(range, few, out);
      EXPECT_EQ(united.out, out.end());
      EXPECT_EQ(out.back(), 28U);
      auto const merged = filch::merge<scheduler>(range, few, out);
      EXPECT_EQ(merged.out, out.end());
      EXPECT_EQ(merged.in2, few.begin() + 5);
      EXPECT_EQ(out.back(), 24U);
    }
  });
}

}  // namespace
}  // namespace filch_test
#endif

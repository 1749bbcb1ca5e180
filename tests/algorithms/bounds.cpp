// Iterators with a bounded output: the ends and the elements of the form with ranges, which other tests compare with
// std, and without a bound those of std.
#include "pieces.hpp"
#include "stop_source.hpp"

#include <filch/algorithm.hpp>

#include <algorithm>
#include <array>
#include <string>

namespace filch_test {
namespace {

template <class S> class bounds : public ::testing::Test {};
TYPED_TEST_SUITE(bounds, algorithm_schedulers, scheduler_names);

using ints = std::vector<int>;

/// form(first, last, out, out_last) or, with a token before them, the same in an optional. `of_ranges` is the form
/// with ranges, `all` what it writes where there is room.
template <class Form, class Ranges>
void expect_bounded(ints const& v, ints const& all, Form const& form, Ranges const& of_ranges) {
  for (std::size_t const room : {std::size_t{0}, all.size() / 2, all.size(), all.size() + 3}) {
    ints own(room, -1), same(room, -1), stoppable(room, -1);
    auto const ends = form(v.begin(), v.end(), own.begin(), own.end());
    auto const expected = of_ranges(v, same);
    EXPECT_EQ(ends.in, expected.in);
    EXPECT_EQ(ends.out - own.begin(), expected.out - same.begin());
    EXPECT_EQ(own, same);
    if (room >= all.size()) {
      EXPECT_TRUE(std::equal(own.begin(), ends.out, all.begin(), all.end()));
    }
    stop_token const token;
    EXPECT_TRUE(form(token, v.begin(), v.end(), stoppable.begin(), stoppable.end()));
    EXPECT_EQ(stoppable, same);
  }
}

TYPED_TEST(bounds, of_replacements_and_copies_are_those_of_ranges) {
  in_every_pool<TypeParam>([](std::size_t n) {
    using S = TypeParam;
    auto const v = numbers(n, 0, 9);
    auto const is_odd = [](int x) { return x % 2 != 0; };
    auto const half = [](int x) { return x / 2; };
    ints all(n);
    std::replace_copy(v.begin(), v.end(), all.begin(), 3, 30);
    auto const replace = [](auto&&... a) { return filch::replace_copy<S>(a..., 3, 30); };
    expect_bounded(v, all, replace, replace);
    std::transform(v.begin(), v.end(), all.begin(), [&](int x) { return is_odd(half(x)) ? 7 : x; });
    auto const replace_if = [&](auto&&... a) { return filch::replace_copy_if<S>(a..., is_odd, 7, half); };
    expect_bounded(v, all, replace_if, replace_if);
    all = v;
    auto const move = [](auto&&... a) { return filch::move<S>(a...); };
    expect_bounded(v, all, move, move);
    std::reverse(all.begin(), all.end());
    auto const reverse = [](auto&&... a) { return filch::reverse_copy<S>(a...); };
    expect_bounded(v, all, reverse, reverse);
  });
}

TYPED_TEST(bounds, of_removals_are_those_of_ranges) {
  in_every_pool<TypeParam>([](std::size_t n) {
    using S = TypeParam;
    auto const v = numbers(n, 0, 9);
    auto const is_odd = [](int x) { return x % 2 != 0; };
    auto const half = [](int x) { return x / 2; };
    ints all;
    std::copy_if(v.begin(), v.end(), std::back_inserter(all), [](int x) { return x != 3; });
    auto const remove = [](auto&&... a) { return filch::remove_copy<S>(a..., 3); };
    expect_bounded(v, all, remove, remove);
    all.clear();
    std::copy_if(v.begin(), v.end(), std::back_inserter(all), [&](int x) { return !is_odd(half(x)); });
    auto const remove_if = [&](auto&&... a) { return filch::remove_copy_if<S>(a..., is_odd, half); };
    expect_bounded(v, all, remove_if, remove_if);
    all.clear();
    std::unique_copy(v.begin(), v.end(), std::back_inserter(all));
    auto const unique = [](auto&&... a) { return filch::unique_copy<S>(a...); };
    expect_bounded(v, all, unique, unique);
    // The ends come with a stop token, too.
    ints out(all.size() / 2);
    auto const ends = unique(v.begin(), v.end(), out.begin(), out.end());
    auto const stoppable = unique(stop_token{}, v.begin(), v.end(), out.begin(), out.end());
    EXPECT_EQ(stoppable->in, ends.in);
    EXPECT_EQ(stoppable->out, ends.out);
  });
}

TYPED_TEST(bounds, of_rotations_and_exchanges_are_those_of_ranges) {
  in_every_pool<TypeParam>([](std::size_t n) {
    using S = TypeParam;
    auto const v = numbers(n);
    auto const middle = v.begin() + static_cast<std::ptrdiff_t>(n / 3);
    for (std::size_t const room : {std::size_t{0}, n / 2, n, n + 3}) {
      ints own(room, -1), same(room, -1), stoppable(room, -1);
      auto const ends = filch::rotate_copy<S>(v.begin(), middle, v.end(), own.begin(), own.end());
      auto const expected = filch::rotate_copy<S>(v, middle, same);
      EXPECT_EQ(ends.in, expected.in);
      EXPECT_EQ(ends.out - own.begin(), expected.out - same.begin());
      EXPECT_EQ(own, same);
      stop_token const token;
      EXPECT_TRUE(filch::rotate_copy<S>(token, v.begin(), middle, v.end(), stoppable.begin(), stoppable.end()));
      EXPECT_EQ(stoppable, same);

      auto one = v, two = v;
      ints other(room, -2), other_two(room, -2);
      auto const swapped = filch::swap_ranges<S>(one.begin(), one.end(), other.begin(), other.end());
      auto const of_ranges = filch::swap_ranges<S>(two, other_two);
      EXPECT_EQ(swapped.in1 - one.begin(), of_ranges.in1 - two.begin());
      EXPECT_EQ(swapped.in2 - other.begin(), of_ranges.in2 - other_two.begin());
      EXPECT_TRUE(one == two && other == other_two);
    }
  });
}

TYPED_TEST(bounds, of_set_operations_are_those_of_ranges) {
  in_every_pool<TypeParam>([](std::size_t n) {
    using S = TypeParam;
    auto a = numbers(n, 0, 99), b = numbers(n / 2 + 1, 0, 99);
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    auto const expect_same = [&](auto const& form, ints const& all) {
      for (std::size_t const room : {std::size_t{0}, all.size() / 2, all.size(), all.size() + 3}) {
        ints own(room, -1), same(room, -1), stoppable(room, -1);
        auto const ends = form(a.begin(), a.end(), b.begin(), b.end(), own.begin(), own.end());
        auto const expected = form(a, b, same);
        EXPECT_TRUE(ends.in1 == expected.in1 && ends.in2 == expected.in2);
        EXPECT_EQ(ends.out - own.begin(), expected.out - same.begin());
        EXPECT_EQ(own, same);
        if (room >= all.size()) {
          EXPECT_TRUE(std::equal(own.begin(), ends.out, all.begin(), all.end()));
        }
        auto const with_token =
            form(stop_token{}, a.begin(), a.end(), b.begin(), b.end(), stoppable.begin(), stoppable.end());
        EXPECT_TRUE(with_token->in1 == ends.in1 && with_token->in2 == ends.in2);
        EXPECT_EQ(stoppable, same);
      }
    };
    auto const by_std = [&](auto const& operation) {
      ints all;
      operation(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(all));
      return all;
    };
    expect_same([](auto&&... x) { return filch::set_union<S>(x...); },
                by_std([](auto... x) { std::set_union(x...); }));
    expect_same([](auto&&... x) { return filch::set_intersection<S>(x...); },
                by_std([](auto... x) { std::set_intersection(x...); }));
    expect_same([](auto&&... x) { return filch::set_difference<S>(x...); },
                by_std([](auto... x) { std::set_difference(x...); }));
    expect_same([](auto&&... x) { return filch::set_symmetric_difference<S>(x..., std::ranges::less{}); },
                by_std([](auto... x) { std::set_symmetric_difference(x...); }));
  });
}

TYPED_TEST(bounds, of_raw_memory_are_kept) {
  in_every_pool<TypeParam>([](std::size_t n) {
    using S = TypeParam;
    std::vector<std::string> v;
    for (int x : numbers(n)) v.push_back("a number that is not short: " + std::to_string(x));
    for (std::size_t const room : {std::size_t{0}, n / 2, n, n + 3}) {
      std::allocator<std::string> memory;
      auto* const at = memory.allocate(room + 1);
      std::size_t const made = std::min(room, n);
      auto const copied = filch::uninitialized_copy<S>(v.begin(), v.end(), at, at + room);
      EXPECT_EQ(copied.in - v.begin(), static_cast<std::ptrdiff_t>(made));
      EXPECT_EQ(copied.out, at + made);
      EXPECT_TRUE(std::equal(at, at + made, v.begin()));
      std::destroy(at, at + made);
      auto from = v;
      auto const moved = filch::uninitialized_move<S>(from.begin(), from.end(), at, at + room);
      EXPECT_EQ(moved.in - from.begin(), static_cast<std::ptrdiff_t>(made));
      EXPECT_EQ(moved.out, at + made);
      EXPECT_TRUE(std::equal(at, at + made, v.begin()));
      std::destroy(at, at + made);
      memory.deallocate(at, room + 1);
    }
  });
}

}  // namespace
}  // namespace filch_test

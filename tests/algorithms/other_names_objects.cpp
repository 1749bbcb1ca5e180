// The rest of the standard's names: those that make and destroy objects, and all with a stop token.
#include "pieces.hpp"
#include "stop_source.hpp"

#include <filch/algorithm.hpp>

#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>
#include <string>

namespace filch_test {
namespace {

template <class S> class other_objects : public ::testing::Test {};
TYPED_TEST_SUITE(other_objects, algorithm_schedulers, scheduler_names);

using ints = std::vector<int>;
std::ptrdiff_t signed_of(std::size_t n) { return static_cast<std::ptrdiff_t>(n); }

/// Counts objects, and throws at one.
struct counted {
  static inline std::atomic<int> alive{0}, made{0};
  static inline int throw_at = 0;
  int x = 5;
  counted() { count(); }
  explicit(false) counted(int y) : x(y) { count(); }
  counted(counted const& other) : x(other.x) { count(); }
  ~counted() { --alive; }
  static void count() {
    if (++made == throw_at) throw throw_at;
    ++alive;
  }
  static void reset(int at) { made = 0, throw_at = at; }
};

TYPED_TEST(other_objects, make_and_destroy_objects) {
  in_every_pool<TypeParam>([](std::size_t n) {
    using S = TypeParam;
    auto const v = numbers(n);
    std::allocator<counted> memory;
    counted* const first = memory.allocate(n + 1);
    counted* const last = first + n;
    auto const is_each = [&](auto const& value_at) {
      bool is = counted::alive == static_cast<int>(n);
      for (std::size_t i = 0; i < n; ++i) is = is && first[i].x == value_at(i);
      filch::destroy<S>(first, last);
      return is && counted::alive == 0;
    };
    counted::reset(0);
    filch::uninitialized_copy<S>(v.begin(), v.end(), first);
    EXPECT_TRUE(is_each([&](std::size_t i) { return v[i]; }));
    filch::uninitialized_move_n<S>(v.begin(), signed_of(n), first);
    EXPECT_TRUE(is_each([&](std::size_t i) { return v[i]; }));
    filch::uninitialized_fill<S>(first, last, 3);
    EXPECT_TRUE(is_each([](std::size_t) { return 3; }));
    filch::uninitialized_default_construct<S>(first, last);
    EXPECT_TRUE(is_each([](std::size_t) { return 5; }));
    filch::uninitialized_value_construct_n<S>(first, signed_of(n));
    EXPECT_TRUE(is_each([](std::size_t) { return 5; }));
    for (int at : {1, 2, 40, 90, 999}) {
      if (at > static_cast<int>(n)) continue;
      counted::reset(at);
      EXPECT_THROW(filch::uninitialized_copy<S>(v.begin(), v.end(), first), int);
      EXPECT_EQ(counted::alive, 0);
    }
    counted::reset(0);
    stop_source source;
    source.request_stop();
    EXPECT_EQ(filch::uninitialized_fill<S>(source.get_token(), first, last, 3), n == 0);
    EXPECT_EQ(counted::alive, 0);
    memory.deallocate(first, n + 1);
  });
}

TYPED_TEST(other_objects, have_forms_with_a_stop_token) {
  using S = TypeParam;
  auto const v = numbers(500, 0, 30);
  for (bool is_stopped : {false, true}) {
    stop_source source;
    if (is_stopped) source.request_stop();
    auto const token = source.get_token();
    auto own = v;
    ints out(v.size());
    auto const middle = own.begin() + 100;
    auto const is_odd = [](int x) { return x % 2 != 0; };
    std::vector<std::pair<char const*, bool>> const results{
        {"reverse", filch::reverse<S>(token, own)},
        {"rotate", filch::rotate<S>(token, own.begin(), middle, own.end())},
        {"rotate_copy", filch::rotate_copy<S>(token, own.begin(), middle, own.end(), out.begin())},
        {"rotate_copy of ranges", filch::rotate_copy<S>(token, own, middle, out)},
        {"shift_left", filch::shift_left<S>(token, own.begin(), own.end(), 3)},
        {"shift_right", filch::shift_right<S>(token, own, 3)},
        {"swap_ranges", filch::swap_ranges<S>(token, own, out)},
        {"move", filch::move<S>(token, own, out)},
        {"reverse_copy", filch::reverse_copy<S>(token, own, out)},
        {"replace", filch::replace<S>(token, own, 99, 98)},
        {"replace_if", filch::replace_if<S>(token, own.begin(), own.end(), is_odd, 98)},
        {"replace_copy", filch::replace_copy<S>(token, own, out, 1, 2)},
        {"replace_copy_if", filch::replace_copy_if<S>(token, own, out, is_odd, 2)},
        {"remove", filch::remove<S>(token, own.begin(), own.end(), 1).has_value()},
        {"remove_copy", filch::remove_copy<S>(token, own, out, 1).has_value()},
        {"remove_copy_if", filch::remove_copy_if<S>(token, own, out, is_odd).has_value()},
        {"unique_copy", filch::unique_copy<S>(token, own, out).has_value()},
        {"find_last", filch::find_last<S>(token, v, 99).has_value()},
        {"find_last_if", filch::find_last_if<S>(token, v, [](int) { return false; }).has_value()},
        {"find_first_of", filch::find_first_of<S>(token, v, ints{99}).has_value()},
        {"search_n", filch::search_n<S>(token, v.begin(), v.end(), 2, 99).has_value()},
        {"contains", filch::contains<S>(token, v, 99).has_value()},
        {"contains_subrange", filch::contains_subrange<S>(token, v, ints{99}).has_value()},
        {"starts_with", filch::starts_with<S>(token, v, v).has_value()},
        {"ends_with", filch::ends_with<S>(token, v, v).has_value()},
        {"is_partitioned", filch::is_partitioned<S>(token, v, [](int) { return true; }).has_value()},
        {"is_heap", filch::is_heap<S>(token, ints(500)).has_value()},
        {"is_heap_until",
         filch::is_heap_until<S>(token, v.begin(), v.begin() + 2, [](int, int) { return false; }).has_value()},
        {"lexicographical_compare", filch::lexicographical_compare<S>(token, v, v).has_value()},
        {"minmax", filch::minmax<S>(token, v).has_value()},
        {"copy_n", filch::copy_n<S>(token, v.begin(), 500, out.begin())},
        {"fill_n", filch::fill_n<S>(token, out.begin(), 500, 1)},
        {"generate_n", filch::generate_n<S>(token, out.begin(), 500, [] { return 1; })},
        {"uninitialized_copy", filch::uninitialized_copy<S>(token, v, out)},
        {"uninitialized_move", filch::uninitialized_move<S>(token, v.begin(), v.end(), out.begin())},
        {"uninitialized_default_construct", filch::uninitialized_default_construct<S>(token, out)},
        {"uninitialized_copy_n", filch::uninitialized_copy_n<S>(token, v.begin(), 500, out.begin())},
        {"uninitialized_move_n", filch::uninitialized_move_n<S>(token, v.begin(), 500, out.begin())},
        {"uninitialized_fill_n", filch::uninitialized_fill_n<S>(token, out.begin(), 500, 7)},
        {"uninitialized_default_construct_n", filch::uninitialized_default_construct_n<S>(token, out.begin(), 500)},
        {"uninitialized_value_construct_n", filch::uninitialized_value_construct_n<S>(token, out.begin(), 500)},
        {"random_shuffle", filch::random_shuffle<S>(token, own, 5)},
        {"flatten", filch::flatten<S>(token, std::vector<ints>(5)).has_value()}};
    for (auto const& [name, is_whole] : results) EXPECT_EQ(is_whole, !is_stopped) << name;
  }
}

TYPED_TEST(other_objects, are_the_same_with_a_stop_token) {
  in_every_pool<TypeParam>([](std::size_t n) {
    using S = TypeParam;
    stop_source source;
    auto const token = source.get_token();
    auto const v = numbers(n);
    std::vector<std::string> const words(n, "a string that is not in its own memory");
    auto const count = signed_of(n);
    std::allocator<std::string> memory;
    std::string* const first = memory.allocate(n + 1);
    auto const is_each = [&](std::string const& s) {
      bool const is = std::all_of(first, first + n, [&](std::string const& made) { return made == s; });
      return filch::destroy_n<S>(token, first, count) && is;
    };
    EXPECT_TRUE(filch::uninitialized_copy_n<S>(token, words.begin(), count, first));
    EXPECT_TRUE(is_each("a string that is not in its own memory"));
    auto taken = words;
    EXPECT_TRUE(filch::uninitialized_move_n<S>(token, taken.begin(), count, first));
    EXPECT_TRUE(is_each("a string that is not in its own memory"));
    EXPECT_TRUE(filch::uninitialized_fill_n<S>(token, first, count, "another string, which is as long as that"));
    EXPECT_TRUE(is_each("another string, which is as long as that"));
    EXPECT_TRUE(filch::uninitialized_default_construct_n<S>(token, first, count));
    EXPECT_TRUE(is_each(""));
    EXPECT_TRUE(filch::uninitialized_value_construct_n<S>(token, first, count));
    EXPECT_TRUE(is_each(""));
    memory.deallocate(first, n + 1);
    // Bounded outputs.
    auto sorted = v;
    std::sort(sorted.begin(), sorted.end());
    ints const& low = sorted;
    ints const high(n / 2 + 1, 1);
    ints whole(n + high.size());
    std::merge(low.begin(), low.end(), high.begin(), high.end(), whole.begin());
    for (std::size_t room : {std::size_t{0}, n / 3, n}) {
      ints out(room), expected(room);
      std::copy_n(whole.begin(), room, expected.begin());
      EXPECT_TRUE(filch::merge<S>(token, low.begin(), low.end(), high.begin(), high.end(), out.begin(), out.end()));
      EXPECT_EQ(out, expected);
      EXPECT_TRUE(filch::merge<S>(token, low.begin(), low.end(), high.begin(), high.end(), out.begin(), out.end(),
                                  std::less<>{}, std::identity{}, std::identity{}));
      EXPECT_EQ(out, expected);
      std::transform(v.begin(), v.begin() + signed_of(room), low.begin(), expected.begin(), std::minus<>{});
      EXPECT_TRUE(filch::transform<S>(token, v.begin(), v.end(), low.begin(), low.end(), out.begin(), out.end(),
                                      std::minus<>{}));
      EXPECT_EQ(out, expected);
      EXPECT_TRUE(filch::transform<S>(token, v.begin(), v.end(), low.begin(), low.end(), out.begin(), out.end(),
                                      std::plus<>{}, std::identity{}, std::negate<>{}));
      EXPECT_EQ(out, expected);
      std::size_t const middle = n / 4;
      for (std::size_t i = 0; i != room; ++i) expected[i] = v[i < n - middle ? middle + i : i + middle - n];
      EXPECT_TRUE(filch::rotate_copy<S>(token, v, v.begin() + signed_of(middle), out));
      EXPECT_EQ(out, expected);
    }
    {  // Ends of filters.
      auto const is_odd = [](int x) { return x % 2 != 0; };
      ints kept(n), expected(n);
      auto end = std::remove_copy_if(v.begin(), v.end(), expected.begin(), is_odd);
      EXPECT_EQ(filch::remove_copy_if<S>(token, v.begin(), v.end(), kept.begin(), is_odd),
                kept.begin() + (end - expected.begin()));
      EXPECT_EQ(kept, expected);
      end = std::remove_copy(v.begin(), v.end(), expected.begin(), 3);
      auto const ends = filch::remove_copy<S>(token, v, kept, 3);
      EXPECT_TRUE(ends && ends->in == v.end() && ends->out == kept.begin() + (end - expected.begin()));
      EXPECT_EQ(kept, expected);
      end = std::unique_copy(v.begin(), v.end(), expected.begin());
      EXPECT_EQ(filch::unique_copy<S>(token, v.begin(), v.end(), kept.begin()),
                kept.begin() + (end - expected.begin()));
      EXPECT_EQ(kept, expected);
      if constexpr (filch::detail::has_subranges) {
        auto own = v;
        auto const removed = filch::remove<S>(token, own, 3);
        EXPECT_TRUE(removed && removed->end() == own.end());
        EXPECT_EQ(removed->size(), static_cast<std::size_t>(std::count(v.begin(), v.end(), 3)));
      }
    }
    source.request_stop();
    ints out(n);
    auto const is_stopped = [&](bool is_whole) { return !is_whole || n == 0; };
    EXPECT_TRUE(is_stopped(filch::merge<S>(token, v.begin(), v.end(), v.begin(), v.end(), out.begin(), out.end())));
    EXPECT_TRUE(is_stopped(
        filch::transform<S>(token, v.begin(), v.end(), v.begin(), v.end(), out.begin(), out.end(), std::plus<>{})));
  });
}

}  // namespace
}  // namespace filch_test

// Results of a join, of every kind, stolen or not.
#include "counted.hpp"
#include "schedulers.hpp"
#include "stealing.hpp"

#include <any>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace filch_test {
namespace {

template <class S> class join_results : public ::testing::Test {};
TYPED_TEST_SUITE(join_results, all_schedulers, scheduler_names);

TYPED_TEST(join_results, of_different_types_come_in_order) {
  in_every_way<TypeParam>([](auto join) {
    auto both =
        join([] { return 41; }, [] { return std::string("a string that is too long to be stored in place"); });
    static_assert(std::is_same_v<decltype(both), std::pair<int, std::string>>);
    EXPECT_EQ(both.first, 41);
    EXPECT_EQ(both.second, "a string that is too long to be stored in place");
  });
}

TYPED_TEST(join_results, of_void_are_nothing) {
  in_every_way<TypeParam>([](auto join) {
    int f = 0;
    int g = 0;
    auto both = join([&] { f = 1; }, [&] { g = 2; });
    static_assert(std::is_same_v<decltype(both), std::pair<filch::nothing, filch::nothing>>);
    EXPECT_EQ(f, 1);
    EXPECT_EQ(g, 2);
    auto left = join([&] { f = 3; }, [] { return 4; });
    static_assert(std::is_same_v<decltype(left), std::pair<filch::nothing, int>>);
    EXPECT_EQ(left.second, 4);
    auto right = join([] { return 5; }, [&] { g = 6; });
    static_assert(std::is_same_v<decltype(right), std::pair<int, filch::nothing>>);
    EXPECT_EQ(right.first, 5);
    EXPECT_EQ(f + g, 9);
  });
}

TYPED_TEST(join_results, that_can_only_be_moved_are_moved) {
  in_every_way<TypeParam>([](auto join) {
    auto [a, b] = join([] { return std::make_unique<int>(1); }, [] { return std::make_unique<int>(2); });
    EXPECT_EQ(*a, 1);
    EXPECT_EQ(*b, 2);
  });
}

TYPED_TEST(join_results, that_are_lvalue_references_refer_to_the_same_object) {
  in_every_way<TypeParam>([](auto join) {
    int x = 1;
    std::string const y = "y";
    auto both = join([&]() -> int& { return x; }, [&]() -> std::string const& { return y; });
    static_assert(std::is_same_v<decltype(both), std::pair<int&, std::string const&>>);
    EXPECT_EQ(&both.first, &x);
    EXPECT_EQ(&both.second, &y);
  });
}

TYPED_TEST(join_results, that_are_rvalue_references_refer_to_the_same_object) {
  in_every_way<TypeParam>([](auto join) {
    std::string x = "x";
    std::string y = "y";
    auto both =
        join([&]() -> std::string&& { return std::move(x); }, [&]() -> std::string&& { return std::move(y); });
    static_assert(std::is_same_v<decltype(both), std::pair<std::string&&, std::string&&>>);
    EXPECT_EQ(std::addressof(both.first), &x);
    EXPECT_EQ(std::addressof(both.second), &y);
    EXPECT_EQ(x + y, "xy");
  });
}

template <std::size_t Bytes> struct block {
  std::array<unsigned char, Bytes> bytes;
  explicit block(unsigned char with) { bytes.fill(with); }
  bool is_filled_with(unsigned char c) const { return bytes == block(c).bytes; }
};

TYPED_TEST(join_results, of_any_size_arrive_whole) {
  in_every_way<TypeParam>([](auto join) {
    auto const check = [&]<std::size_t Bytes> {
      auto [a, b] = join([] { return block<Bytes>('a'); }, [] { return block<Bytes>('b'); });
      EXPECT_TRUE(a.is_filled_with('a')) << Bytes;
      EXPECT_TRUE(b.is_filled_with('b')) << Bytes;
    };
    check.template operator()<1>();
    check.template operator()<48>();
    check.template operator()<49>();
    check.template operator()<4096>();
  });
}

template <std::size_t Alignment> struct alignas(Alignment) aligned {
  int value;
  bool is_aligned() const { return reinterpret_cast<std::uintptr_t>(this) % Alignment == 0; }
};

TYPED_TEST(join_results, that_are_over_aligned_stay_aligned) {
  in_every_way<TypeParam>([](auto join) {
    auto const check = [&]<std::size_t Alignment> {
      auto [a, b] = join([] { return aligned<Alignment>{1}; }, [] { return aligned<Alignment>{2}; });
      EXPECT_TRUE(a.is_aligned()) << Alignment;
      EXPECT_TRUE(b.is_aligned()) << Alignment;
      EXPECT_EQ(a.value, 1);
      EXPECT_EQ(b.value, 2);
    };
    check.template operator()<32>();
    check.template operator()<64>();
    check.template operator()<4096>();
  });
}

TYPED_TEST(join_results, that_are_const_are_values_like_others) {
  in_every_way<TypeParam>([](auto join) {
    auto both = join([]() -> std::string const { return "f"; }, []() -> std::vector<int> const { return {1, 2, 3}; });
    EXPECT_EQ(both.first, "f");
    EXPECT_EQ(both.second.size(), 3u);
    auto const make = [](int n) { return [n]() -> std::unique_ptr<int> const { return std::make_unique<int>(n); }; };
    auto owned = join(make(1), make(2));
    EXPECT_EQ(*owned.first + *owned.second, 3);
  });
}

struct without_default {
  explicit without_default(int v) : value(v) {}
  int const value;
};

TYPED_TEST(join_results, need_no_default_constructor) {
  in_every_way<TypeParam>([](auto join) {
    auto [a, b] = join([] { return without_default(1); }, [] { return without_default(2); });
    EXPECT_EQ(a.value, 1);
    EXPECT_EQ(b.value, 2);
  });
}

struct without_address {
  int value;
  void operator&() const = delete;
};

TYPED_TEST(join_results, may_overload_the_address_operator) {
  in_every_way<TypeParam>([](auto join) {
    without_address x{3};
    auto [a, b] = join([] { return without_address{1}; }, [] { return without_address{2}; });
    EXPECT_EQ(a.value + b.value, 3);
    auto const [c, d] = join([&]() -> without_address& { return x; }, [&]() -> without_address& { return x; });
    EXPECT_EQ(c.value + d.value, 6);
  });
}

TYPED_TEST(join_results, that_convert_from_anything_are_not_confused) {
  in_every_way<TypeParam>([](auto join) {
    auto [a, b] = join([] { return std::any(1); }, [] { return std::any(std::string("two")); });
    EXPECT_EQ(std::any_cast<int>(a), 1);
    EXPECT_EQ(std::any_cast<std::string>(b), "two");
    auto [c, d] = join([] { return std::tuple<int>(1); }, [] { return std::optional<std::optional<int>>(); });
    EXPECT_EQ(std::get<0>(c), 1);
    EXPECT_FALSE(d.has_value());
    auto [e, f] = join([] { return std::vector<std::any>(3); }, [] { return std::map<int, int>{{1, 2}}; });
    EXPECT_EQ(e.size(), 3u);
    EXPECT_EQ(f.at(1), 2);
  });
}

enum class colour { red, green };

TYPED_TEST(join_results, of_plain_types_keep_their_bits) {
  in_every_way<TypeParam>([](auto join) {
    auto [a, b] = join([] { return 0.1L; }, [] { return colour::green; });
    EXPECT_EQ(a, 0.1L);
    EXPECT_EQ(b, colour::green);
    auto [c, d] = join([] { return &std::string::size; }, [] { return nullptr; });
    EXPECT_EQ((std::string("abc").*c)(), 3u);
    EXPECT_EQ(d, nullptr);
    auto [e, f] = join([] { return true; }, [] { return std::byte{7}; });
    EXPECT_TRUE(e);
    EXPECT_EQ(f, std::byte{7});
  });
}

TYPED_TEST(join_results, are_destroyed_once) {
  nothing_left_behind const check;
  in_every_way<TypeParam>([](auto join) {
    {
      auto [a, b] = join([] { return counted(1); }, [] { return counted(2); });
      EXPECT_EQ(a.value(), 1);
      EXPECT_EQ(b.value(), 2);
      EXPECT_EQ(counted::alive(), 2);
    }
    join([] { return counted(3); }, [] { return std::vector<counted>(100, counted(4)); });
    join(
        [] {
          return std::array<counted, 16>{counted(5),  counted(6),  counted(7),  counted(8),  counted(9),  counted(10),
                                         counted(11), counted(12), counted(13), counted(14), counted(15), counted(16),
                                         counted(17), counted(18), counted(19), counted(20)};
        },
        [] { return std::array<counted, 2>{counted(1), counted(2)}; });
  });
}

TYPED_TEST(join_results, come_back_to_a_caller_outside_all_pools) {
  auto both = filch::join<TypeParam>([] { return std::make_unique<int>(1); }, [] { return aligned<128>{2}; });
  EXPECT_EQ(*both.first, 1);
  EXPECT_TRUE(both.second.is_aligned());
  int x = 0;
  auto refs = filch::join<TypeParam>([&]() -> int& { return x; }, [&]() -> int&& { return std::move(x); });
  static_assert(std::is_same_v<decltype(refs), std::pair<int&, int&&>>);
  EXPECT_EQ(&refs.first, &x);
}

}  // namespace
}  // namespace filch_test

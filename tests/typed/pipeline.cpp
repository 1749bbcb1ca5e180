// filch::pipeline: order, bounds, kinds of stages, exceptions, stop tokens.
#include <filch/pipeline.hpp>

#include "scale.hpp"
#include "seeds.hpp"
#include "stealing.hpp"
#include "stop_source.hpp"

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace filch_test {
namespace {

template <class S> class pipeline : public ::testing::Test {};
TYPED_TEST_SUITE(pipeline, all_schedulers, scheduler_names);

auto count_to(int last) {
  return [i = 0, last]() mutable -> std::optional<int> {
    if (i == last) return std::nullopt;
    return i++;
  };
}

/// At most one thread is inside at a time.
class alone {
 public:
  explicit alone(std::atomic<int>& inside) : inside_(inside) { EXPECT_EQ(inside_.fetch_add(1), 0); }
  ~alone() { inside_.fetch_sub(1); }

 private:
  std::atomic<int>& inside_;
};

TYPED_TEST(pipeline, copies_what_stages_refer_to) {
  std::vector<std::string> const names{"a", "b", "c"};
  std::vector<std::string> out;
  std::size_t next = 0;
  filch::pipeline<TypeParam>(
      4, [&]() -> std::optional<std::size_t> { return next < names.size() ? std::optional(next++) : std::nullopt; },
      [&](std::size_t i) -> std::string const& { return names[i]; },
      filch::serial_in_order([&](std::string name) { out.push_back(std::move(name)); }));
  EXPECT_EQ(out, names);
}

TYPED_TEST(pipeline, keeps_the_order_of_serial_stages) {
  outside_and_in_pools<TypeParam>([] {
    for (std::size_t most : {1u, 2u, 7u, 64u}) {
      std::vector<std::string> out;
      std::atomic<int> in_first{0};
      std::atomic<int> in_last{0};
      std::vector<int> any_order;
      int expected = 0;
      filch::pipeline<TypeParam>(
          most, count_to(300), filch::serial_in_order([&](int i) {
            alone const here(in_first);
            EXPECT_EQ(i, expected++);
            return i;
          }),
          [](int i) {
            std::uint64_t volatile x = static_cast<std::uint64_t>(i);
            for (std::uint64_t k = 0; k < mix(x) % 2000; ++k) x = x + k;
            return std::make_unique<int>(i * 2);
          },
          filch::serial_out_of_order([&](std::unique_ptr<int> i) {
            any_order.push_back(*i);
            return i;
          }),
          filch::parallel([](std::unique_ptr<int> i) { return std::to_string(*i); }),
          filch::serial_in_order([&](std::string s) {
            alone const here(in_last);
            out.push_back(std::move(s));
          }));
      ASSERT_EQ(out.size(), 300u);
      for (int i = 0; i < 300; ++i) ASSERT_EQ(out[static_cast<std::size_t>(i)], std::to_string(2 * i));
      EXPECT_EQ(any_order.size(), 300u);
    }
  });
}

TYPED_TEST(pipeline, bounds_the_items_under_way) {
  outside_and_in_pools<TypeParam>([] {
    std::atomic<int> under_way{0};
    int most = 0;
    int i = 0;
    filch::pipeline<TypeParam>(
        5,
        [&]() -> std::optional<int> {
          if (i == 500) return std::nullopt;
          int const now = under_way.fetch_add(1) + 1;
          if (now > most) most = now;
          return i++;
        },
        [](int x) { return x; }, filch::serial_in_order([&](int) { under_way.fetch_sub(1); }));
    EXPECT_EQ(under_way.load(), 0);
    EXPECT_GE(most, 1);
    EXPECT_LE(most, 5);
  });
}

/// An item whose end takes a while.
struct counted_item {
  static inline std::atomic<int> alive{0};
  bool is_one = true;
  counted_item() { ++alive; }
  counted_item(counted_item&& other) noexcept : is_one(std::exchange(other.is_one, false)) {}
  ~counted_item() {
    if (!is_one) return;
    for (int i = 0; i < 1'000; ++i) asm volatile("");
    --alive;
  }
};
TYPED_TEST(pipeline, asks_the_source_when_an_item_is_destroyed) {
  outside_and_in_pools<TypeParam>([] {
    for (int most : {1, 3}) {
      int left = 0;
      auto const source = [most, &left]() -> std::optional<counted_item> {
        EXPECT_LT(counted_item::alive.load(), most);
        if (left-- == 0) return std::nullopt;
        return counted_item();
      };
      auto const look = [](counted_item const& item) { EXPECT_TRUE(item.is_one); };
      left = 300;
      filch::pipeline<TypeParam>(static_cast<std::size_t>(most), source, look);
      left = 300;
      filch::pipeline<TypeParam>(static_cast<std::size_t>(most), source, filch::serial_in_order(look));
    }
    EXPECT_EQ(counted_item::alive.load(), 0);
  });
}

/// A stop is requested once, at the last look of so many.
struct brief_token {
  std::atomic<int>* looks_left;
  bool stop_requested() const noexcept { return looks_left->fetch_sub(1) == 1; }
  bool stop_possible() const noexcept { return true; }
};
TYPED_TEST(pipeline, tells_of_items_left_out_when_the_request_is_over) {
  outside_and_in_pools<TypeParam>([] {
    for (int looks = 1; looks < 100; ++looks) {
      std::atomic<int> looks_left{looks};
      int done = 0;
      bool const all = filch::pipeline<TypeParam>(
          brief_token{&looks_left}, 4, count_to(20), [](int i) { return i; },
          filch::serial_in_order([&](int) { ++done; }));
      EXPECT_EQ(all ? done : 20, 20) << looks;
      EXPECT_LE(done, 20);
    }
  });
}

TYPED_TEST(pipeline, runs_stages_of_different_items_at_once) {
  if constexpr (!steals<TypeParam>) {
    GTEST_SKIP() << "it has no threads";
  } else {
    typename TypeParam::pool pool({.workers = 2});
    pool.run([] {
      gate second;
      filch::pipeline<TypeParam>(4, count_to(2), [&](int i) {
        if (i == 1) return second.open();
        EXPECT_TRUE(second.pass()) << "the second item waits for the first one";
      });
    });
  }
}

TYPED_TEST(pipeline, without_items_or_stages) {
  outside_and_in_pools<TypeParam>([] {
    filch::pipeline<TypeParam>(3, count_to(0), [](int) { ADD_FAILURE(); });
    int taken = 0;
    filch::pipeline<TypeParam>(3, [&]() -> std::optional<int> {
      if (taken == 100) return std::nullopt;
      return taken++;
    });
    EXPECT_EQ(taken, 100);
  });
}

TYPED_TEST(pipeline, stops_at_an_exception_or_a_request) {
  outside_and_in_pools<TypeParam>([] {
    std::atomic<int> ended{0};
    EXPECT_THROW(filch::pipeline<TypeParam>(
                     8, count_to(100'000),
                     [](int i) {
                       if (i == 20) throw i;
                       return i;
                     },
                     filch::serial_in_order([&](int i) {
                       EXPECT_NE(i, 20);
                       ++ended;
                     })),
                 int);
    EXPECT_LE(ended.load(), 20);
    EXPECT_THROW(filch::pipeline<TypeParam>(3, []() -> std::optional<int> { throw 'a'; }, [](int) {}), char);
    stop_source at_once;
    EXPECT_FALSE(filch::pipeline<TypeParam>(
        at_once.get_token(), 1, count_to(5),
        [&](int i) {
          at_once.request_stop();
          return i;
        },
        [](int) { ADD_FAILURE() << "a stage after the request"; }));
    stop_source source;
    stop_token const token = source.get_token();
    std::atomic<int> begun{0};
    EXPECT_FALSE(filch::pipeline<TypeParam>(token, 8, count_to(100'000), [&](int) {
      if (begun.fetch_add(1) == 30) source.request_stop();
    }));
    EXPECT_LE(begun.load(), 60);
    EXPECT_TRUE(filch::pipeline<TypeParam>(stop_token(), 8, count_to(10), [](int) {}));
  });
}

/// An item that can be made of another one, and never assigned.
struct fixed {
  int const number;
  std::unique_ptr<int> owned = std::make_unique<int>(7);
};

TYPED_TEST(pipeline, passes_items_that_can_not_be_assigned) {
  outside_and_in_pools<TypeParam>([] {
    int sum = 0;
    int next = 0;
    auto source = [i = 0]() mutable -> std::optional<fixed> {
      if (i == 200) return std::nullopt;
      return fixed{i++};
    };
    auto const later = [](fixed x) {
      EXPECT_EQ(*x.owned, 7);
      return fixed{x.number + 1};
    };
    filch::pipeline<TypeParam>(8, source, later, filch::serial_out_of_order([&](fixed x) {
                                 sum += x.number;
                                 return x;
                               }),
                               filch::serial_in_order([&](fixed x) { EXPECT_EQ(x.number, ++next); }));
    EXPECT_EQ(sum, 200 * 201 / 2);
  });
}

TEST(pipeline_gates, without_an_order_let_in_the_item_that_waits_longest) {
  filch::detail::gate<fixed, false> stage(4);
  auto const enters = [&stage](int number) {
    fixed item{number};
    return stage.enter(static_cast<std::size_t>(number), item);
  };
  auto const follows = [&stage] {
    auto const item = stage.leave();
    return item ? item->second.number : -1;
  };
  EXPECT_TRUE(enters(9));
  for (int number : {3, 8, 2}) EXPECT_FALSE(enters(number));
  EXPECT_EQ(follows(), 3);
  EXPECT_FALSE(enters(7));
  EXPECT_EQ(follows(), 8);
  EXPECT_FALSE(enters(4));
  for (int number : {2, 7, 4, -1}) EXPECT_EQ(follows(), number);
  EXPECT_TRUE(enters(6));
}

}  // namespace
}  // namespace filch_test

// Results and callables whose own functions are not as usual: those that fork, can't be copied, or are referred to.
#include "scale.hpp"
#include "schedulers.hpp"
#include "stealing.hpp"

#include <array>
#include <atomic>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace filch_test {
namespace {

template <class S> class values : public ::testing::Test {
 protected:
  /// Runs on three workers, until there were steals.
  template <class Body> static void while_others_steal(Body body) {
    typename S::pool pool({.workers = 3});
    EXPECT_TRUE(eventually([&] {
      for (std::size_t i = 0; i < scaled(100); ++i) pool.run(body);
      return !steals<S> || has_no_thieves<S>() || steals_of<S>(pool) > 0 || ::testing::Test::HasFailure();
    }));
  }
};
TYPED_TEST_SUITE(values, all_schedulers, scheduler_names);

template <class S> long leaves(int depth) {
  if (depth == 0) return 1;
  auto const [a, b] = filch::join<S>([=] { return leaves<S>(depth - 1); }, [=] { return leaves<S>(depth - 1); });
  return a + b;
}

/// A tree that is destroyed in parallel.
template <class S> struct tree {
  std::unique_ptr<tree> left;
  std::unique_ptr<tree> right;
  tree() = default;
  tree(std::unique_ptr<tree> l, std::unique_ptr<tree> r) : left(std::move(l)), right(std::move(r)) {}
  tree(tree&&) noexcept = default;
  ~tree() {
    filch::join<S>([this] { left.reset(); }, [this] { right.reset(); });
  }
  long nodes() const { return 1 + (left ? left->nodes() : 0) + (right ? right->nodes() : 0); }

  static tree of(int depth) {
    if (depth == 0) return {};
    auto [a, b] = filch::join<S>([=] { return of(depth - 1); }, [=] { return of(depth - 1); });
    return {std::make_unique<tree>(std::move(a)), std::make_unique<tree>(std::move(b))};
  }
};

TYPED_TEST(values, may_be_destroyed_in_parallel) {
  TestFixture::while_others_steal([] {
    EXPECT_EQ(tree<TypeParam>::of(7).nodes(), 255);
    std::atomic<long> nodes{0};
    filch::scope<TypeParam>([&](auto& s) {
      for (int i = 0; i < 10; ++i) {
        s.spawn([t = tree<TypeParam>::of(3), &nodes] { nodes += t.nodes(); });
      }
    });
    EXPECT_EQ(nodes, 150);
  });
}

/// A value that is copied in parallel. It is small, so it lies in the descriptor.
template <class S> struct copied_in_parallel {
  long tag = 7;
  copied_in_parallel() = default;
  copied_in_parallel(copied_in_parallel const& other) : tag(other.tag + leaves<S>(3) - 8) {}
  copied_in_parallel(copied_in_parallel&& other) noexcept : tag(other.tag + leaves<S>(3) - 8) {}
  ~copied_in_parallel() = default;
};

TYPED_TEST(values, may_be_copied_in_parallel) {
  using value = copied_in_parallel<TypeParam>;
  TestFixture::while_others_steal([] {
    auto const [a, b] = filch::join<TypeParam>([] { return value(); },
                                               [] {
                                                 static_cast<void>(leaves<TypeParam>(3));
                                                 return value();
                                               });
    EXPECT_EQ(a.tag + b.tag, 14);
    std::atomic<long> sum{0};
    auto const task = [v = value(), &sum] { sum += v.tag; };
    filch::scope<TypeParam>([&](auto& s) {
      for (int i = 0; i < 10; ++i) s.spawn(task);
      for (int i = 0; i < 10; ++i) s.spawn([v = value(), &sum] { sum += v.tag; });
    });
    EXPECT_EQ(sum, 140);
  });
}

TYPED_TEST(values, that_are_spawned_stay_their_owner_s) {
  typename TypeParam::pool pool({.workers = 2});
  pool.run([] {
    constexpr long k_tasks = 10'000;  // more than a scope holds: some run in place
    std::atomic<long> sum{0};
    auto task = [calls = 0L, &sum]() mutable { sum += ++calls; };
    filch::scope<TypeParam>([&](auto& s) {
      for (long i = 0; i < k_tasks; ++i) s.spawn(task);
    });
    EXPECT_EQ(sum, k_tasks);
  });
}

/// Compilers take it for trivially copyable.
template <class T> struct only_moved {
  T value;
  explicit only_moved(T v) : value(v) {}
  only_moved(only_moved&&) = default;
  only_moved& operator=(only_moved&&) = default;
  T operator()() { return value; }
};

TYPED_TEST(values, may_be_movable_only_and_trivial) {
  static_assert(std::is_trivially_copyable_v<only_moved<long>>);
  TestFixture::while_others_steal([] {
    auto const [a, b] = filch::join<TypeParam>(only_moved<long>(3), only_moved<long>(4));
    EXPECT_EQ(a + b, 7);
    auto const [c, d] =
        filch::join<TypeParam>([n = leaves<TypeParam>(3)] { return only_moved<long>(n); },
                               [n = leaves<TypeParam>(4)] { return only_moved<char>(static_cast<char>(n)); });
    EXPECT_EQ(c.value + d.value, 24);
    std::atomic<long> sum{0};
    filch::scope<TypeParam>([&](auto& s) {
      auto task = [&sum, n = only_moved<long>(5)] { sum += n.value; };
      s.spawn(std::move(task));
    });
    EXPECT_EQ(sum, 5);
  });
}

TYPED_TEST(values, may_be_referred_to_until_the_expression_s_end) {
  TestFixture::while_others_steal([] {
    auto const sum = [](std::pair<long&, long&> r) { return r.first + r.second; };
    for (long i = 0; i < 10; ++i) {
      ASSERT_EQ(sum(filch::join<TypeParam>([x = i]() mutable -> long& { return x += leaves<TypeParam>(2); },
                                           [y = 2 * i]() mutable -> long& { return y += leaves<TypeParam>(2); })),
                3 * i + 8);
    }
  });
}

struct text {
  char letters[8];
  std::string_view view() const { return letters; }
};
struct named_view {
  long number;
  std::string_view name;
};

/// Overwrites the remains of a callable on the stack.
[[gnu::noinline]] std::string copy_of(std::string_view view) {
  char volatile room[4096];
  for (char volatile& c : room) c = '-';
  return std::string(view);
}
[[gnu::noinline]] std::string copy_of(char const* begin) {
  char volatile room[4096];
  for (char volatile& c : room) c = '-';
  return begin;
}

/// Results of temporaries that compilers know nothing of: each is to be read in the full expression.
template <class Join> void expect_views_to_be_good(Join const& join) {
  text t{"abcdefg"};
  text u{"hijklmn"};
  asm volatile("" : "+m"(t), "+m"(u));
  EXPECT_EQ(copy_of(join([t] { return t.view(); }, [] {}).first), "abcdefg");
  EXPECT_EQ(copy_of(join([] {}, [u] { return u.view(); }).second), "hijklmn");
  EXPECT_EQ(copy_of(join([t] { return &t.letters[0]; }, [u] { return u.view(); }).first), "abcdefg");
  EXPECT_EQ(copy_of(join([t] { return &t.letters[0]; }, [u] { return &u.letters[0]; }).second), "hijklmn");
  EXPECT_EQ(copy_of(join([t, n = 1L] { return named_view{n, t.view()}; }, [] {}).first.name), "abcdefg");
  EXPECT_EQ(copy_of(join([] {}, [u] { return std::pair(1, std::span(u.letters)); }).second.second.data()), "hijklmn");
  EXPECT_EQ(copy_of(join([t] { return std::optional(t.view()); }, [] {}).first.value()), "abcdefg");
  EXPECT_EQ(copy_of(join([] {}, [u] { return std::ref(u); }).second.get().view()), "hijklmn");
  EXPECT_EQ(copy_of(join([t] { return [&t] { return t.view(); }; }, [] {}).first()), "abcdefg");
}

TYPED_TEST(values, may_be_views_of_a_capture_until_the_expression_s_end) {
  in_every_way<TypeParam>([](auto join) { expect_views_to_be_good(join); });
  expect_views_to_be_good([]<class F, class G>(F&& f, G&& g) {
    return filch::join<TypeParam>(std::forward<F>(f), std::forward<G>(g));  // through the default pool
  });
  expect_views_to_be_good([]<class F, class G>(F&& f, G&& g) {
    auto all = filch::invoke<TypeParam>(std::forward<F>(f), [] {}, [] {}, std::forward<G>(g));
    return std::pair(std::get<0>(all), std::get<3>(all));
  });
  text t{"abcdefg"};
  asm volatile("" : "+m"(t));
  typename TypeParam::pool pool({.workers = 1});
  EXPECT_EQ(copy_of(pool.run([t] { return t.view(); })), "abcdefg");
  EXPECT_EQ(copy_of(filch::stay([t] { return t.view(); })), "abcdefg");
  EXPECT_EQ(copy_of(filch::blocking([t] { return t.view(); })), "abcdefg");
}

}  // namespace
}  // namespace filch_test

/// Users' types with operators that nothing may use.
namespace guarded {

template <class T> void operator&(T&&) = delete;
template <class T, class U> void operator,(T&&, U&&) = delete;

/// A value of so many longs.
template <int Longs> struct value {
  long longs[Longs]{};
  value() = default;
  explicit value(long n) { longs[0] = n; }
  void operator&() const = delete;
};
enum class number : long {};
/// As `value`, but not trivial.
struct owner {
  std::unique_ptr<long> n;
  void operator&() const = delete;
};
/// Returns what make() returns. It holds that many longs, too.
template <class R, int Longs> struct callable {
  R (*make)();
  long longs[Longs]{};
  R operator()() const { return make(); }
  void operator&() const = delete;
};

}  // namespace guarded

namespace filch_test {
namespace {

template <class R, int Longs, class Join> void expect_to_return(R (*make)(), auto const& is_right, Join const& join) {
  using callable = guarded::callable<R, Longs>;
  auto const both = join(callable{make}, callable{make});
  EXPECT_TRUE(is_right(both.first) && is_right(both.second));
  callable const kept{make};
  EXPECT_TRUE(is_right(join(kept, [] { return 1; }).first));
}
template <class R, class Join> void expect_to_return_from_callables(R (*make)(), auto const& is_right, Join join) {
  expect_to_return<R, 1>(make, is_right, join);
  expect_to_return<R, 2>(make, is_right, join);
  expect_to_return<R, 5>(make, is_right, join);
  expect_to_return<R, 20>(make, is_right, join);
}
template <int Longs, class Join> void expect_to_return_values(Join join) {
  expect_to_return_from_callables<guarded::value<Longs>>([] { return guarded::value<Longs>(7); },
                                                         [](auto const& v) { return v.longs[0] == 7; }, join);
}

TYPED_TEST(values, need_no_address_operator_nor_comma) {
  in_every_way<TypeParam>([](auto join) {
    expect_to_return_values<1>(join);
    expect_to_return_values<2>(join);
    expect_to_return_values<3>(join);
    expect_to_return_values<20>(join);
    expect_to_return_from_callables<guarded::number>([] { return guarded::number{7}; },
                                                     [](auto n) { return n == guarded::number{7}; }, join);
    expect_to_return_from_callables<guarded::owner>([] { return guarded::owner{std::make_unique<long>(7)}; },
                                                    [](auto const& o) { return *o.n == 7; }, join);
    static guarded::owner const there{std::make_unique<long>(7)};
    expect_to_return_from_callables<guarded::owner const&>([]() -> auto& { return there; },
                                                           [](auto const& o) { return *o.n == 7; }, join);
  });
}

template <class S, int Longs> void run_everywhere(typename S::pool& pool) {
  using callable = guarded::callable<guarded::owner, Longs>;
  callable const task{[] { return guarded::owner{std::make_unique<long>(1)}; }};
  EXPECT_EQ(*pool.run(callable(task)).n + *filch::stay(callable(task)).n + *filch::blocking(callable(task)).n, 3);
  auto const all = filch::invoke<S>(task, callable(task), task);
  EXPECT_EQ(*std::get<0>(all).n + *std::get<1>(all).n + *std::get<2>(all).n, 3);
  filch::scope<S>([&](auto& s) {
    s.spawn(task);
    s.spawn(callable(task));
  });
  struct body : callable {
    void operator()(int) const { static_cast<void>(callable::operator()()); }
  };
  filch::for_index<S>(0, 100, body{task});
}

TYPED_TEST(values, need_no_address_operator_nor_comma_anywhere) {
  typename TypeParam::pool pool({.workers = 2});
  run_everywhere<TypeParam, 1>(pool);
  pool.run([&] {
    run_everywhere<TypeParam, 1>(pool);
    run_everywhere<TypeParam, 5>(pool);
    run_everywhere<TypeParam, 20>(pool);
  });
  filch::worker_local<guarded::value<1>> local;
  local.local().longs[0] = 7;
  auto const larger = [](auto const& a, auto const& b) { return a.longs[0] < b.longs[0] ? b : a; };
  EXPECT_EQ(local.combine(larger).longs[0], 7);
  if constexpr (requires { TypeParam::barrier(); }) {
    pool.run([] {
      TypeParam::detach(guarded::callable<guarded::owner, 5>{[] { return guarded::owner{}; }});
      TypeParam::barrier();
    });
  }
}

/// A callable of N bytes, aligned as Aligned; each result depends on each byte.
template <std::size_t N, class Aligned> struct callable_of_bytes {
  alignas(Aligned) std::array<unsigned char, N> bytes{};
  explicit callable_of_bytes(unsigned seed) {
    for (unsigned char& b : bytes) b = static_cast<unsigned char>(seed = seed * 69069 + 1);
  }
  unsigned long operator()() const {
    unsigned long sum = 0;
    for (unsigned char const b : bytes) sum = sum * 31 + b;
    return sum;
  }
};
template <class S, class F, class G> void joins_in_all_ways(unsigned seed) {
  F const f(seed);
  G const g(seed + 1);
  auto const [a, b] = filch::join<S>(F(f), G(g));
  ASSERT_EQ(a, f());
  ASSERT_EQ(b, g());
  auto const [c, d] = filch::join<S>(f, std::move(g));  // an lvalue, and a temporary that is const
  ASSERT_EQ(c, f());
  ASSERT_EQ(d, g());
  unsigned long of_g = 0;
  ASSERT_THROW(filch::join<S>([seed] { throw seed; }, [&of_g, &g] { of_g = g(); }), unsigned);
  ASSERT_EQ(of_g, g());
}
template <class S, class Aligned, std::size_t... N> void joins_of_sizes(std::index_sequence<N...>, unsigned seed) {
  constexpr std::size_t k_align = alignof(Aligned);
  (joins_in_all_ways<S, callable_of_bytes<(N + 1) * k_align, Aligned>,
                     callable_of_bytes<(sizeof...(N) - N) * k_align, Aligned>>(seed),
   ...);
}
template <class S> void joins_of_small_callables(unsigned seed) {
  joins_of_sizes<S, char>(std::make_index_sequence<20>(), seed);
  joins_of_sizes<S, int>(std::make_index_sequence<6>(), seed);
  joins_of_sizes<S, long>(std::make_index_sequence<3>(), seed);
  // Closures with padding, of floating point, and of references.
  char const letter = static_cast<char>(seed);
  double const number = seed;
  long sum = 0;
  long other = 0;
  filch::join<S>([letter, &sum] { sum = letter; }, [&other, letter] { other = letter; });
  ASSERT_EQ(sum, letter);
  ASSERT_EQ(other, letter);
  auto const [a, b] = filch::join<S>([number, letter] { return number + letter; },
                                     [number, twice = 2 * number] { return number + twice; });
  ASSERT_EQ(a, number + letter);
  ASSERT_EQ(b, 3 * number);
  filch::join<S>([&sum, &letter] { sum += letter; }, [&other, &letter] { other += letter; });
  ASSERT_EQ(sum, 2 * letter);
  ASSERT_EQ(other, 2 * letter);
}

TYPED_TEST(values, of_captures_arrive_whole_whatever_their_size) {
  joins_of_small_callables<TypeParam>(1);
  TestFixture::while_others_steal([] {
    static_cast<void>(leaves<TypeParam>(6));
    for (unsigned seed = 0; seed < 8; ++seed) joins_of_small_callables<TypeParam>(seed);
  });
}

/// Is a small temporary that returns a T handed over as a copy, in registers?
template <class T> constexpr bool is_copied() {
  auto const returns = [n = 1L]() -> T { std::abort(), static_cast<void>(n); };
  return filch::detail::travels_by_value<std::remove_const_t<decltype(returns)>>;
}
struct numbers {
  long count = 0;
  double sum = 0;
  std::pair<int, int> both{};
};
struct with_reference {
  long& number;
};
struct with_pointer_in_union {
  union {
    double number;
    double* pointer;
  };
};

TEST(small_values, that_refer_to_nothing_keep_small_callables_in_registers) {
  static_assert(is_copied<void>() && is_copied<long>() && is_copied<void (*)()>() && is_copied<numbers>());
  static_assert(is_copied<std::pair<int, double>>() && is_copied<std::tuple<int, numbers>>());
  static_assert(is_copied<std::array<long, 4>>());
  static_assert(!is_copied<long*>() && !is_copied<std::string_view>() && !is_copied<named_view>());
  static_assert(!is_copied<std::pair<int, long*>>() && !is_copied<std::tuple<numbers, std::span<int>>>());
  static_assert(!is_copied<with_reference>() && !is_copied<with_pointer_in_union>());
  static_assert(!is_copied<std::array<named_view, 2>>() && !is_copied<std::optional<long*>>());
}

}  // namespace
}  // namespace filch_test

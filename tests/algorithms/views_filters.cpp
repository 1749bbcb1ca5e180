// std::views::filter as an input: the results of the serial loop.
#include "stop_source.hpp"
#include "views.hpp"

#include <atomic>
#include <memory>

#if FILCH_TEST_VIEWS
namespace filch_test {
namespace {

TEST(views_of_filters, filters_are_inputs) {
  in_every_pool<scheduler>([](std::size_t n) {
    auto const data = numbers(n);
    int const m = static_cast<int>(n);
    agrees_with_the_loop<scheduler>(data | v::filter([](int) { return false; }));
    agrees_with_the_loop<scheduler>(v::iota(-m, m) | v::filter(is_even));
    agrees_with_the_loop<scheduler>(data | v::transform(square) | v::filter(is_even) |
                                    v::filter([](auto x) { return x % 3 == 0; }));
    agrees_with_the_loop<scheduler>(data | v::reverse | v::take(m / 2) | v::filter(is_even));
    agrees_with_the_loop<scheduler>(filch::zip(data, data) |
                                    v::transform([](auto const& e) { return std::get<0>(e) + std::get<1>(e); }) |
                                    v::filter(is_positive));
    agrees_with_the_loop<scheduler>(v::iota(0, m) | v::transform(square) | v::filter(is_even) |
                                    v::transform([](long x) { return x / 3 - 100; }));
    EXPECT_EQ(filch::reduce<scheduler>(numbers(n) | v::filter(is_even) | v::transform(square), 0L),
              filch::transform_reduce<scheduler>(data | v::filter(is_even), 0L, std::plus<>{}, square));
    // An rvalue that holds its elements.
    EXPECT_EQ(filch::reduce<scheduler>(numbers(n) | v::filter(is_even), 0L),
              filch::reduce<scheduler>(data | v::filter(is_even), 0L));
  });
}

TEST(views_of_filters, filters_that_are_searched_give_their_iterators) {
  in_every_pool<scheduler>([](std::size_t n) {
    auto data = numbers(n);
    auto evens = data | v::filter(is_even);
    auto const all = values_of(evens);
    auto const hit = filch::find_if<scheduler>(evens, is_positive);
    EXPECT_EQ(hit, std::ranges::find_if(evens, is_positive));
    EXPECT_EQ(filch::find_if_not<scheduler>(evens, is_positive), std::ranges::find_if_not(evens, is_positive));
    EXPECT_EQ(filch::find<scheduler>(evens, 5), evens.end());
    // It goes on from there.
    EXPECT_EQ(std::ranges::distance(hit, evens.end()), all.end() - std::find_if(all.begin(), all.end(), is_positive));
    EXPECT_EQ(filch::for_each<scheduler>(evens, [](int& x) { x += 2; }), evens.end());
    std::vector<int> half(all.size() / 2);
    auto const [in, out] = filch::copy_if<scheduler>(evens, half, [](int) { return true; });
    EXPECT_EQ(out, half.end());
    EXPECT_EQ(in, std::ranges::next(evens.begin(), static_cast<std::ptrdiff_t>(half.size()), evens.end()));
    for (std::size_t i = 0; i < half.size(); ++i) EXPECT_EQ(half[i], all[i] + 2);
    static_assert(
        std::same_as<decltype(filch::find<scheduler>(data | v::filter(is_even), 5)), std::ranges::dangling>);
  });
}

/// The predicate of a filter that requests a stop at one of its calls.
class stopping_predicate {
 public:
  explicit stopping_predicate(int stop_at) : stop_at_(stop_at) {
    if (stop_at == 0) source_.request_stop();
  }
  stop_token token() const { return source_.get_token(); }
  bool operator()(int x) {
    if (source_.stop_requested()) ++after_;
    if (++calls_ == stop_at_) source_.request_stop();
    return is_even(x);
  }
  int calls() const { return calls_; }
  int after() const { return after_; }

 private:
  int const stop_at_;
  stop_source source_;
  std::atomic<int> calls_{0};
  std::atomic<int> after_{0};
};

/// Runs form(filter) and form(token, filter), which read all elements.
template <class Form> void stops(char const* name, int stretch, Form const& form) {
  SCOPED_TRACE(name);
  constexpr int k_n = 20'000, k_never = -1;
  auto const data = numbers(k_n);
  for (unsigned workers : {1u, 2u}) {
    scheduler::pool pool({.workers = workers});
    for (int stop_at : {k_never, 0, 1'000}) {
      stopping_predicate pred(stop_at);
      auto evens = data | v::filter(std::ref(pred));
      pool.run([&] {
        auto const result = form(pred.token(), evens);
        EXPECT_EQ(static_cast<bool>(result), stop_at == k_never);
        EXPECT_LE(pred.after(), stretch * static_cast<int>(workers));
        if (stop_at == 0) {
          EXPECT_EQ(pred.calls(), 0);
        }
        if constexpr (!std::same_as<decltype(result), bool const>) {
          if (stop_at == k_never) {
            EXPECT_TRUE(*result == form(evens));
          }
        }
      });
    }
  }
}

TEST(views_of_filters, pass_on_elements_that_can_only_be_moved) {
  std::vector<int> const x{3, 1, 2};
  auto made = x | std::views::transform([](int i) { return std::make_unique<int>(i); }) |
              std::views::filter([](auto const& p) { return *p != 1; });
  std::atomic<int> sum{0};
  filch::for_each(made, [&](std::unique_ptr<int> p) { sum += *p; });
  EXPECT_EQ(sum, 5);
  int calls = 0;
  auto both = x | std::views::filter([](int i) { return i != 1; }) |
              std::views::filter([calls](int) mutable { return ++calls > 0; });
  EXPECT_EQ(filch::reduce(both, 0), 5);
  std::vector<std::unique_ptr<int>> kept(2);
  EXPECT_EQ(filch::copy_if(made, kept, [](auto const& p) { return *p != 2; }).out, kept.begin() + 1);
  EXPECT_EQ(*kept[0], 3);
  EXPECT_EQ(filch::count_if(made, [](std::unique_ptr<int> const& p) { return *p == 2; }), 1);
}

TEST(views_of_filters, copy_no_element_that_is_made_for_them) {
  static int copies;
  struct counted {
    int x = 0;
    counted() = default;
    explicit counted(int value) : x(value) {}
    counted(counted const& other) : x(other.x) { ++copies; }
    counted(counted&&) = default;
    counted& operator=(counted const&) = default;
    counted& operator=(counted&&) = default;
  };
  std::vector<counted> out(100);
  auto const made = v::iota(0, 100) | v::transform([](int x) { return counted(x); });
  auto evens = made | v::filter([](counted const& c) { return is_even(c.x); });
  auto sixths = evens | v::filter([](counted const& c) { return c.x % 3 == 0; });
  copies = 0;
  EXPECT_EQ(filch::copy_if(evens, out, [](counted const& c) { return c.x > 50; }).out, out.begin() + 24);
  EXPECT_EQ(filch::copy_if(sixths, out, [](counted const&) { return true; }).out, out.begin() + 17);
  EXPECT_EQ(out[16].x, 96);
  filch::for_each(evens, [](counted) {});
  EXPECT_EQ(copies, 0);
}

TEST(views_of_filters, may_change_their_predicates) {
  in_every_pool<scheduler>([](std::size_t n) {
    auto const data = numbers(n);
    auto tested = data | v::filter([calls = 0](int x) mutable { return ++calls != 0 && is_even(x); });
    auto const expected = filch::transform_reduce<scheduler>(data | v::filter(is_even), 0L, std::plus<>{}, square);
    auto mapped = tested | v::transform(square);
    EXPECT_EQ(filch::reduce<scheduler>(mapped, 0L), expected);
    EXPECT_EQ(filch::count_if<scheduler>(mapped, [](auto) { return true; }), std::ranges::distance(tested));
  });
}

TEST(views_of_filters, take_stop_tokens) {
  using s = scheduler;
  constexpr int k_stretch = 64, k_blocks = 64 * k_stretch;
  auto const none = [](int x) { return x % 2 != 0; };
  auto const all = [](int x) { return x % 2 == 0; };
  auto const plus = std::plus<>{};
  stops("reduce", k_stretch, [](auto&&... in) { return filch::reduce<s>(in..., 0L); });
  stops("reduce without a value", k_stretch, [](auto&&... in) { return filch::reduce<s>(in...); });
  stops("transform_reduce", k_stretch,
        [&](auto&&... in) { return filch::transform_reduce<s>(in..., 0L, plus, square); });
  stops("count", k_stretch, [](auto&&... in) { return filch::count<s>(in..., 4); });
  stops("count_if", k_stretch, [](auto&&... in) { return filch::count_if<s>(in..., is_positive); });
  stops("min", k_stretch, [](auto&&... in) { return filch::min<s>(in...); });
  stops("max", k_stretch, [](auto&&... in) { return filch::max<s>(in..., std::less<>{}); });
  stops("all_of", k_stretch, [&](auto&&... in) { return filch::all_of<s>(in..., all); });
  stops("any_of", k_stretch, [&](auto&&... in) { return filch::any_of<s>(in..., none); });
  stops("none_of", k_stretch, [&](auto&&... in) { return filch::none_of<s>(in..., none); });
  stops("find", k_stretch, [](auto&&... in) { return filch::find<s>(in..., 5); });
  stops("find_if", k_stretch, [&](auto&&... in) { return filch::find_if<s>(in..., none); });
  stops("find_if_not", k_stretch, [&](auto&&... in) { return filch::find_if_not<s>(in..., all); });
  // The results of these cannot be compared, or they take another argument behind the token.
  stops("minmax", k_stretch, [](stop_token const& token, auto& in) {
    auto const both = filch::minmax<s>(token, in);
    if (both) {
      EXPECT_LT(both->min, both->max);
    }
    return both.has_value();
  });
  stops("for_each", k_stretch, [](stop_token const& token, auto& in) {
    std::atomic<int> calls{0};
    bool const is_whole = filch::for_each<s>(token, in, [&](int x) { calls += is_even(x); });
    if (is_whole) {
      EXPECT_EQ(calls, filch::count_if<s>(in, is_even));
    }
    return is_whole;
  });
  stops("copy_if", k_stretch, [](stop_token const& token, auto& in) {
    std::vector<int> out(100'000);
    auto const ends = filch::copy_if<s>(token, in, out, is_positive);
    if (ends) {
      EXPECT_EQ(ends->out - out.begin(), filch::count_if<s>(in, is_positive));
    }
    return ends.has_value();
  });
  stops("reduce reproducibly", k_blocks, [](stop_token const& token, auto& in) {
    auto const sum = filch::reduce<s>(token, filch::reproducible, in, 0L);
    if (sum) {
      EXPECT_EQ(*sum, filch::reduce<s>(filch::reproducible, in, 0L));
    }
    return sum.has_value();
  });
  stops("transform_reduce reproducibly", k_blocks, [&](stop_token const& token, auto& in) {
    return filch::transform_reduce<s>(token, filch::reproducible, in, 0L, plus, square).has_value();
  });
  std::vector<int> const odd{1, 3};
  EXPECT_FALSE(filch::min<s>(stop_token(), odd | v::filter(is_even)));
  EXPECT_FALSE(filch::minmax<s>(stop_token(), odd | v::filter(is_even)));
  EXPECT_EQ(filch::max<s>(stop_token(), odd | v::filter(is_positive) | v::transform(square)), 9);
}

// A list, or what std::views::take leaves of a filter, has no positions that a worker could begin at.
template <class Range>
concept can_be_counted = requires(Range&& range) { filch::count_if(range, [](int) { return true; }); };
using filtered = decltype(std::declval<std::vector<int>&>() | v::filter(is_even));
static_assert(can_be_counted<std::vector<int>&> && can_be_counted<filtered&>);
static_assert(!can_be_counted<decltype(std::declval<filtered>() | v::take(3))>);

}  // namespace
}  // namespace filch_test
#endif

// A stop token ends a loop: stretches that have not begun do not begin, and the result says so.
#include <version>
#if defined(__cpp_lib_jthread)
#include "stoppable_forms.hpp"

#include <chrono>
#include <list>
#include <memory>
#include <ranges>
#include <thread>
#include <type_traits>

namespace filch_test {
namespace {

template <class S> class cancellation : public ::testing::Test {};
TYPED_TEST_SUITE(cancellation, algorithm_schedulers, scheduler_names);

TYPED_TEST(cancellation, changes_nothing_without_a_request) {
  in_every_pool<TypeParam>([](std::size_t n) {
    auto const run = [](std::string const& name, stoppable_form const& form) {
      call_counter count;
      EXPECT_TRUE(form(count)) << name;
    };
    every_reduction<TypeParam>(n, run);
    every_writer<TypeParam>(n, run);
    expect_other_writers<TypeParam>(std::stop_token(), n, true);
  });
}

TYPED_TEST(cancellation, begins_nothing_after_a_request) {
  in_every_pool<TypeParam>([](std::size_t n) {
    auto const run = [n](std::string const& name, stoppable_form const& form) {
      call_counter count;
      count.request_stop();
      EXPECT_EQ(form(count), n == 0) << name;
      EXPECT_EQ(count.calls(), 0) << name;
    };
    every_reduction<TypeParam>(n, run);
    every_writer<TypeParam>(n, run);
    std::stop_source source;
    source.request_stop();
    expect_other_writers<TypeParam>(source.get_token(), n, n == 0);
  });
}

TYPED_TEST(cancellation, ends_a_loop_within_a_stretch_on_each_worker) {
  for (unsigned workers : {1u, 2u}) {
    typename TypeParam::pool pool({.workers = workers});
    pool.run([&] {
      auto const run = [&](std::string const& name, stoppable_form const& form) {
        call_counter count(500);
        EXPECT_FALSE(form(count)) << name;
        // minmax_element calls its function three times for two positions. A position of the reproducible one is a
        // block.
        int const calls = name == "reduce reproducibly" ? 64 : 2;
        EXPECT_LE(count.after(), calls * 64 * static_cast<int>(workers)) << name;
      };
      every_reduction<TypeParam>(100'000, run);
      every_writer<TypeParam>(100'000, run);
    });
  }
}

/// The first position requests a stop. It is a hit, but the upper piece ends before it says so.
template <class S> class hit_that_stops {
 public:
  hit_that_stops() {
    upper_ended.close();
    filch::detail::observer_of_pieces.store(&k_observer, std::memory_order_release);
  }
  ~hit_that_stops() { filch::detail::observer_of_pieces.store(nullptr, std::memory_order_release); }
  hit_that_stops(hit_that_stops const&) = delete;
  hit_that_stops& operator=(hit_that_stops const&) = delete;

  /// The result of search(token, v, pred).
  template <class Search> auto result_of(Search const& search) {
    typename S::pool pool({.workers = 2});
    return pool.run([&] {
      wait_for_thief<S>();
      return search(source_.get_token(), v_, [this](int x) {
        if (x == 0) {
          EXPECT_TRUE(upper_began_.pass()) << "the loop was not split";
          source_.request_stop();
          EXPECT_TRUE(upper_ended.pass());
        } else if (x >= k_half) {
          upper_began_.open();
          EXPECT_TRUE(eventually([this] { return source_.stop_requested(); }));
        }
        return x == 0;
      });
    });
  }

 private:
  static constexpr int k_half = 10'000;
  static void ends(std::size_t first, std::size_t) noexcept {
    if (first == k_half) upper_ended.open();
  }
  static constexpr filch::detail::piece_observer k_observer{nullptr, ends, false};
  static inline gate upper_ended;
  gate upper_began_;
  std::stop_source source_;
  std::vector<int> v_ = [] {
    std::vector<int> v(2 * k_half);
    std::iota(v.begin(), v.end(), 0);
    return v;
  }();
};
TYPED_TEST(cancellation, does_not_take_back_what_a_search_has_found) {
  if constexpr (steals<TypeParam>) {
    auto const found = hit_that_stops<TypeParam>().result_of([](auto const& token, auto& v, auto pred) {
      auto const at = filch::find_if<TypeParam>(token, v, pred);
      return at && *at == v.begin();
    });
    EXPECT_TRUE(found);
    auto const any = hit_that_stops<TypeParam>().result_of(
        [](auto const& token, auto& v, auto pred) { return filch::any_of<TypeParam>(token, v, pred); });
    EXPECT_EQ(any, true);
    auto const equal = hit_that_stops<TypeParam>().result_of([](auto const& token, auto& v, auto pred) {
      return filch::equal<TypeParam>(token, v, v, [&](int x, int) { return !pred(x); });
    });
    EXPECT_EQ(equal, false);
  }
}

/// The function of every form throws, and a stop is requested at the same call, or none.
TYPED_TEST(cancellation, lets_exceptions_out_of_every_form) {
  for (unsigned workers : {1u, 3u}) {
    typename TypeParam::pool pool({.workers = workers});
    single_pieces const all;
    auto const run = [](std::string const& name, stoppable_form const& form) {
      for (int throw_at : {1, 2, 30, 59}) {
        for (int stop_at : {0, throw_at - 1}) {
          call_counter count(stop_at, throw_at);
          bool threw = false;
          try {
            form(count);
          } catch (int) {
            threw = true;
          }
          EXPECT_EQ(threw, count.calls() >= throw_at) << name;
        }
      }
    };
    pool.run([&] {
      every_reduction<TypeParam>(60, run);
      every_writer<TypeParam>(60, run);
    });
  }
}

TYPED_TEST(cancellation, ends_a_loop_within_a_stretch_when_another_thread_requests_it) {
  for (unsigned workers : {1u, 2u, 3u}) {
    typename TypeParam::pool pool({.workers = workers});
    call_counter count;
    gate begun;
    std::jthread const other([&] {
      EXPECT_TRUE(begun.pass());
      count.request_stop();
    });
    // So long that it does not end otherwise.
    bool const is_whole = pool.run([&] {
      return filch::for_index<TypeParam>(count.token(), 0L, 1L << 60, [&](long i) {
        if (count(i) == 1000) begun.open();
      });
    });
    EXPECT_FALSE(is_whole);
    EXPECT_LE(count.after(), 64 * static_cast<int>(workers));
  }
}

/// The machine may stop a thread in a round, but not in all of them.
TYPED_TEST(cancellation, ends_a_search_of_a_hundred_million_within_100_us) {
  if constexpr (is_emulated || is_sanitized || !is_optimised) GTEST_SKIP() << "a stretch takes longer";
  if (FILCH_TEST_FORCED) GTEST_SKIP() << "where steals are forced, the ends of joins wait for other workers";
  if constexpr (steals<TypeParam>) {
    using clock = std::chrono::steady_clock;
    std::vector<char> const v(100'000'000);
    typename TypeParam::pool pool({.workers = 2});
    auto least = clock::duration::max();
    for (int round = 0; round < 50 && least > std::chrono::microseconds(100); ++round) {
      std::stop_source source;
      gate begun;
      clock::time_point requested;
      std::jthread const other([&] {
        EXPECT_TRUE(begun.pass());
        requested = clock::now();
        source.request_stop();
      });
      clock::time_point ended;
      bool const is_whole = pool.run([&] {
        wait_for_thief<TypeParam>();
        auto const found = filch::find_if<TypeParam>(source.get_token(), v, [&](char const& c) {
          if (std::addressof(c) == v.data() + v.size() / 2) begun.open();  // on the other worker
          return c != 0;
        });
        ended = clock::now();
        return found.has_value();
      });
      if (!is_whole) least = std::min(least, ended - requested);
    }
    EXPECT_LE(least, std::chrono::microseconds(100));
  }
}

/// Strings that are too long to be stored in place: one whose value was moved away shows.
std::vector<std::string> strings(std::size_t n) {
  std::vector<std::string> all;
  for (int x : numbers(n, 0, 999)) all.push_back(std::to_string(1000 + x) + " and the rest of a long string");
  return all;
}
bool is_odd(std::string const& text) { return text[3] % 2 != 0; }

TYPED_TEST(cancellation, loses_no_element_of_a_partition) {
  in_every_pool<TypeParam>([](std::size_t n) {
    auto const all = strings(n);
    auto sorted = all;
    std::sort(sorted.begin(), sorted.end());
    for (int stop_at : {1, 20, 64, 100, 700, 9'999}) {
      for (bool is_stable : {false, true}) {
        call_counter count(stop_at);
        auto v = all;
        auto const pred = [&count](std::string const& x) { return is_odd(count(x)); };
        auto const behind = is_stable ? filch::stable_partition<TypeParam>(count.token(), v.begin(), v.end(), pred)
                                      : filch::partition<TypeParam>(count.token(), v.begin(), v.end(), pred);
        if (behind) {
          EXPECT_TRUE(std::is_partitioned(v.begin(), v.end(), is_odd));
        }
        std::sort(v.begin(), v.end());
        EXPECT_EQ(v, sorted) << is_stable;
      }
    }
  });
}

TYPED_TEST(cancellation, loses_no_element_of_a_partition_without_memory) {
  auto const all = strings(1000);
  auto sorted = all;
  std::sort(sorted.begin(), sorted.end());
  for (int stop_at : {0, 1, 500}) {
    call_counter count(stop_at);
    auto v = all;
    auto pred = [&count](std::string const& x) { return is_odd(count(x)); };
    std::identity same;
    filch::detail::selection<decltype(v)::iterator, decltype(pred), std::identity> const taken{
        v.begin(), {pred}, {same}};
    std::stop_token const token = count.token();
    filch::detail::stop_request stop(token);
    filch::detail::partition_without_memory(stop, taken, 0, v.size());
    EXPECT_EQ(stop.was_seen(), stop_at != 0);
    EXPECT_EQ(count.calls(), stop_at == 0 ? 1000 : stop_at);
    EXPECT_EQ(std::is_partitioned(v.begin(), v.end(), is_odd), stop_at == 0);
    std::sort(v.begin(), v.end());
    EXPECT_EQ(v, sorted);
  }
}

/// Requests a stop at its moves.
struct stopping_element {
  call_counter* count;
  stopping_element& operator=(stopping_element&& other) noexcept {
    (*count)(0);
    count = other.count;
    return *this;
  }
  explicit stopping_element(call_counter& c) : count(&c) {}
  stopping_element(stopping_element const&) = default;
};

TEST(cancellation_of_a_merge, moves_no_more_than_a_block_after_a_request) {
  call_counter count(10);
  std::vector<stopping_element> v(10'000, stopping_element(count));
  std::stop_token const token = count.token();
  filch::detail::stop_request stop(token);
  filch::detail::move_down_unless_stopped(stop, v.begin() + 1, v.end(), v.begin());
  EXPECT_TRUE(stop.was_seen());
  EXPECT_GE(count.calls(), 10);
  EXPECT_LE(count.after(), 1024);
}

TEST(cancellation_of_temporaries, returns_no_iterator_of_a_container_that_is_gone) {
  std::stop_token const token;
  using gone = std::ranges::dangling;
  using kept = std::vector<int>::iterator;
  std::vector<int> v{1, 2};
  auto const make = [] { return std::vector<int>{1, 2}; };
  auto const least_and_greatest = filch::minmax_element(token, make());
  static_assert(std::same_as<decltype(least_and_greatest->min), gone>);
  static_assert(std::same_as<decltype(filch::minmax_element(token, v)->max), kept>);
  EXPECT_EQ(filch::minmax_element(token, v)->max, v.begin() + 1);
  auto const differs = filch::mismatch(token, v, make());
  static_assert(std::same_as<decltype(differs->in1), kept> && std::same_as<decltype(differs->in2), gone>);
  EXPECT_EQ(differs->in1, v.end());
  static_assert(std::same_as<decltype(filch::mismatch(token, v.begin(), v.end(), v.begin())->in2), kept>);
}

// Without an end of the first input, or with one that has no random access, no form is chosen. Filters of a range
// with random access have forms of their own.
template <class... Args>
concept can_be_filled = requires(std::stop_token token, Args&... args) { filch::fill(token, args..., 7); };
template <class... Args>
concept can_be_reduced = requires(std::stop_token token, Args&... args) { filch::reduce(token, args..., 0); };
template <class... Args>
concept can_be_compared = requires(std::stop_token token, Args&... args) { filch::equal(token, args...); };
template <class... Args>
concept can_be_copied = requires(std::stop_token token, Args&... args) { filch::copy(token, args...); };
using numbers_type = std::vector<int>;
using place = numbers_type::iterator;
using list_place = std::list<int>::iterator;
static_assert(can_be_filled<numbers_type> && can_be_filled<place, place> && can_be_filled<int[3]>);
static_assert(!can_be_filled<place> && !can_be_filled<int*> && !can_be_filled<std::list<int>>);
static_assert(can_be_reduced<numbers_type> && can_be_reduced<place, place>);
static_assert(!can_be_reduced<place> && !can_be_reduced<list_place, list_place>);
#if !defined(__clang_major__) || __clang_major__ >= 16
static_assert(can_be_reduced<std::ranges::filter_view<std::views::all_t<numbers_type&>, bool (*)(int)>>);
#endif
static_assert(can_be_compared<numbers_type, numbers_type> && can_be_compared<place, place, place>);
static_assert(can_be_compared<place, place, place, place> && !can_be_compared<place, numbers_type>);
static_assert(!can_be_compared<numbers_type, list_place> && !can_be_compared<place, place, list_place>);
static_assert(can_be_copied<numbers_type, numbers_type> && can_be_copied<place, place, place>);
static_assert(!can_be_copied<place, place> && !can_be_copied<numbers_type, std::list<int>>);

TYPED_TEST(cancellation, takes_braces_for_the_function_before_a_projection) {
  std::stop_token const token;
  std::vector<int> v{3, 1, 1, 2};
  auto const first = v.begin();
  auto const last = v.end();
  using S = TypeParam;
  std::negate<> const minus;
  EXPECT_EQ(filch::min_element<S>(token, v, {}, minus), first);
  EXPECT_EQ(filch::min_element<S>(token, first, last, {}, minus), first);
  EXPECT_EQ(filch::max_element<S>(token, v, {}, minus), first + 1);
  EXPECT_EQ(filch::minmax_element<S>(token, v, {}, minus)->max, first + 2);
  EXPECT_EQ(filch::minmax_element<S>(token, first, last, {}, minus)->min, first);
  EXPECT_EQ(filch::adjacent_find<S>(token, v, {}, minus), first + 1);
  EXPECT_EQ(filch::is_sorted_until<S>(token, v, {}, minus), first + 3);
  EXPECT_EQ(filch::is_sorted<S>(token, first, first + 3, {}, minus), true);
  EXPECT_EQ(filch::equal<S>(token, v, v, {}, minus, minus), true);
  EXPECT_EQ(filch::equal<S>(token, v, v, {}, minus), false);
  EXPECT_EQ(filch::equal<S>(token, first, last, first, last, {}, minus), false);
  EXPECT_EQ(filch::equal<S>(token, first, last, first, {}), true);
  EXPECT_EQ(filch::mismatch<S>(token, v, v, {}, minus)->in2, first);
  EXPECT_EQ(filch::mismatch<S>(token, first, last, first, last, {}, {}, minus)->in1, first);
  EXPECT_EQ(filch::search<S>(token, first, last, first + 1, first + 2, {}, minus, minus), first + 1);
  EXPECT_EQ(filch::find_end<S>(token, first, last, first + 1, first + 2, {}, minus, minus), first + 2);
  std::vector<int> to(4);
  EXPECT_TRUE(filch::inclusive_scan<S>(token, v, to, {}));
  EXPECT_EQ(to, (std::vector<int>{3, 4, 5, 7}));
  EXPECT_TRUE(filch::inclusive_scan<S>(token, first, last, to.begin(), {}, 1));
  EXPECT_EQ(to, (std::vector<int>{4, 5, 6, 8}));
  EXPECT_TRUE(filch::inclusive_scan<S>(token, v, to, {}, 2));
  EXPECT_EQ(to, (std::vector<int>{5, 6, 7, 9}));
  EXPECT_TRUE(filch::exclusive_scan<S>(token, v, to, 0, {}));
  EXPECT_TRUE(filch::exclusive_scan<S>(token, first, last, to.begin(), 0, {}));
  EXPECT_EQ(to, (std::vector<int>{0, 3, 4, 5}));
  EXPECT_TRUE(filch::adjacent_difference<S>(token, v, to, {}));
  EXPECT_TRUE(filch::adjacent_difference<S>(token, first, last, to.begin(), {}));
  EXPECT_EQ(to, (std::vector<int>{3, -2, 0, 1}));
  EXPECT_EQ(filch::unique<S>(token, first, last, {}, minus), first + 3);
}

TYPED_TEST(cancellation, takes_functions_and_initial_values_as_the_forms_without_a_token_do) {
  std::stop_token const token;
  std::vector<std::string> const letters{"a", "b", "c"};
  std::string const init = "an initial value that is too long to be stored in place: ";
  std::string own = init;
  EXPECT_EQ(filch::reduce<TypeParam>(token, letters, init), init + "abc");
  EXPECT_EQ(filch::reduce<TypeParam>(token, letters, own), init + "abc");
  EXPECT_EQ(own, init);
  auto counts = [n = std::make_shared<std::atomic<int>>(0)](std::string const&) mutable { return ++*n > 0; };
  EXPECT_EQ(filch::count_if<TypeParam>(token, letters, counts), 3);
  struct text {
    std::unique_ptr<std::string> value;
    explicit text(std::string const& x) : value(std::make_unique<std::string>(x)) {}
  };
  auto const append = [](text x, text const& y) {
    *x.value += *y.value;
    return x;
  };
  auto const map = [](std::string const& x) { return text(x); };
  auto const sum = filch::transform_reduce<TypeParam>(token, letters, text(""), append, map);
  EXPECT_EQ(*sum->value, "abc");
}

}  // namespace
}  // namespace filch_test
#endif

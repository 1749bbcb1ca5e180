// Sorts with comparators that are made to break them: each input takes n log n calls, and no element is lost.
#include "inputs_of_sorts.hpp"
#include "scale.hpp"
#include "stop_source.hpp"

#include <filch/sort.hpp>

#include <functional>

namespace filch_test {
namespace {

template <class S> class comparators : public ::testing::Test {};
TYPED_TEST_SUITE(comparators, algorithm_schedulers, scheduler_names);

/// One type for all comparators of a test, which takes long to compile otherwise.
template <class Value> struct asking {
  std::function<bool(Value const&, Value const&)> const* answer;
  bool operator()(Value const& x, Value const& y) const { return (*answer)(x, y); }
};
using answers = std::function<bool(int const&, int const&)>;
using answers_for_words = std::function<bool(std::string const&, std::string const&)>;

template <class T> std::vector<T> in_order(std::vector<T> v) {
  std::sort(v.begin(), v.end());
  return v;
}
std::vector<std::string> words_of(std::vector<int> const& v) {
  std::vector<std::string> words;
  for (int x : v) words.push_back(std::to_string(x) + " is a number in a long string");
  return words;
}

TYPED_TEST(comparators, of_a_killer_are_asked_n_log_n_times) {
  for (std::size_t n : {1'000u, 20'000u}) {
    auto const most = static_cast<std::size_t>(8 * static_cast<double>(n) * std::log2(n));
    std::vector<int> v(n);
    killer sorting(n), selecting(n);
    answers const sorted = std::ref(sorting), selected = std::ref(selecting);
    typename TypeParam::pool pool({.workers = 1});
    pool.run([&] {
      std::iota(v.begin(), v.end(), 0);
      filch::sort<TypeParam>(v, asking<int>{&sorted});
      EXPECT_LT(sorting.calls(), most);
      std::iota(v.begin(), v.end(), 0);
      filch::nth_element<TypeParam>(v, v.begin() + 1, asking<int>{&selected});
      EXPECT_LT(selecting.calls(), most);
    });
  }
}

/// How often a comparator is asked for each of n numbers that are near their places, up or down, by sort(v,
/// comparator). A merge asks more in a turn that other processes interrupt.
template <class S> double questions_of_turn(std::size_t n, bool descend, auto const& sort) {
  auto const away = numbers(n, 0, 15);
  std::vector<int> v(n);
  for (std::size_t i = 0; i < n; ++i) v[i] = static_cast<int>(descend ? n - i : i) + away[i];
  std::atomic<std::size_t> calls{0};
  typename S::pool pool({.workers = 1});
  pool.run([&] {
    sort(v, [&calls](int x, int y) {
      ++calls;
      return x < y;
    });
  });
  EXPECT_TRUE(std::is_sorted(v.begin(), v.end()));
  return static_cast<double>(calls) / static_cast<double>(n);
}
template <class S> double questions(std::size_t n, bool descend, auto const& sort) {
  double least = questions_of_turn<S>(n, descend, sort);
  for (int turn = 1; turn != 5; ++turn) least = std::min(least, questions_of_turn<S>(n, descend, sort));
  return least;
}

TYPED_TEST(comparators, of_elements_near_their_places_are_asked_a_few_times) {
  auto const sort = [](auto& v, auto const& less) { filch::sort<TypeParam>(v, less); };
  for (std::size_t n : {200u, 3'000u}) {
    for (bool descend : {false, true}) {
      EXPECT_LT(questions<TypeParam>(n, descend, sort), 6) << n << (descend ? " descending" : " ascending");
    }
  }
}

TYPED_TEST(comparators, of_stable_sorts_are_asked_little_where_parts_are_in_order_or_descend) {
  auto const sort = [](auto& v, auto const& less) { filch::stable_sort<TypeParam>(v, less); };
  EXPECT_LT(questions<TypeParam>(20'000, false, sort), 4.4);  // more than are sorted by insertion
  // A slow build merges in shorter stretches, and asks where each begins; forced steals make more of them.
  EXPECT_LT(questions<TypeParam>(3'000, true, sort), is_sanitized || FILCH_TEST_FORCED ? 12 : 10.4);
}

TYPED_TEST(comparators, that_lie_lose_nothing) {
  std::atomic<unsigned> state{1};
  in_every_pool<TypeParam>([&state](std::size_t n) {
    auto const v = numbers(n);
    auto const sorted = in_order(v);
    auto const words = words_of(v);
    auto const sorted_words = in_order(words);
    for (int kind = 0; kind < 4; ++kind) {
      liar const lies{kind, &state};
      answers const answer = lies;
      answers_for_words const of_words = [&](auto& x, auto& y) { return lies(x[0] + x[2], y[0] + y[2]); };
      asking<int> const ask{&answer};
      asking<std::string> const ask_words{&of_words};
      auto own = v;
      filch::sort<TypeParam>(own, ask);
      EXPECT_EQ(in_order(own), sorted) << kind;
      filch::stable_sort<TypeParam>(own, ask);
      EXPECT_EQ(in_order(own), sorted) << kind;
      filch::nth_element<TypeParam>(own, own.begin() + static_cast<std::ptrdiff_t>(n / 3), ask);
      EXPECT_EQ(in_order(own), sorted) << kind;
      std::vector<int> least(n / 2);
      filch::partial_sort_copy<TypeParam>(v, least, ask);
      auto own_words = words;
      filch::sort<TypeParam>(own_words, ask_words);
      EXPECT_EQ(in_order(own_words), sorted_words) << kind;
      filch::stable_sort<TypeParam>(own_words, ask_words);
      EXPECT_EQ(in_order(own_words), sorted_words) << kind;
    }
  });
}

/// No pivot divides: all elements but one are before each.
TYPED_TEST(comparators, that_divide_nothing_are_asked_n_log_n_times) {
  constexpr std::size_t k_n = 20'000;
  std::vector<int> v(k_n);
  std::iota(v.begin(), v.end(), 0);
  std::size_t calls = 0;
  answers const all_but_one = [&calls](int x, int) { return ++calls, x != 5; };
  typename TypeParam::pool pool({.workers = 1});
  pool.run([&] { filch::sort<TypeParam>(v, asking<int>{&all_but_one}); });
  EXPECT_LT(calls, 8 * k_n * 15);
  calls = 0;
  pool.run([&] { filch::nth_element<TypeParam>(v, v.begin() + 1, asking<int>{&all_but_one}); });
  EXPECT_LT(calls, 8 * k_n * 15);
}

/// Small inputs, which end in each place of a sort. Runs on one worker.
TEST(comparators_that_lie, lose_nothing_of_many_short_ranges) {
  std::atomic<unsigned> state{1};
  std::mt19937 random(3);
  int const trials = static_cast<int>(scaled(20'000));
  for (int i = 0; i < trials; ++i) {
    auto const v = words_of(numbers(random() % 120, 0, 50));
    liar const lies{i % 4, &state};
    answers_for_words const of_words = [&](auto& x, auto& y) { return lies(x[0] + x[1], y[0] + y[1]); };
    auto own = v;
    filch::sort<filch::serial>(own, asking<std::string>{&of_words});
    filch::stable_sort<filch::serial>(own, asking<std::string>{&of_words});
    ASSERT_EQ(in_order(own), in_order(v));
  }
}

TYPED_TEST(comparators, that_throw_let_the_exception_out_and_lose_nothing) {
  in_every_pool<TypeParam>([](std::size_t n) {
    if (n < 3 || n > 1'000) return;
    auto nearly_sorted = numbers(n, 10'000, 99'999);
    std::sort(nearly_sorted.begin(), nearly_sorted.end());
    for (std::size_t i = 7; i < n; i += 50) std::swap(nearly_sorted[i], nearly_sorted[i / 2]);
    auto const random_words = words_of(numbers(n)), ordered_words = words_of(nearly_sorted);
    for (int throw_at : {1, 2, 20, 100, 600, 1'500, 1'900, -600, -1'500, -1'900}) {
      auto const& words = throw_at > 0 ? random_words : ordered_words;
      auto const sorted = in_order(words);
      throw_at = std::abs(throw_at);
      std::atomic<int> calls{0};
      answers_for_words const less = [&](auto& x, auto& y) {
        if (++calls == throw_at) throw throw_at;
        return x < y;
      };
      asking<std::string> const ask{&less};
      auto const run = [&](auto sort) {
        calls = 0;
        auto own = words;
        bool threw = false;
        try {
          sort(own);
        } catch (int) {
          threw = true;
        }
        EXPECT_EQ(threw, calls >= throw_at);
        return own;
      };
      EXPECT_EQ(in_order(run([&](auto& v) { filch::sort<TypeParam>(v, ask); })), sorted);
      run([&](auto& v) { filch::stable_sort<TypeParam>(v, ask); });
      run([&](auto& v) {
        std::vector<std::string> least(v.size() / 4 + 1);
        filch::partial_sort_copy<TypeParam>(v, least, ask);
      });
    }
  });
}

/// In each of its steps: the look for one run, insertion, the look for elements in order, the first partition.
TYPED_TEST(comparators, that_request_a_stop_end_each_step_soon) {
  constexpr int k_n = 200'000, k_request = 20'000, k_part = 20'000;
  std::vector<int> one_run(k_n);
  std::iota(one_run.begin(), one_run.end(), 0);
  auto nearly_sorted = one_run;
  std::swap(nearly_sorted[0], nearly_sorted[1]);
  auto near_places = one_run;
  for (int& x : near_places) x ^= 7;
  for (auto const& v : {one_run, near_places, nearly_sorted, numbers(k_n, 0, 1 << 30)}) {
    stop_source source;
    int calls = 0;
    answers const less = [&](int x, int y) {
      if (++calls == k_request) source.request_stop();
      return x < y;
    };
    auto own = v;
    typename TypeParam::pool pool({.workers = 1});
    pool.run([&] { EXPECT_FALSE(filch::sort<TypeParam>(source.get_token(), own, asking<int>{&less})); });
    EXPECT_GE(calls, k_request);
    EXPECT_LT(calls, k_request + k_part);
    EXPECT_EQ(in_order(own), in_order(v));
  }
}

TYPED_TEST(comparators, that_request_a_stop_end_the_sort) {
  for (unsigned workers : {1u, 2u}) {
    typename TypeParam::pool pool({.workers = workers});
    pool.run([&] {
      auto const v = numbers(100'000, 0, 1 << 30);
      stop_source source;
      std::atomic<int> calls{0};
      answers const less = [&](int x, int y) {
        if (++calls == 150'000) source.request_stop();
        return x < y;
      };
      asking<int> const ask{&less};
      auto own = v;
      EXPECT_FALSE(filch::sort<TypeParam>(source.get_token(), own, ask));
      EXPECT_EQ(in_order(own), in_order(v));
      EXPECT_LT(calls, 500'000) << "a whole sort takes over two million";
      calls = 150'000;
      own = v;
      EXPECT_FALSE(filch::stable_sort<TypeParam>(source.get_token(), own, ask));
      EXPECT_EQ(own, v) << "it began";
      EXPECT_TRUE(filch::sort<TypeParam>(stop_token(), own, ask));
      EXPECT_TRUE(std::is_sorted(own.begin(), own.end()));
      own = v;
      EXPECT_TRUE(filch::stable_sort<TypeParam>(stop_token(), own, ask));
      EXPECT_TRUE(std::is_sorted(own.begin(), own.end()));
    });
  }
}

}  // namespace
}  // namespace filch_test

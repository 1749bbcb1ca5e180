// Elements and iterators that a library may meet: made at each access, move-only, with operators of their own.
#include <filch/algorithm.hpp>
#include <filch/scope.hpp>
#include <filch/serial.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <compare>
#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <numeric>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace filch_test {
namespace {

// Whether code compiles does not depend on the scheduler.
using S = filch::serial;

/// A random-access iterator that makes f(n) at position n.
template <class Fn> class making_iterator {
 public:
  using difference_type = std::ptrdiff_t;
  using reference = std::invoke_result_t<Fn const&, int>;
  using value_type = std::remove_cvref_t<reference>;
  using iterator_category = std::input_iterator_tag;
  using iterator_concept = std::random_access_iterator_tag;

  making_iterator() = default;
  making_iterator(Fn const* f, difference_type n) : f_(f), n_(n) {}
  reference operator*() const { return (*f_)(static_cast<int>(n_)); }
  reference operator[](difference_type n) const { return *(*this + n); }
  making_iterator& operator+=(difference_type n) {
    n_ += n;
    return *this;
  }
  making_iterator& operator-=(difference_type n) { return *this += -n; }
  making_iterator& operator++() { return *this += 1; }
  making_iterator& operator--() { return *this += -1; }
  making_iterator operator++(int) { return (*this += 1) - 1; }
  making_iterator operator--(int) { return (*this -= 1) + 1; }
  friend making_iterator operator+(making_iterator i, difference_type n) { return i += n; }
  friend making_iterator operator+(difference_type n, making_iterator i) { return i += n; }
  friend making_iterator operator-(making_iterator i, difference_type n) { return i -= n; }
  friend difference_type operator-(making_iterator const& i, making_iterator const& j) { return i.n_ - j.n_; }
  friend bool operator==(making_iterator const& i, making_iterator const& j) { return i.n_ == j.n_; }
  friend auto operator<=>(making_iterator const& i, making_iterator const& j) { return i.n_ <=> j.n_; }

  // Whatever is written beside an iterator must not find these, nor need a copy of them.
  template <class T> friend void operator,(making_iterator const&, T const&) = delete;
  template <class T> friend void operator,(T const&, making_iterator const&) = delete;
  void operator&() const = delete;

 private:
  Fn const* f_ = nullptr;
  difference_type n_ = 0;
};
template <class Fn> struct made {
  Fn f;
  int length;
  making_iterator<Fn> begin() const { return {std::addressof(f), 0}; }
  making_iterator<Fn> end() const { return {std::addressof(f), length}; }
};
template <class Fn> made(Fn, int) -> made<Fn>;

using pointer = std::unique_ptr<int>;

TEST(unusual_types, elements_are_move_only_values) {
  made const in{[](int n) { return std::make_unique<int>(n); }, 100};
  auto const by_value = [](pointer p) { return *p; };
  auto const is_low = [](pointer const& p) { return *p < 10; };
  EXPECT_EQ(filch::count_if<S>(in, is_low), 10);
  EXPECT_EQ(filch::find_if_not<S>(in, is_low) - in.begin(), 10);
  EXPECT_TRUE(filch::any_of<S>(in, [](pointer const& p) { return *p == 99; }));
  EXPECT_EQ(filch::transform_reduce<S>(in, 0, std::plus<>{}, by_value), 4950);
  EXPECT_EQ(filch::transform_reduce<S>(in, in, 0, std::plus<>{}, [](pointer p, pointer q) { return *p - *q; }), 0);
  EXPECT_TRUE(filch::equal<S>(in, in, [](pointer p, pointer q) { return *p == *q; }));
  EXPECT_TRUE(filch::is_sorted<S>(in, std::less<>{}, by_value));
  EXPECT_EQ(filch::max_element<S>(in, std::less<>{}, by_value) - in.begin(), 99);
  int sum = 0;
  filch::for_each<S>(in, [&sum](pointer p) { sum += *p; });
  EXPECT_EQ(sum, 4950);
  std::vector<int> to(100);
  filch::transform<S>(in, to, by_value);
  EXPECT_EQ(to[99], 99);
  std::vector<pointer> pointers(100);
  filch::copy<S>(in, pointers);
  EXPECT_EQ(*pointers[99], 99);
  filch::histogram<S>(in, to, [](pointer p) { return static_cast<std::size_t>(*p); });
  EXPECT_EQ(to[99], 100);
  auto const tens = filch::reduce_by_key<S>(in, [](pointer const& p) { return *p / 10; }, by_value);
  EXPECT_EQ(tens.at(9).second, 945);
  EXPECT_EQ(filch::reduce_by_key<S>(in, [](pointer p) { return *p / 10; }, by_value), tens);
  EXPECT_EQ(*filch::group_by<S>(in, [](pointer const& p) { return *p / 10; }).at(9).second.at(5), 95);
}

TEST(unusual_types, elements_are_copied_for_their_function_only) {
  static int copies;
  struct counted {
    counted() = default;
    counted(counted const&) { ++copies; }
    counted(counted&&) = default;
    counted& operator=(counted const&) = default;
  };
  made const in{[](int) { return counted(); }, 100};
  copies = 0;
  EXPECT_EQ(filch::count_if<S>(in, [](counted) { return true; }), 100);
  std::vector<int> to(100);
  filch::transform<S>(in, to, [](counted) { return 1; });
  EXPECT_EQ(copies, 0);
}

TEST(unusual_types, iterators_with_a_comma_of_their_own) {
  std::vector<int> v(100);
  std::iota(v.begin(), v.end(), 0);
  made const in{[&v](int n) -> int& { return v[static_cast<std::size_t>(n)]; }, 100};
  auto const first = in.begin();
  auto const last = in.end();
  auto const middle = first + 50;
  auto const is_odd = [](int x) { return x % 2 != 0; };
  std::vector<int> to(100);
  made const out{[&to](int n) -> int& { return to[static_cast<std::size_t>(n)]; }, 100};
  filch::for_each<S>(first, last, [](int& x) { ++x; });
  EXPECT_EQ(filch::reduce<S>(first, last, 0), 5050);
  EXPECT_EQ(filch::transform_reduce<S>(first, last, first, 0), 338350);
  filch::transform<S>(first, last, first, out.begin(), std::plus<>{});
  EXPECT_EQ(to[99], 200);
  EXPECT_EQ(filch::search<S>(first, last, middle, last) - first, 50);
  EXPECT_EQ(filch::minmax_element<S>(first, last).max - first, 99);
  EXPECT_EQ(filch::mismatch<S>(first, last, middle).in1 - first, 0);
  filch::inclusive_scan<S>(first, last, out.begin());
  filch::exclusive_scan<S>(first, last, out.begin(), 0);
  filch::adjacent_difference<S>(first, last, out.begin());
  EXPECT_EQ(to[99], 1);
  EXPECT_EQ(filch::copy_if<S>(first, last, out.begin(), is_odd) - out.begin(), 50);
  EXPECT_EQ(filch::pack_index<S>(first, last, out.begin()) - out.begin(), 100);
  EXPECT_EQ(filch::stable_partition<S>(first, last, is_odd) - first, 50);
  EXPECT_EQ(filch::partition<S>(first, last, [](int x) { return x > 90; }) - first, 10);
  EXPECT_EQ(filch::unique<S>(first, last) - first, 100);
  EXPECT_EQ(filch::remove_if<S>(first, last, is_odd) - first, 50);
  filch::fill<S>(first, last, 3);
  filch::generate<S>(first, last, [] { return 3; });
  EXPECT_EQ(filch::group_by<S>(first, last, std::identity{}).size(), 1U);
  filch::histogram<S>(first, last, out.begin(), 100);
  EXPECT_EQ(filch::find<S>(first, last, 4), last);
}

}  // namespace

namespace unusual {
/// Its namespace has functions of the names of the library's own ones.
struct word {
  int x;
  friend auto operator<=>(word, word) = default;
};
template <class I> I iterator_after(I const& first, std::size_t n) { return first + static_cast<std::ptrdiff_t>(n); }
template <class... T> void length_of(T const&...) {}
template <class... T> void input_of(T const&...) {}
template <class... T> void run_pieces(T const&...) {}
template <class... T> void is_better(T const&...) {}
}  // namespace unusual

namespace greedy {
/// Its namespace has operators for all types.
struct number {
  int x = 0;
  friend auto operator<=>(number, number) = default;
};
struct token {
  static bool stop_requested() noexcept { return false; }
  static bool stop_possible() noexcept { return true; }
};
struct add {
  number operator()(number a, number b) const { return {a.x + b.x}; }
};
struct is_odd {
  bool operator()(number a) const { return a.x % 2 != 0; }
};
template <class A, class B> void operator,(A&&, B&&) = delete;
template <class A> void operator&(A&&) = delete;
template <class A, class B> void operator&&(A&&, B&&) = delete;
template <class A, class B> void operator||(A&&, B&&) = delete;
}  // namespace greedy

namespace {

TEST(unusual_types, operators_that_take_anything_are_not_called) {
  using greedy::number;
  std::vector<number> v(100);
  std::vector<number> w(100);
  greedy::token const token;
  greedy::add const add;
  greedy::is_odd const is_odd;
  filch::inclusive_scan<S>(v, w, add);
  filch::exclusive_scan<S>(token, v, w, number{1}, add);
  EXPECT_EQ(w[99].x, 1);
  filch::adjacent_difference<S>(v, w, add);
  filch::reduce<S>(filch::reproducible, v, number{}, add);
  filch::reduce<S>(token, v, number{}, add);
  filch::copy_if<S>(token, v, w, is_odd);
  filch::partition<S>(v.begin(), v.end(), is_odd);
  filch::stable_partition<S>(token, v.begin(), v.end(), is_odd);
  filch::unique<S>(v.begin(), v.end());
  filch::minmax_element<S>(token, v);
  filch::mismatch<S>(token, v, w);
  filch::search<S>(v.begin(), v.end(), w.begin(), w.end());
  filch::group_by<S>(v, is_odd);
  auto const z = filch::zip(v, w);
  auto i = z.begin();
  i += 2;
  EXPECT_EQ(i - z.begin(), 2);
  filch::max_element<S>(z);
  filch::for_each<S>(token, z, [](auto&&) {});
  filch::scope<S>(token, [](auto& s) { s.spawn([] {}); });
}

/// A class that can't be completed.
template <class T> struct holder {
  T value;
};
struct incomplete;

TEST(unusual_types, functions_of_the_same_names_are_not_called) {
  unusual::word w[4] = {{1}, {2}, {3}, {4}};
  unusual::word* const end = w + 4;
  EXPECT_EQ(filch::max_element<S>(w, end), w + 3);
  EXPECT_EQ(filch::search<S>(w, end, w + 1, end), w + 1);
  EXPECT_EQ(filch::fill<S>(w, end, unusual::word{3}), end);
  EXPECT_EQ(filch::count<S>(w, end, unusual::word{3}), 4);
}

TEST(unusual_types, template_arguments_of_elements_are_not_completed) {
  holder<incomplete>* some[4] = {};
  holder<incomplete>** const first = some;
  holder<incomplete>** const last = some + 4;
  // Not the names that use std::projected, std::move, std::rotate or std::less<>: these complete them.
  filch::fill<S>(first, last, nullptr);
  filch::transform<S>(first, last, first, std::identity{});
  filch::for_each<S>(first, last, [](holder<incomplete>*& p) { p = nullptr; });
  EXPECT_TRUE(filch::min_element<S>(first, last, [](auto* p, auto* q) { return p < q; }) == first);
  EXPECT_TRUE(filch::partition<S>(first, last, [](auto* p) { return p == nullptr; }) == last);
}

TEST(unusual_types, groups_of_bits_have_bits) {
  std::vector<bool> bits{true, false, true};
  std::vector<std::pair<bool, std::vector<bool>>> const expected{{true, {true, true}}, {false, {false}}};
  auto const groups = filch::group_by<S>(bits, std::identity{});
  static_assert(std::is_same_v<decltype(groups), decltype(expected)>);
  EXPECT_EQ(groups, expected);
  auto const sums = filch::reduce_by_key<S>(bits, std::identity{}, std::identity{}, std::logical_or<>{});
  static_assert(std::is_same_v<decltype(sums), std::vector<std::pair<bool, bool>> const>);
  bits.assign(3, false);
  EXPECT_TRUE(sums[0].second);
  EXPECT_FALSE(sums[1].second);
}

TEST(unusual_types, filters_of_bits) {
  std::vector<bool> bits{true, true, false, true};
  auto const begin = bits.begin();
  EXPECT_EQ(filch::stable_partition<S>(begin, bits.end(), std::logical_not<>{}) - begin, 1);
  EXPECT_EQ(filch::partition<S>(begin, bits.end(), std::identity{}) - begin, 3);
  EXPECT_EQ(filch::unique<S>(begin, bits.end()) - begin, 2);
  EXPECT_EQ(filch::remove_if<S>(begin, begin + 2, std::identity{}) - begin, 1);
}

TEST(unusual_types, elements_by_key_are_made_once) {
  int reads = 0;
  made const in{[&reads](int n) { return ++reads, std::to_string(n); }, 100};
  auto const length = [](std::string const& s) { return s.size(); };
  EXPECT_EQ(filch::group_by<S>(in, length).at(1).second.size(), 90U);
  EXPECT_EQ(reads, 100);
  EXPECT_EQ(filch::reduce_by_key<S>(in, std::identity{}, length).at(99).first, "99");
  EXPECT_EQ(reads, 200);
  EXPECT_EQ(filch::group_by<S>(in, [](std::string&& s) { return std::string(std::move(s)).size(); }).at(1).second[5],
            "15");
  EXPECT_EQ(reads, 300);
  EXPECT_EQ(filch::group_by<S>(in, std::identity{}).at(99).first, "99");
}

TEST(unusual_types, comparators_take_elements_that_are_not_const) {
  auto const is_less = [](int& x, int& y) { return x < y; };
  std::vector<int> v(3'000);
  for (std::size_t i = 0; i != v.size(); ++i) v[i] = static_cast<int>(i * 7'919 % v.size());
  auto in_order = v;
  std::sort(in_order.begin(), in_order.end());
  auto own = v;
  filch::nth_element<S>(own, own.begin() + 7, is_less);
  EXPECT_EQ(own[7], in_order[7]);
  filch::partial_sort<S>(own, own.begin() + 7, is_less);
  EXPECT_TRUE(std::equal(own.begin(), own.begin() + 7, in_order.begin()));
  filch::sort<S>(own, is_less);
  EXPECT_EQ(own, in_order);
  filch::stable_sort<S>(v, is_less);
  EXPECT_EQ(v, in_order);
}

/// A class that can only be moved may be trivially copyable.
struct handle {
  int number = 0;
  handle() = default;
  explicit handle(int n) : number(n) {}
  handle(handle&&) = default;
  handle& operator=(handle&&) = default;
};
static_assert(std::is_trivially_copyable_v<handle>);

TEST(unusual_types, small_ones_that_can_only_be_moved_are_sorted) {
  auto const is_in_order = [](std::vector<handle> const& v) {
    return std::is_sorted(v.begin(), v.end(), [](auto& a, auto& b) { return a.number < b.number; });
  };
  auto const shuffled = [] {
    std::vector<handle> v;
    for (int i = 0; i < 3'000; ++i) v.emplace_back(i * 7'919 % 3'000);
    return v;
  };
  auto v = shuffled();
  filch::sort<S>(v.begin(), v.end(), {}, &handle::number);
  EXPECT_TRUE(is_in_order(v));
  v = shuffled();
  filch::stable_sort<S>(v, {}, &handle::number);
  EXPECT_TRUE(is_in_order(v));
  v = shuffled();
  filch::nth_element<S>(v, v.begin() + 100, {}, &handle::number);
  EXPECT_EQ(v[100].number, 100);
  filch::partial_sort<S>(v, v.end(), {}, &handle::number);
  EXPECT_TRUE(is_in_order(v));
  filch::inplace_merge<S>(v, v.begin() + 700, {}, &handle::number);
  EXPECT_TRUE(is_in_order(v));
}

TEST(unusual_types, forms_are_those_of_std) {
  std::vector<int> v{1, 2, 3};
  std::vector<int> w{1, 2, 4};
  std::vector<int> out(3);
  EXPECT_EQ(filch::mismatch<S>(v.begin(), v.end(), w.begin()).in2, w.begin() + 2);
  EXPECT_EQ(filch::mismatch<S>(v.begin(), v.end(), w.begin(), std::less_equal<>{}).in1, v.end());
  EXPECT_EQ(filch::mismatch<S>(v.begin(), v.end(), w.begin(), w.end()).in1, v.begin() + 2);
  EXPECT_FALSE(filch::equal<S>(v.begin(), v.end(), w.begin()));
  EXPECT_TRUE(filch::equal<S>(v.begin(), v.end(), w.begin(), std::less_equal<>{}));
  auto const sum = [](int x, int y = 0) { return x + y; };
  EXPECT_EQ(filch::transform<S>(v.begin(), v.end(), w.begin(), out.begin(), sum), out.end());
  EXPECT_EQ(out, (std::vector<int>{2, 4, 7}));
  EXPECT_EQ(filch::transform<S>(v.begin(), v.end(), out.begin(), sum), out.end());
  EXPECT_EQ(out, v);
}

}  // namespace
}  // namespace filch_test

// Merges and set operations: the results of std's, in any split.
#include "inputs_of_sorts.hpp"
#include "stop_source.hpp"

#include <filch/merge.hpp>
#include <filch/set_operations.hpp>

namespace filch_test {
namespace {

template <class S> class merges : public ::testing::Test {};
TYPED_TEST_SUITE(merges, algorithm_schedulers, scheduler_names);

/// A number of which a part is compared.
struct tagged {
  int key;
  int tag;
  friend bool operator==(tagged const&, tagged const&) = default;
};
constexpr auto by_key = [](tagged const& x, tagged const& y) { return x.key < y.key; };

std::vector<tagged> sorted_input(std::size_t n, int highest, int tag) {
  auto keys = numbers(n, 0, highest);
  std::sort(keys.begin(), keys.end());
  std::vector<tagged> all;
  for (int key : keys) all.push_back({key, tag + static_cast<int>(all.size())});
  return all;
}

/// Calls body(first, second) for inputs of unlike lengths, with many equal elements, few, and none. No trace is
/// around it: a trace belongs to a thread.
template <class Body> void for_inputs(std::size_t n, Body body) {
  bool const is_long = n > 1'000;
  for (int highest : {0, 20, 1'000'000}) {
    for (std::size_t m : {std::size_t{0}, n / 7, n, n + 40}) {
      if (is_long && (highest == 0 || m != n / 7)) continue;
      body(sorted_input(n, highest, 0), sorted_input(m, highest, 1'000'000));
      body(sorted_input(m, highest, 0), sorted_input(n, highest, 1'000'000));
    }
  }
}

TYPED_TEST(merges, merge_is_std_s_and_ends_where_the_output_does) {
  in_every_pool<TypeParam>([](std::size_t n) {
    for_inputs(n, [](std::vector<tagged> const& x, std::vector<tagged> const& y) {
      std::vector<tagged> expected(x.size() + y.size()), out(x.size() + y.size());
      std::merge(x.begin(), x.end(), y.begin(), y.end(), expected.begin(), by_key);
      EXPECT_EQ(filch::merge<TypeParam>(x.begin(), x.end(), y.begin(), y.end(), out.begin(), by_key), out.end());
      EXPECT_EQ(out, expected);
      std::vector<tagged> room(out.size() / 3);
      auto const ends = filch::merge<TypeParam>(x, y, room, {}, &tagged::key, &tagged::key);
      EXPECT_TRUE(std::equal(room.begin(), room.end(), expected.begin()));
      EXPECT_EQ((ends.in1 - x.begin()) + (ends.in2 - y.begin()), ends.out - room.begin());
      EXPECT_EQ(ends.in1 - x.begin(),
                std::count_if(room.begin(), room.end(), [](auto& t) { return t.tag < 1'000'000; }));
    });
  });
}

TYPED_TEST(merges, inplace_merge_is_std_s) {
  in_every_pool<TypeParam>([](std::size_t n) {
    for_inputs(n, [](std::vector<tagged> const& x, std::vector<tagged> const& y) {
      auto own = x;
      own.insert(own.end(), y.begin(), y.end());
      auto expected = own;
      auto const middle = static_cast<std::ptrdiff_t>(x.size());
      std::merge(x.begin(), x.end(), y.begin(), y.end(), expected.begin(), by_key);
      filch::inplace_merge<TypeParam>(own, own.begin() + middle, by_key);
      EXPECT_EQ(own, expected);
    });
  });
}

TYPED_TEST(merges, merge_and_sort_by_rotations) {
  in_every_pool<TypeParam>([](std::size_t n) {
    auto own = sorted_input(n, 30, 0);
    auto const more = sorted_input(n / 2, 30, 1'000'000);
    own.insert(own.end(), more.begin(), more.end());
    auto const by_key_and_tag = [](tagged const& x, tagged const& y) {
      return x.key < y.key || (x.key == y.key && x.tag < y.tag);
    };
    auto expected = own;
    std::sort(expected.begin(), expected.end(), by_key_and_tag);
    filch::detail::never_stopped never;
    auto const less = [](tagged const& x, tagged const& y) { return by_key(x, y); };
    filch::detail::merge_by_rotations<TypeParam>(never, own.begin(), n, n / 2, less);
    EXPECT_EQ(own, expected);
    std::reverse(own.begin(), own.end());
    for (std::size_t i = 0; i < own.size(); ++i) own[i].tag = static_cast<int>(i);
    expected = own;
    std::sort(expected.begin(), expected.end(), by_key_and_tag);
    filch::detail::sort_by_rotations<TypeParam>(never, own.begin(), own.size(), less);
    EXPECT_EQ(own, expected);
  });
}

TYPED_TEST(merges, set_operations_are_std_s) {
  in_every_pool<TypeParam>([](std::size_t n) {
    using S = TypeParam;
    for_inputs(n, [](std::vector<tagged> const& x, std::vector<tagged> const& y) {
      auto const expect = [&](char const* name, auto standard, auto own, auto of_ranges) {
        std::vector<tagged> expected, out(x.size() + y.size(), tagged{-1, -1});
        standard(std::back_inserter(expected));
        auto const end = own(out.begin());
        out.erase(end, out.end());
        EXPECT_EQ(out, expected) << name;
        for (std::size_t const room : {expected.size() / 2, expected.size()}) {
          std::vector<tagged> bounded(room);
          auto const ends = of_ranges(bounded);
          EXPECT_EQ(ends.out, bounded.end());
          EXPECT_TRUE(std::equal(bounded.begin(), bounded.end(), expected.begin())) << name;
          if (room == expected.size()) {
            std::vector<tagged> rest(x.size() + y.size());
            EXPECT_EQ(of_ranges(rest).out - rest.begin(), static_cast<std::ptrdiff_t>(room));
          }
        }
      };
      auto const xb = x.begin(), xe = x.end(), yb = y.begin(), ye = y.end();
      expect(
          "set_union", [&](auto out) { std::set_union(xb, xe, yb, ye, out, by_key); },
          [&](auto out) { return filch::set_union<S>(xb, xe, yb, ye, out, by_key); },
          [&](auto& out) { return filch::set_union<S>(x, y, out, by_key); });
      expect(
          "set_intersection", [&](auto out) { std::set_intersection(xb, xe, yb, ye, out, by_key); },
          [&](auto out) { return filch::set_intersection<S>(xb, xe, yb, ye, out, by_key); },
          [&](auto& out) { return filch::set_intersection<S>(x, y, out, by_key); });
      expect(
          "set_difference", [&](auto out) { std::set_difference(xb, xe, yb, ye, out, by_key); },
          [&](auto out) { return filch::set_difference<S>(xb, xe, yb, ye, out, by_key); },
          [&](auto& out) { return filch::set_difference<S>(x, y, out, by_key); });
      expect(
          "set_symmetric_difference", [&](auto out) { std::set_symmetric_difference(xb, xe, yb, ye, out, by_key); },
          [&](auto out) { return filch::set_symmetric_difference<S>(xb, xe, yb, ye, out, by_key); },
          [&](auto& out) { return filch::set_symmetric_difference<S>(x, y, out, by_key); });
      EXPECT_EQ(filch::includes<S>(x, y, by_key), std::includes(xb, xe, yb, ye, by_key));
      auto all = x;
      all.insert(all.end(), yb, ye);
      std::sort(all.begin(), all.end(), by_key);
      EXPECT_TRUE(filch::includes<S>(all.begin(), all.end(), yb, ye, by_key));
    });
  });
}

/// Also where most elements are equal, so that the thief of half of them has half of the work.
TEST(set_operations, are_split_where_they_come_by) {
  using namespace filch::detail;
  using iterator = std::vector<tagged>::const_iterator;
  auto const is_less = by_key;
  std::identity const same;
  using less = order_of_two<iterator, iterator, decltype(is_less) const, std::identity const, std::identity const>;
  for (std::size_t n : {10u, 100u, 1'000u, 4'000u}) {
    for_inputs(n, [&](std::vector<tagged> const& x, std::vector<tagged> const& y) {
      set_operation<union_rule, iterator, iterator, less> const of{x.begin(), y.begin(),
                                                                   less{{is_less}, {same}, {same}}};
      set_place const ends{x.size(), y.size(), x.size() + y.size()};
      auto const run = [&](set_place const& from, std::size_t read) {
        return of.run(from, ends, read, [](std::size_t, iterator) {});
      };
      for (std::size_t const begun : {std::size_t{0}, n / 3}) {
        set_place const at = run({}, begun);
        for (std::size_t read = at.i + at.j; read <= x.size() + y.size(); read += 1 + read / 100) {
          set_place const place = of.place_of(read, at, ends);
          EXPECT_LE(place.i + place.j, read);
          EXPECT_GE(place.i + place.j + 32, read);
          set_place const reached = run(at, place.i + place.j);
          EXPECT_TRUE(reached.i == place.i && reached.j == place.j);
        }
      }
    });
  }
}

TYPED_TEST(merges, keep_to_their_ranges_with_a_comparator_that_lies) {
  std::atomic<unsigned> state{1};
  in_every_pool<TypeParam>([&state](std::size_t n) {
    using S = TypeParam;
    std::vector<std::string> x, y;
    for (int k : numbers(n)) x.push_back(std::to_string(k) + " is a number in a long string");
    for (int k : numbers(n / 2)) y.push_back(std::to_string(k) + " is a number in a long string");
    for (int kind = 0; kind < 4; ++kind) {
      auto const less = [lies = liar{kind, &state}](std::string const& a, std::string const& b) {
        return lies(a[0] + a[1], b[0] + b[1]);
      };
      std::vector<std::string> out(x.size() + y.size());
      filch::merge<S>(x, y, out, less);
      auto sorted = x;
      sorted.insert(sorted.end(), y.begin(), y.end());
      std::sort(sorted.begin(), sorted.end());
      std::sort(out.begin(), out.end());
      EXPECT_EQ(out, sorted);
      filch::set_union<S>(x, y, out, less);
      filch::set_intersection<S>(x, y, out, less);
      filch::set_symmetric_difference<S>(x.begin(), x.end(), y.begin(), y.end(), out.begin(), less);
      filch::includes<S>(x, y, less);
      filch::inplace_merge<S>(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(n / 3), x.end(), less);
    }
  });
}

TYPED_TEST(merges, let_exceptions_out_and_end_when_a_stop_is_requested) {
  in_every_pool<TypeParam>([](std::size_t n) {
    using S = TypeParam;
    if (n < 64 || n > 1'000) return;
    auto const x = sorted_input(n, 1'000'000, 0), y = sorted_input(n, 1'000'000, 0);
    std::vector<tagged> out(2 * n);
    stop_source source;
    std::atomic<int> calls{0};
    int stop_at = 0, throw_at = 30;
    auto const less = [&](tagged const& a, tagged const& b) {
      int const call = ++calls;
      if (call == stop_at) source.request_stop();
      if (call == throw_at) throw call;
      return by_key(a, b);
    };
    EXPECT_THROW(filch::merge<S>(x, y, out, less), int);
    calls = 0;
    EXPECT_THROW(filch::set_union<S>(x, y, out, less), int);
    stop_at = 30, throw_at = calls = 0;
    if (n == 1'000) {
      EXPECT_FALSE(filch::merge<S>(source.get_token(), x, y, out, less));
    }
    source.request_stop();
    EXPECT_FALSE(filch::merge<S>(source.get_token(), x.begin(), x.end(), y.begin(), y.end(), out.begin(), by_key));
    EXPECT_FALSE(filch::set_difference<S>(source.get_token(), x, y, out, by_key));
    EXPECT_FALSE(filch::includes<S>(source.get_token(), x, y, by_key));
    auto const end = filch::set_union<S>(stop_token(), x.begin(), x.end(), y.begin(), y.end(), out.begin(), by_key);
    EXPECT_TRUE(end && std::is_sorted(out.begin(), *end, by_key));
    out.resize(n);  // too short for all
    auto const whole = filch::set_union<S>(x, y, out, by_key);
    auto const ends = filch::set_union<S>(stop_token(), x, y, out, by_key);
    EXPECT_TRUE(ends && ends->in1 == whole.in1 && ends->in2 == whole.in2 && ends->out == whole.out);
  });
}

}  // namespace
}  // namespace filch_test

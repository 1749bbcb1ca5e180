// Filters to another range: the results of std's, in any split, also where there is no memory for marks.
#include "pieces.hpp"
#include "stop_source.hpp"

#include <filch/filter.hpp>

#include <algorithm>

namespace filch_test {
namespace {

template <class S> class filters : public ::testing::Test {};
TYPED_TEST_SUITE(filters, algorithm_schedulers, scheduler_names);

constexpr auto is_taken = [](int x) { return x % 3 == 0 || x > 700; };

TYPED_TEST(filters, copy_if_is_std_s) {
  in_every_pool<TypeParam>([](std::size_t n) {
    auto const v = numbers(n);
    std::vector<int> expected, out(n);
    std::copy_if(v.begin(), v.end(), std::back_inserter(expected), is_taken);
    out.erase(filch::copy_if<TypeParam>(v.begin(), v.end(), out.begin(), is_taken), out.end());
    EXPECT_EQ(out, expected);
    std::vector<int> positions(n), expected_positions;
    for (std::size_t i = 0; i < n; ++i) {
      if (is_taken(v[i])) expected_positions.push_back(static_cast<int>(i));
    }
    positions.erase(filch::pack_index<TypeParam>(v, positions, is_taken), positions.end());
    EXPECT_EQ(positions, expected_positions);
  });
}

TYPED_TEST(filters, copy_if_ends_when_the_output_is_full) {
  in_every_pool<TypeParam>([](std::size_t n) {
    auto const v = numbers(n);
    std::vector<int> expected;
    std::copy_if(v.begin(), v.end(), std::back_inserter(expected), is_taken);
    for (std::size_t room : {expected.size() / 2, expected.size() - (expected.empty() ? 0 : 1), expected.size()}) {
      std::vector<int> out(room);
      auto const [in_end, out_end] = filch::copy_if<TypeParam>(v, out, is_taken);
      EXPECT_EQ(out_end, out.end());
      EXPECT_TRUE(std::equal(out.begin(), out.end(), expected.begin()));
      auto const rest = std::find_if(in_end, v.end(), is_taken);
      EXPECT_EQ(in_end, rest);
      EXPECT_EQ(std::count_if(v.begin(), in_end, is_taken), static_cast<std::ptrdiff_t>(room));
      std::vector<int> again(room);
      auto const ends = filch::copy_if<TypeParam>(v.begin(), v.end(), again.begin(), again.end(), is_taken);
      EXPECT_EQ(ends.in, in_end);
      EXPECT_EQ(ends.out, again.end());
      EXPECT_EQ(again, out);
      std::vector<std::size_t> at(room);
      EXPECT_EQ(filch::pack_index<TypeParam>(v.begin(), v.end(), at.begin(), at.end(), is_taken), at.end());
      for (std::size_t i = 0; i < room; ++i) EXPECT_EQ(v[at[i]], out[i]);
    }
  });
}

TYPED_TEST(filters, partition_copy_is_std_s) {
  in_every_pool<TypeParam>([](std::size_t n) {
    auto const v = numbers(n);
    std::vector<int> expected_true, expected_false, out_true(n), out_false(n);
    std::partition_copy(v.begin(), v.end(), std::back_inserter(expected_true), std::back_inserter(expected_false),
                        is_taken);
    auto const [t, f] =
        filch::partition_copy<TypeParam>(v.begin(), v.end(), out_true.begin(), out_false.begin(), is_taken);
    out_true.erase(t, out_true.end());
    out_false.erase(f, out_false.end());
    EXPECT_EQ(out_true, expected_true);
    EXPECT_EQ(out_false, expected_false);
  });
}

/// The serial loop of partition_copy with two bounds.
struct bounded_parts {
  std::vector<int> taken, others;
  std::size_t end = 0;
  bounded_parts(std::vector<int> const& v, std::size_t room, std::size_t room_for_others) {
    for (; end != v.size(); ++end) {
      auto& to = is_taken(v[end]) ? taken : others;
      if (to.size() == (is_taken(v[end]) ? room : room_for_others)) break;
      to.push_back(v[end]);
    }
    taken.resize(room, -1);
    others.resize(room_for_others, -1);
  }
};

TYPED_TEST(filters, partition_copy_ends_at_the_first_element_without_room) {
  in_every_pool<TypeParam>([](std::size_t n) {
    auto const v = numbers(n);
    auto const all = static_cast<std::size_t>(std::count_if(v.begin(), v.end(), is_taken));
    std::size_t const others = n - all;
    using rooms = std::pair<std::size_t, std::size_t>;
    for (auto [room, room_for_others] : {rooms(all, others), rooms(all / 2, others), rooms(all, others / 2),
                                         rooms(0, n), rooms(n, others - others / 8), rooms(all + 1, others + 1)}) {
      bounded_parts const expected(v, room, room_for_others);
      std::vector<int> t(room, -1), f(room_for_others, -1);
      auto const ends = filch::partition_copy<TypeParam>(v, t, f, is_taken);
      EXPECT_EQ(ends.in, v.begin() + static_cast<std::ptrdiff_t>(expected.end));
      EXPECT_EQ(ends.out1 - t.begin(), std::count_if(v.begin(), ends.in, is_taken));
      EXPECT_EQ(ends.out1 - t.begin() + (ends.out2 - f.begin()), static_cast<std::ptrdiff_t>(expected.end));
      EXPECT_TRUE(t == expected.taken && f == expected.others) << room << ' ' << room_for_others;
      std::vector<int> t2(room, -1), f2(room_for_others, -1);
      auto const same =
          filch::partition_copy<TypeParam>(v.begin(), v.end(), t2.begin(), t2.end(), f2.begin(), f2.end(), is_taken);
      EXPECT_EQ(same.in, ends.in);
      EXPECT_TRUE(t2 == t && f2 == f);
      stop_token const token;
      auto const stoppable = filch::partition_copy<TypeParam>(token, v, t2, f2, is_taken);
      EXPECT_EQ(stoppable->in, ends.in);
      auto const iterators = filch::partition_copy<TypeParam>(token, v.begin(), v.end(), t2.begin(), t2.end(),
                                                              f2.begin(), f2.end(), is_taken);
      EXPECT_EQ(iterators->out2 - f2.begin(), ends.out2 - f.begin());
    }
  });
}

TYPED_TEST(filters, copy_if_ends_when_a_stop_is_requested) {
  stop_source source;
  auto const v = numbers(1'000);
  std::vector<int> out(1'000);
  std::size_t calls = 0;
  auto const pred = [&](int) { return ++calls == 500 ? source.request_stop() : true; };
  typename TypeParam::pool pool({.workers = 1});
  pool.run([&] {
    EXPECT_FALSE(filch::copy_if<TypeParam>(source.get_token(), v.begin(), v.end(), out.begin(), pred));
    EXPECT_LE(calls, 564u);
    calls = 1'000;
    EXPECT_TRUE(filch::copy_if<TypeParam>(stop_token(), v.begin(), v.end(), out.begin(), pred));
    auto const half = out.begin() + 500;
    auto const ends = filch::copy_if<TypeParam>(stop_token(), v.begin(), v.end(), out.begin(), half, pred);
    EXPECT_TRUE(ends && ends->in == v.begin() + 500 && ends->out == half);
    std::vector<std::size_t> at(7);
    EXPECT_EQ(filch::pack_index<TypeParam>(stop_token(), v.begin(), v.end(), at.begin(), at.end(), pred), at.end());
  });
  EXPECT_EQ(out, v);
}

/// Without memory for marks: positions above wait for the number of elements below. Runs no threads.
TYPED_TEST(filters, are_right_without_memory_for_marks) {
  using namespace filch::detail;
  constexpr std::size_t n = 1'000, middle = 500;
  auto const v = numbers(n);
  std::vector<int> expected, out(n);
  std::copy_if(v.begin(), v.end(), std::back_inserter(expected), is_taken);
  using iterator = std::vector<int>::const_iterator;
  struct no_marks : filter_work<selection<iterator, decltype(is_taken), std::identity const>,
                                elements_out<iterator, std::vector<int>::iterator>> {
    using no_marks::filter_work::filter_work;
    void about_to_split(std::size_t, std::size_t) {}
  };
  for (std::size_t ahead : {0u, 100u, 500u}) {
    std::identity const all{};
    no_marks w({v.begin(), {is_taken}, {all}}, {v.begin(), out.begin()}, n);
    never_stopped never;
    carrying_piece<TypeParam, never_stopped, no_marks> low(w, never, n, 0);
    auto high = low.split(middle, n);
    if (ahead != 0) run_stretch_of(high, middle, middle + ahead);
    run_stretch_of(low, 0, middle);
    if (ahead != 500) run_stretch_of(high, middle + ahead, n);
    low.merge(high);
    EXPECT_EQ(low.last_carry(), expected.size());
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), out.begin()));
  }
}

/// As after an exception: the piece below did not run to its end. Runs no threads.
TYPED_TEST(filters, take_no_count_of_a_piece_that_ran_in_part) {
  using namespace filch::detail;
  std::vector<int> const v(24, 3);  // all are taken: there is no room for others
  std::vector<int> out_true(24), out_false;
  using iterator = std::vector<int>::const_iterator;
  using out = std::vector<int>::iterator;
  std::identity const all{};
  filter_work<selection<iterator, decltype(is_taken), std::identity const>, both_out<iterator, out, out>> w(
      {v.begin(), {is_taken}, {all}}, {v.begin(), out_true.begin(), out_false.begin()}, 24);
  never_stopped never;
  carrying_piece<TypeParam, never_stopped, decltype(w)> low(w, never, 24, 0);
  auto top = low.split(16, 24);
  auto middle = low.split(8, 16);
  run_stretch_of(middle, 8, 12);
  run_stretch_of(low, 0, 8);
  low.merge(middle);
  run_stretch_of(top, 16, 24);
  EXPECT_EQ(low.last_carry(), 12u);
  EXPECT_EQ(out_true[12], 0) << "the highest piece writes";
}

}  // namespace
}  // namespace filch_test

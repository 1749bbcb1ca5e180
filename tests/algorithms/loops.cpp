// Loops that write: for_each, transform, copy, fill, generate, iota.
#include "pieces.hpp"

#include <filch/for_each.hpp>
#include <filch/for_extents.hpp>
#include <filch/transform.hpp>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <numeric>

namespace filch_test {
namespace {

template <class S> class loops : public ::testing::Test {};
TYPED_TEST_SUITE(loops, algorithm_schedulers, scheduler_names);

TYPED_TEST(loops, call_a_function_for_projections) {
  in_every_pool<TypeParam>([](std::size_t n) {
    std::vector<std::pair<int, int>> v(n);
    filch::for_each<TypeParam>(v, [](int& x) { ++x; }, &std::pair<int, int>::second);
    auto const end = filch::for_each_n<TypeParam>(v.begin(), static_cast<std::ptrdiff_t>(n / 2),
                                                  [](std::pair<int, int>& p) { ++p.first; });
    EXPECT_EQ(end, v.begin() + static_cast<std::ptrdiff_t>(n / 2));
    for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(v[i], std::pair(i < n / 2 ? 1 : 0, 1));
  });
}

TYPED_TEST(loops, transform_one_range) {
  in_every_pool<TypeParam>([](std::size_t n) {
    auto const v = numbers(n);
    std::vector<long> expected(n);
    std::transform(v.begin(), v.end(), expected.begin(), [](int x) { return 3L * x; });
    auto const triple = [](int x) { return 3L * x; };
    std::vector<long> out(n);
    EXPECT_EQ(filch::transform<TypeParam>(v.begin(), v.end(), out.begin(), triple), out.end());
    EXPECT_EQ(out, expected);
    out.assign(n + 1, -1);
    auto const end = filch::transform<TypeParam>(v, out, triple);
    EXPECT_EQ(end.in, v.end());
    EXPECT_EQ(end.out, out.end() - 1);
    EXPECT_EQ(out.back(), -1);
    out.assign(n / 2, -1);
    auto const half = filch::transform<TypeParam>(v.begin(), v.end(), out.begin(), out.end(), triple);
    EXPECT_EQ(half.in, v.begin() + static_cast<std::ptrdiff_t>(n / 2));
    EXPECT_EQ(half.out, out.end());
    EXPECT_TRUE(std::equal(out.begin(), out.end(), expected.begin()));
  });
}

TYPED_TEST(loops, transform_two_ranges) {
  in_every_pool<TypeParam>([](std::size_t n) {
    auto const v = numbers(n);
    auto const w = numbers(n + 3);
    std::vector<int> expected(n);
    std::transform(v.begin(), v.end(), w.begin(), expected.begin(), std::minus<>{});
    std::vector<int> out(n);
    EXPECT_EQ(filch::transform<TypeParam>(v.begin(), v.end(), w.begin(), out.begin(), std::minus<>{}), out.end());
    EXPECT_EQ(out, expected);
    out.assign(n, 0);
    EXPECT_EQ(filch::transform<TypeParam>(v, w, out, std::minus<>{}).in2, w.begin() + static_cast<std::ptrdiff_t>(n));
    EXPECT_EQ(out, expected);
  });
}

TYPED_TEST(loops, copy_and_fill_and_count) {
  in_every_pool<TypeParam>([](std::size_t n) {
    auto const v = numbers(n);
    std::vector<int> out(n);
    EXPECT_EQ(filch::copy<TypeParam>(v.begin(), v.end(), out.begin()), out.end());
    EXPECT_EQ(out, v);
    out.assign(n, 0);
    EXPECT_EQ(filch::copy<TypeParam>(v, out).out, out.end());
    EXPECT_EQ(out, v);
    EXPECT_EQ(filch::fill<TypeParam>(out, 7), out.end());
    EXPECT_EQ(out, std::vector<int>(n, 7));
    filch::generate<TypeParam>(out, [] { return 8; });
    EXPECT_EQ(out, std::vector<int>(n, 8));
    filch::iota<TypeParam>(out.begin(), out.end(), -5);
    std::vector<int> expected(n);
    std::iota(expected.begin(), expected.end(), -5);
    EXPECT_EQ(out, expected);
  });
}

TYPED_TEST(loops, copy_bytes_and_fill_parts) {
  struct large {
    int x[40];
    bool operator==(large const&) const = default;
  };
  in_every_pool<TypeParam>([](std::size_t n) {
    auto const v = numbers(n, 0, 100);
    std::vector<char> const small(v.begin(), v.end());
    std::vector<char> out(n + 2, 'x');
    filch::copy<TypeParam>(small.begin(), small.end(), out.begin() + 1);
    EXPECT_TRUE(std::equal(small.begin(), small.end(), out.begin() + 1));
    EXPECT_TRUE(out.front() == 'x' && out.back() == 'x');
    std::vector<large> whole(n);
    for (std::size_t i = 0; i < n; ++i) whole[i].x[i % 40] = v[i];
    std::vector<large> copied(n);
    filch::copy<TypeParam>(whole, copied);
    EXPECT_EQ(copied, whole);
    std::deque<int> parts(n + 2, 1);
    filch::fill<TypeParam>(parts.begin() + 1, parts.end() - 1, short{7});
    EXPECT_EQ(std::count(parts.begin(), parts.end(), 7), static_cast<std::ptrdiff_t>(n));
    EXPECT_TRUE(parts.front() == 1 && parts.back() == 1);
    std::vector<bool> bits(n + 2);
    filch::fill<filch::serial>(bits.begin() + 1, bits.end() - 1, true);
    EXPECT_EQ(std::count(bits.begin(), bits.end(), true), static_cast<std::ptrdiff_t>(n));
    EXPECT_FALSE(bits.front() || bits.back());
  });
}

TYPED_TEST(loops, run_each_index_of_a_grid_once) {
  typename TypeParam::pool pool({.workers = 2});
  auto const grids = [&] {
    for (int rows : {-1, 0, 1, 3, 17, 70, 200, 1025}) {
      for (int columns : {0, 1, 2, 3, 21, 63, 64, 65, 100, 130}) {
        std::vector<int> visits(static_cast<std::size_t>(std::max(rows, 0) * columns));
        pool.run([&] {
          filch::for_index<TypeParam>(filch::extents{rows, columns},
                                      [&](int r, int c) { ++visits.at(static_cast<std::size_t>(r * columns + c)); });
        });
        EXPECT_EQ(visits, std::vector<int>(visits.size(), 1)) << rows << " times " << columns;
      }
    }
    for (std::size_t planes : {1u, 5u, 40u}) {
      std::vector<int> visits(planes * 7 * 67);
      pool.run([&] {
        filch::for_index<TypeParam>(filch::extents{planes, 7, 67}, [&](std::size_t p, std::size_t r, std::size_t c) {
          ++visits.at((p * 7 + r) * 67 + c);
        });
      });
      EXPECT_EQ(visits, std::vector<int>(visits.size(), 1)) << planes;
    }
  };
  grids();
  single_pieces const all;
  grids();
}

/// The loop runs each index of a grid once.
template <class S> void visits_each_once(std::size_t planes, std::size_t rows, std::size_t columns) {
  std::vector<int> visits(planes * rows * columns);
  bool is_in_place = true;
  filch::for_index<S>(filch::extents{planes, rows, columns}, [&](std::size_t p, std::size_t r, std::size_t c) {
    if (p >= planes || r >= rows || c >= columns) {
      is_in_place = false;
    } else {
      ++visits[(p * rows + r) * columns + c];
    }
  });
  bool const are_once = std::all_of(visits.begin(), visits.end(), [](int n) { return n == 1; });
  EXPECT_TRUE(is_in_place && are_once) << planes << " times " << rows << " times " << columns;
}
TEST(tiles, of_all_shapes_have_each_index_once) {
  using serial = filch::serial;
  for (std::size_t columns :
       {1u, 2u, 3u, 5u, 16u, 31u, 63u, 64u, 65u, 72u, 127u, 128u, 1023u, 1024u, 1025u, 40'000u}) {
    for (std::size_t rows : {1u, 2u, 16u, 17u, 64u, 65u, 1024u, 1025u}) {
      if (rows * columns < 200'000) visits_each_once<serial>(1, rows, columns);
      if (rows * columns < 20'000) visits_each_once<serial>(13, rows, columns);
    }
  }
  visits_each_once<serial>(1, 100'000, 1);
  visits_each_once<serial>(100'000, 1, 1);
  visits_each_once<serial>(200, 200, 3);
  visits_each_once<serial>(3, 20, 4'097);
  visits_each_once<serial>(1, 17, 9'000);
}

TYPED_TEST(loops, run_grids_with_one_long_side) {
  typename TypeParam::pool pool({.workers = 2});
  auto const grids = [&] {
    pool.run([] {
      visits_each_once<TypeParam>(1, 1, 5'000);
      visits_each_once<TypeParam>(1, 5'000, 1);
      visits_each_once<TypeParam>(5'000, 1, 1);
      visits_each_once<TypeParam>(40, 40, 3);
      visits_each_once<TypeParam>(1, 50, 72);
    });
  };
  grids();
  single_pieces const all;
  grids();
}

TYPED_TEST(loops, run_grids_whose_sizes_are_of_several_types) {
  std::vector<int> visits(70 * 130);
  auto const visit = [&](std::size_t r, std::size_t c) { ++visits.at(r * 130 + c); };
  int const rows = static_cast<int>(visits.size() / 130);
  std::size_t const columns = 130;
  filch::for_index<TypeParam>(filch::extents{rows, columns}, visit);
  filch::for_index<TypeParam>(filch::extents{columns - 129, static_cast<short>(rows), columns},
                              [&](std::size_t p, std::size_t r, std::size_t c) { visit(p + r, c); });
  filch::for_index<TypeParam>(filch::extents<std::size_t, 2>{rows, 130}, visit);
  filch::for_index<TypeParam>(filch::extents{-rows, columns}, visit);    // none
  filch::for_index<TypeParam>(filch::extents<std::size_t, 2>{}, visit);  // none
  EXPECT_EQ(visits, std::vector<int>(visits.size(), 3));
}

TYPED_TEST(loops, give_the_body_of_a_grid_indices_of_its_own) {
  std::vector<int> visits(70 * 130);
  auto const visit = [&](int r, int c) { ++visits.at(static_cast<std::size_t>(r * 130 + c)); };
  filch::for_index<TypeParam>(filch::extents{70, 130}, [&](int& r, int& c) {
    visit(r, c);
    r += 1'000;
    c -= 1'000;
  });
  filch::for_index<TypeParam>(filch::extents{1, 70, 130}, [&](auto& p, auto& r, auto& c) {
    visit(r, c);
    p = r = c = 7;
  });
  filch::for_index<TypeParam>(filch::extents{70, 130}, [&](int const& r, long c) { visit(r, static_cast<int>(c)); });
  EXPECT_EQ(visits, std::vector<int>(visits.size(), 3));
}

TEST(tiles, of_narrow_indices_end_at_the_greatest_one) {
  std::vector<int> visits(127 * 127);
  std::int8_t const greatest = 127;
  filch::for_index<filch::serial>(filch::extents{greatest, greatest}, [&](std::int8_t r, std::int8_t c) {
    ++visits.at(static_cast<std::size_t>(r * 127 + c));
  });
  EXPECT_EQ(visits, std::vector<int>(visits.size(), 1));
}

TEST(tiles, are_compact) {
  // The first positions of a large grid lie in few rows and few columns.
  std::size_t last_row = 0;
  std::size_t last_column = 0;
  int calls = 0;
  try {
    filch::for_index<filch::serial>(filch::extents{std::size_t{32'768}, std::size_t{32'768}},
                                    [&](std::size_t r, std::size_t c) {
                                      if (++calls > 1024 * 1024) throw calls;
                                      last_row = std::max(last_row, r);
                                      last_column = std::max(last_column, c);
                                    });
  } catch (int) {
  }
  EXPECT_LT(last_row, 512u);
  EXPECT_LT(last_column, 4096u);
}

TEST(tiles, are_halved_along_the_longer_side) {
  // The upper half of the positions, which is given away, is the upper half of the longer side.
  struct shape {
    std::size_t planes, rows, columns, longer;
  };
  for (auto [planes, rows, columns, longer] :
       {shape{1, 6'000, 5'000, 1}, shape{1, 5'000, 12'288, 2}, shape{600, 500, 500, 0}, shape{100, 300, 4'096, 1}}) {
    auto const grid = filch::detail::grid_of(planes, rows, columns);
    for (bool is_upper : {false, true}) {
      auto half = grid;
      half.halve(is_upper ? grid.last - 1 : 0);
      EXPECT_EQ((half.last - half.first) * 2, grid.last) << rows << " times " << columns;
      EXPECT_EQ(half.size(longer) * 2, grid.size(longer));
      EXPECT_EQ(half.begin[longer] != 0, is_upper);
    }
  }
}

}  // namespace
}  // namespace filch_test

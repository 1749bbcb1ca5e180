// Each allocation of each algorithm fails once, and all of them do: the result is the same, or std::bad_alloc leaves
// where the documentation says so.
#include "pieces.hpp"
#include "scale.hpp"
#include "stop_source.hpp"

#include <filch/algorithm.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <new>
#include <numeric>
#include <optional>

namespace {

/// The allocation that it is armed for fails, alone or with all that follow.
class fault {
 public:
  void arm(int call, bool from_then_on) {
    goes_on_.store(from_then_on, std::memory_order_relaxed);
    left_.store(call, std::memory_order_relaxed);
  }
  /// Was it reached?
  bool disarm() { return left_.exchange(k_off, std::memory_order_relaxed) <= 0; }
  bool strikes() {
    if (left_.load(std::memory_order_relaxed) == k_off) return false;
    int const left = left_.fetch_sub(1, std::memory_order_relaxed);
    return left == 1 || (left < 1 && goes_on_.load(std::memory_order_relaxed));
  }

 private:
  static constexpr int k_off = 1 << 30;
  std::atomic<int> left_{k_off};
  std::atomic<bool> goes_on_{false};
};
constinit fault allocation;

void* allocate(std::size_t bytes, std::size_t alignment) noexcept {
  if (allocation.strikes()) return nullptr;
  return std::aligned_alloc(alignment, (bytes + alignment) / alignment * alignment);
}
void* allocate_or_throw(std::size_t bytes, std::size_t alignment) {
  if (void* const p = allocate(bytes, alignment)) return p;
  throw std::bad_alloc();
}
constexpr std::size_t k_usual = alignof(std::max_align_t);

}  // namespace

[[gnu::noinline]] void* operator new(std::size_t n) { return allocate_or_throw(n, k_usual); }
[[gnu::noinline]] void* operator new[](std::size_t n) { return allocate_or_throw(n, k_usual); }
[[gnu::noinline]] void* operator new(std::size_t n, std::align_val_t a) {
  return allocate_or_throw(n, static_cast<std::size_t>(a));
}
[[gnu::noinline]] void* operator new(std::size_t n, std::nothrow_t const&) noexcept { return allocate(n, k_usual); }
[[gnu::noinline]] void* operator new[](std::size_t n, std::nothrow_t const&) noexcept { return allocate(n, k_usual); }
[[gnu::noinline]] void* operator new(std::size_t n, std::align_val_t a, std::nothrow_t const&) noexcept {
  return allocate(n, static_cast<std::size_t>(a));
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete[](void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete[](void* p, std::size_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }

#if !FILCH_TEST_ASAN && !FILCH_TEST_TSAN && defined(__GLIBC__)
extern "C" void* __libc_calloc(std::size_t n, std::size_t bytes) noexcept;
extern "C" void* calloc(std::size_t n, std::size_t bytes) noexcept {  // histogram's
  return allocation.strikes() ? nullptr : __libc_calloc(n, bytes);
}
#endif

namespace filch_test {
namespace {

template <class S> class no_memory : public ::testing::Test {};
TYPED_TEST_SUITE(no_memory, algorithm_schedulers, scheduler_names);

enum class may { end_only, throw_bad_alloc };

/// Calls trial(run) again and again. run(algorithm) calls the algorithm while allocation number 1, 2... fails, until
/// there are not so many. It returns false if std::bad_alloc left. Then all of it while all of them fail.
template <class S, class Trial> void sweep(may outcome, Trial trial) {
  constexpr int k_most_calls = 10'000;
  for (unsigned workers : {1u, 2u}) {
    typename S::pool pool({.workers = workers});
    for (bool from_then_on : {false, true}) {
      bool was_reached = true;
      for (int call = 1; was_reached && call < k_most_calls; ++call) {
        SCOPED_TRACE(call);
        trial([&](auto algorithm) {
          bool has_thrown = false;
          pool.run([&] {
            allocation.arm(call, from_then_on);
            try {
              algorithm();
            } catch (std::bad_alloc const&) {
              has_thrown = true;
            }
            was_reached = allocation.disarm();
          });
          EXPECT_TRUE(!has_thrown || outcome == may::throw_bad_alloc);
          return !has_thrown;
        });
        if (::testing::Test::HasFailure()) return;
      }
      EXPECT_FALSE(was_reached);
    }
  }
}

constexpr std::size_t k_n = 150;
constexpr auto is_taken = [](int x) { return x % 3 == 0; };

TYPED_TEST(no_memory, of_filters) {
  single_pieces const all;
  auto const data = numbers(k_n);
  std::vector<int> taken, others, places;
  std::partition_copy(data.begin(), data.end(), std::back_inserter(taken), std::back_inserter(others), is_taken);
  for (std::size_t i = 0; i < k_n; ++i) {
    if (is_taken(data[i])) places.push_back(static_cast<int>(i));
  }
  sweep<TypeParam>(may::end_only, [&](auto run) {
    std::vector<int> out(k_n);
    run([&] { out.erase(filch::copy_if<TypeParam>(data.begin(), data.end(), out.begin(), is_taken), out.end()); });
    EXPECT_EQ(out, taken);
  });
  sweep<TypeParam>(may::end_only, [&](auto run) {
    std::vector<int> out(k_n);
    run([&] { out.erase(filch::pack_index<TypeParam>(data, out, is_taken), out.end()); });
    EXPECT_EQ(out, places);
  });
  sweep<TypeParam>(may::end_only, [&](auto run) {
    std::vector<int> out(taken.size()), out2(others.size());
    run([&] { filch::partition_copy<TypeParam>(data.begin(), data.end(), out.begin(), out2.begin(), is_taken); });
    EXPECT_EQ(out, taken);
    EXPECT_EQ(out2, others);
  });
  sweep<TypeParam>(may::end_only, [&](auto run) {
    auto v = data;
    run([&] { filch::stable_partition<TypeParam>(v.begin(), v.end(), is_taken); });
    EXPECT_TRUE(std::equal(taken.begin(), taken.end(), v.begin()));
    EXPECT_TRUE(std::equal(others.begin(), others.end(), v.end() - static_cast<std::ptrdiff_t>(others.size())));
  });
}

/// Not trivial, and needs no memory of its own.
struct heavy {
  double value = 0;
  heavy() = default;
  explicit heavy(double x) : value(x) {}
  heavy(heavy const& other) = default;
  heavy& operator=(heavy const& other) = default;
  ~heavy() { value = -1; }
  friend heavy operator+(heavy const& a, heavy const& b) { return heavy(a.value + b.value); }
};

TYPED_TEST(no_memory, of_reproducible_reductions) {
  single_pieces const all;
  for (std::size_t n : {std::size_t{1}, std::size_t{64}, std::size_t{65}, 64 * k_n + 7}) {
    std::vector<double> v(n);
    std::size_t i = 0;
    for (int x : numbers(n)) v[i++] = std::ldexp(x, x % 60);
    double const expected = filch::reduce<filch::serial>(filch::reproducible, v, 0.1);
    sweep<TypeParam>(may::end_only, [&](auto run) {
      double sum = 0;
      run([&] { sum = filch::reduce<TypeParam>(filch::reproducible, v, 0.1); });
      EXPECT_EQ(sum, expected);
      heavy heavy_sum;
      run([&] {
        heavy_sum = filch::transform_reduce<TypeParam>(filch::reproducible, v, heavy(0.1), std::plus<>{},
                                                       [](double x) { return heavy(x); });
      });
      EXPECT_EQ(heavy_sum.value, expected);
    });
  }
}

TEST(no_memory_at_all, ends_a_reproducible_reduction_that_is_stopped) {
  std::vector<double> const v(64 * k_n, 1.0);
  stop_source source;
  std::size_t calls = 0;
  auto const add = [&](double a, double b) {
    if (++calls == 500) source.request_stop();
    return a + b;
  };
  std::optional<double> sum;
  allocation.arm(1, true);
  sum = filch::reduce<filch::serial>(source.get_token(), filch::reproducible, v, 0.0, add);
  EXPECT_TRUE(allocation.disarm());
  EXPECT_FALSE(sum);
  EXPECT_LE(calls, 564u);
}

TYPED_TEST(no_memory, of_algorithms_by_key) {
  single_pieces const all;
  auto const data = numbers(k_n, 0, 400);  // more bins than some pieces have elements, and fewer than others
  std::vector<int> expected(100);
  auto const bin_of = [](int x) { return static_cast<std::size_t>(x % 100); };
  for (int x : data) ++expected[bin_of(x)];
  sweep<TypeParam>(may::end_only, [&](auto run) {
    std::vector<int> bins(100);
    run([&] { filch::histogram<TypeParam>(data, bins, bin_of); });
    EXPECT_EQ(bins, expected);
  });
  sweep<TypeParam>(may::throw_bad_alloc, [&](auto run) {
    std::vector<std::size_t> bins;
    if (run([&] { bins = filch::histogram<TypeParam>(data, 100, bin_of); })) {
      EXPECT_TRUE(std::equal(bins.begin(), bins.end(), expected.begin(), expected.end(),
                             [](std::size_t a, int b) { return a == static_cast<std::size_t>(b); }));
    }
  });
  std::vector<int> const few(data.begin(), data.begin() + 20);
  auto const key_of = [](int x) { return x % 5; };
  auto const sums = filch::reduce_by_key<filch::serial>(few, key_of, std::identity{});
  auto const groups = filch::group_by<filch::serial>(few, key_of);
  sweep<TypeParam>(may::throw_bad_alloc, [&](auto run) {
    auto result = sums;
    result.clear();
    bool const ended = run([&] { result = filch::reduce_by_key<TypeParam>(few, key_of, std::identity{}); });
    EXPECT_TRUE(!ended || result == sums);
  });
  sweep<TypeParam>(may::throw_bad_alloc, [&](auto run) {
    auto result = groups;
    result.clear();
    bool const ended = run([&] { result = filch::group_by<TypeParam>(few, key_of); });
    EXPECT_TRUE(!ended || result == groups);
  });
}

TYPED_TEST(no_memory, of_sorts_and_merges) {
  using S = TypeParam;
  single_pieces const all;
  auto const data = numbers(k_n, 0, 60);
  auto sorted = data;
  std::sort(sorted.begin(), sorted.end());
  auto const middle = static_cast<std::ptrdiff_t>(k_n / 3);
  auto halves = data;
  std::sort(halves.begin(), halves.begin() + middle);
  std::sort(halves.begin() + middle, halves.end());
  std::vector<int> two_runs(600);
  for (std::size_t i = 0; i < two_runs.size(); ++i) two_runs[i] = static_cast<int>(i % 300);
  sweep<S>(may::end_only, [&](auto run) {
    auto v = data;
    run([&] { filch::sort<S>(v); });
    EXPECT_EQ(v, sorted);
    v = two_runs;  // they are merged
    run([&] { filch::sort<S>(v); });
    EXPECT_TRUE(std::is_sorted(v.begin(), v.end()));
    v = data;
    run([&] { filch::stable_sort<S>(v); });
    EXPECT_EQ(v, sorted);
    v = data;
    run([&] { filch::integer_sort<S>(v); });
    EXPECT_EQ(v, sorted);
    v = halves;
    run([&] { filch::inplace_merge<S>(v, v.begin() + middle); });
    EXPECT_EQ(v, sorted);
    std::vector<int> least(k_n / 4);
    run([&] { filch::partial_sort_copy<S>(data, least); });
    EXPECT_TRUE(std::equal(least.begin(), least.end(), sorted.begin()));
  });
  std::vector<int> in = numbers(k_n / 2, 0, 60), both, either;
  std::sort(in.begin(), in.end());
  std::set_intersection(in.begin(), in.end(), sorted.begin(), sorted.end(), std::back_inserter(both));
  std::set_union(in.begin(), in.end(), sorted.begin(), sorted.end(), std::back_inserter(either));
  sweep<S>(may::end_only, [&](auto run) {
    std::vector<int> out(2 * k_n);
    run([&] {
      out.erase(filch::set_union<S>(in.begin(), in.end(), sorted.begin(), sorted.end(), out.begin()), out.end());
    });
    EXPECT_EQ(out, either);
    out.assign(both.size(), -1);
    run([&] { filch::set_intersection<S>(in, sorted, out); });
    EXPECT_EQ(out, both);
  });
  std::vector<int> long_one(20'000), shuffled;
  std::iota(long_one.begin(), long_one.end(), 0);
  shuffled = long_one;
  filch::random_shuffle<filch::serial>(shuffled, 3);
  sweep<S>(may::throw_bad_alloc, [&](auto run) {
    auto v = long_one;
    bool const ended = run([&] { filch::random_shuffle<S>(v, 3); });
    EXPECT_EQ(v, ended ? shuffled : long_one);
  });
}

TYPED_TEST(no_memory, of_all_others) {
  single_pieces const all;
  auto const data = numbers(k_n);
  sweep<TypeParam>(may::end_only, [&](auto run) {
    using S = TypeParam;
    auto v = data;
    std::vector<int> out(k_n), sums(k_n);
    std::inclusive_scan(data.begin(), data.end(), sums.begin());
    int sum = 0;
    std::ptrdiff_t count = 0, place = 0;
    run([&] {
      filch::for_each<S>(v, [](int& x) { ++x; });
      filch::for_index<S>(std::size_t{0}, k_n, [&](std::size_t i) { --v[i]; });
      filch::transform<S>(v, out, [](int x) { return x; });
      sum = filch::reduce<S>(v, 0);
      count = filch::count_if<S>(v, is_taken);
      place = filch::find_if<S>(v, is_taken) - v.begin();
      filch::inclusive_scan<S>(v, out);
      filch::min_element<S>(v);
      filch::is_sorted<S>(v);
      filch::search<S>(v.begin(), v.end(), data.begin(), data.end());
      filch::adjacent_difference<S>(out.begin(), out.end(), v.begin());
      filch::partition<S>(v.begin(), v.end(), is_taken);
    });
    EXPECT_EQ(sum, sums.back());
    EXPECT_EQ(out, sums);
    EXPECT_EQ(count, std::count_if(data.begin(), data.end(), is_taken));
    EXPECT_EQ(place, std::find_if(data.begin(), data.end(), is_taken) - data.begin());
    EXPECT_TRUE(std::is_permutation(v.begin(), v.end(), data.begin()));
    auto expected = data;
    expected.erase(std::remove_if(expected.begin(), expected.end(), is_taken), expected.end());
    expected.erase(std::unique(expected.begin(), expected.end()), expected.end());
    v = data;
    run([&] {
      auto const end = filch::remove_if<S>(v.begin(), v.end(), is_taken);
      v.erase(filch::unique<S>(v.begin(), end), v.end());
    });
    EXPECT_EQ(v, expected);
  });
}

}  // namespace
}  // namespace filch_test

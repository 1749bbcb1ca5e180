// Scans of stolen pieces: the carry is known before, midway and after.
#include "matrices.hpp"

#include <filch/scan.hpp>

#include <cstdint>
#include <mutex>
#include <numeric>
#include <string>

namespace filch_test {
namespace {

template <class S> class carries : public ::testing::Test {};
TYPED_TEST_SUITE(carries, algorithm_schedulers, scheduler_names);

/// A scan of eight strings whose upper half another worker takes. The gates are at what `when` says.
enum class carry_known { before, midway, after };
template <class S> class halves {
 public:
  explicit halves(carry_known when) {
    self = this;
    when_ = when;
    filch::detail::observer_of_pieces.store(&k_observer, std::memory_order_release);
    typename S::pool pool({.workers = 2});
    pool.run([&] {
      wait_for_thief<S>();
      filch::inclusive_scan<S>(in_, out, [this](std::string const& a, std::string const& b) { return op(a, b); });
    });
    filch::detail::observer_of_pieces.store(nullptr, std::memory_order_release);
  }
  /// Was op called with these ends?
  bool called(std::string const& a, std::string const& b) const {
    for (auto const& [x, y] : calls_) {
      if (x == a && y == b) return true;
    }
    return false;
  }
  std::vector<std::string> out = std::vector<std::string>(8);
  static inline std::vector<std::string> const expected{"0",     "01",     "012",     "0123",
                                                        "01234", "012345", "0123456", "01234567"};

 private:
  std::string op(std::string const& a, std::string const& b) {
    {
      std::lock_guard const lock(mutex_);
      calls_.emplace_back(a, b);
    }
    if (when_ == carry_known::midway && a == "4" && b == "5") {
      upper_began_.open();
      EXPECT_TRUE(lower_ended_.pass());
    }
    if (b == "1") {
      EXPECT_TRUE(when_ != carry_known::midway || upper_began_.pass());
      EXPECT_TRUE(when_ != carry_known::after || upper_ended_.pass());
    }
    return a + b;
  }
  static void begins(std::size_t first, std::size_t last) noexcept {
    if (first == 4 && last == 8 && self->when_ == carry_known::before) {
      self->upper_began_.open();
      EXPECT_TRUE(self->lower_ended_.pass());
    }
    if (first == 0 && last == 4) {
      EXPECT_TRUE(self->when_ != carry_known::before || self->upper_began_.pass());
    }
  }
  static void ends(std::size_t, std::size_t last) noexcept {
    if (last == 4) self->lower_ended_.open();
    if (last == 8) {
      self->upper_began_.open();
      self->upper_ended_.open();
    }
  }
  static constexpr filch::detail::piece_observer k_observer{&begins, &ends, false};
  static inline halves* self = nullptr;

  std::vector<std::string> in_{"0", "1", "2", "3", "4", "5", "6", "7"};
  carry_known when_{};
  std::mutex mutex_;
  std::vector<std::pair<std::string, std::string>> calls_;
  gate upper_began_, lower_ended_, upper_ended_;
};

// A request may be older than the gates, so that a half is split, too: then another round is taken.

TYPED_TEST(carries, take_one_pass_over_a_stolen_piece_whose_carry_is_known_before) {
  if constexpr (steals<TypeParam> && !steals_are_forced<TypeParam>) {
    EXPECT_TRUE(eventually([] {
      halves<TypeParam> const h(carry_known::before);
      EXPECT_EQ(h.out, h.expected);
      return h.called("0123", "4") && h.called("012345", "6") && !h.called("4", "5");
    }));
  }
}

TYPED_TEST(carries, scan_the_rest_of_a_stolen_piece_whose_carry_comes_midway) {
  if constexpr (steals<TypeParam> && !steals_are_forced<TypeParam>) {
    EXPECT_TRUE(eventually([] {
      halves<TypeParam> const h(carry_known::midway);
      EXPECT_EQ(h.out, h.expected);
      bool const ran_ahead = h.called("4", "5");
      bool const went_on_directly = h.called("0123", "45") && h.called("012345", "6") && !h.called("45", "6");
      bool const took_a_second_pass = h.called("01234", "5");
      return ran_ahead && went_on_directly && took_a_second_pass;
    }));
  }
}

TYPED_TEST(carries, take_two_passes_over_a_stolen_piece_whose_carry_comes_after) {
  if constexpr (steals<TypeParam> && !steals_are_forced<TypeParam>) {
    EXPECT_TRUE(eventually([] {
      halves<TypeParam> const h(carry_known::after);
      EXPECT_EQ(h.out, h.expected);
      return (h.called("456", "7") || h.called("6", "7")) && h.called("0123456", "7");
    }));
  }
}

/// The same without threads: the upper piece runs `ahead` positions before the lower one runs.
template <class S, class Value, class Op> void expect_right_at_any_time(std::vector<Value> const& in, Op op) {
  using namespace filch::detail;
  std::size_t const n = in.size(), middle = n / 6;
  std::vector<Value> expected(n);
  std::inclusive_scan(in.begin(), in.end(), expected.begin(), op);
  for (std::size_t ahead : {0u, 1u, 100u, 127u, 128u, 129u, 4'096u, 4'097u, 4'999u, 5'000u}) {
    SCOPED_TRACE(ahead);
    std::vector<Value> out(n);
    std::identity all;
    using source = elements<typename std::vector<Value>::const_iterator, std::identity>;
    using work = scan_work<scan_kind::inclusive, Value, source, typename std::vector<Value>::iterator, Op>;
    work w{source(in.begin(), all), out.begin(), {op}};
    never_stopped never;
    carrying_piece<S, never_stopped, work> low(w, never, n, std::nullopt);
    auto high = low.split(middle, n);
    auto const run = [](auto& piece, std::size_t first, std::size_t last) {
      for (; first < last; first += 50) run_stretch_of(piece, first, std::min(first + 50, last));
    };
    run(high, middle, middle + ahead);
    auto top = high.split(middle + ahead + (n - middle - ahead) / 2, n);
    run(top, middle + ahead + (n - middle - ahead) / 2, n);
    run(low, 0, middle);
    run(high, middle + ahead, middle + ahead + (n - middle - ahead) / 2);
    high.merge(top);
    low.merge(high);
    EXPECT_EQ(out, expected);
    EXPECT_EQ(*low.last_carry(), expected.back());
  }
}
TYPED_TEST(carries, are_right_at_any_time) {
  expect_right_at_any_time<TypeParam>(matrices(6'000), std::multiplies<>{});
  // Whole numbers, so that the sums are exact in any order.
  std::vector<int> const whole = numbers(6'000);
  expect_right_at_any_time<TypeParam>(std::vector<double>(whole.begin(), whole.end()), std::plus<>{});
}

/// The work of a carry that is a number of positions, which counts its second passes.
struct counting_work {
  using carry = std::size_t;
  using sum = std::size_t;
  counting_work const& serial() const noexcept { return *this; }
  bool direct(std::size_t first, std::size_t last, carry& at) const { return at += last - first, true; }
  void ahead(std::size_t first, std::size_t last, std::optional<sum>& total) const {
    total = total.value_or(0) + (last - first);
  }
  bool can_run_ahead() const noexcept { return true; }
  void again(std::size_t first, std::size_t last, carry& at) const { at += last - first; }
  carry after(carry at, sum more) const noexcept { return at + more; }
  sum both(sum low, sum high) const noexcept { return low + high; }
};

/// Many tiny pieces above a few large ones: the blocks of a second pass still have about the same length.
TYPED_TEST(carries, keep_blocks_of_a_fair_length) {
  using blocks = filch::detail::blocks_ahead<counting_work>;
  counting_work work;
  blocks all;
  std::size_t end = 0;
  for (std::size_t length : {100'000u, 3u, 50'000u, 1u, 1'000u, 400u}) {
    for (int copies = length < 5'000 ? 300 : 4; copies != 0; --copies) {
      blocks upper;
      for (std::size_t const first = end; end != first + length; ++end) upper.run_ahead(work, end, end + 1);
      all.append(work, upper);
    }
  }
  ASSERT_LE(all.size(), blocks::k_most);
  EXPECT_EQ(all.first_of(0), 0u);
  EXPECT_EQ(all.last_of(all.size() - 1), end);
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all.sum_of(i), all.last_of(i) - all.first_of(i)) << i;
    EXPECT_LE(all.sum_of(i), end / (blocks::k_most / 2)) << i;
    if (i != 0) {
      EXPECT_EQ(all.first_of(i), all.last_of(i - 1)) << i;
    }
  }
}

/// The same for a function that lets its caller move the element away. Its piece reads each element twice.
TYPED_TEST(carries, leave_elements_that_are_read_again) {
  using namespace filch::detail;
  std::vector<std::string> in;
  for (char c = 'a'; c < 'i'; ++c) in.emplace_back(30, c);
  std::vector<std::string> out(8), expected(8);
  std::partial_sum(in.begin(), in.end(), expected.begin());
  auto const give_away = [](std::string& text) -> std::string&& { return std::move(text); };
  using iterator = std::vector<std::string>::iterator;
  using source = elements<iterator, decltype(give_away)>;
  using work = scan_work<scan_kind::inclusive, std::string, source, iterator, std::plus<>>;
  work w{source(in.begin(), give_away), out.begin(), {}};
  never_stopped never;
  carrying_piece<TypeParam, never_stopped, work> low(w, never, 8, std::nullopt);
  auto high = low.split(4, 8);
  run_stretch_of(high, 4, 8);
  run_stretch_of(low, 0, 4);
  low.merge(high);
  EXPECT_EQ(out, expected);
}

}  // namespace
}  // namespace filch_test

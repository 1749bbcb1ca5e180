// Loops in which each position needs a carry from the positions below it: scans and filters. They run on pieces.hpp.
//
// The lowest piece knows its carry, and does what the serial loop does. A piece that was given away looks before each
// stretch whether its carry is known. Until then it runs ahead: it reads, and keeps the sums of blocks of positions.
// From then on it works as the lowest piece does. Blocks that were run ahead get their second pass when the piece is
// merged into one whose carry is known. A piece that comes back unstolen begins after the piece below it has ended:
// its carry is known, and it takes one pass.
//
// docs/decisions/0013-scans.md has the reasons, and the entries of the edges.
#pragma once

#include <filch/detail/pieces.hpp>
#include <filch/detail/standard.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <new>
#include <optional>
#include <utility>

namespace filch::inline FILCH_ABI::detail {

/// A value that the piece below gives to the piece above it at its end. Neither waits.
template <class Carry> class handed_carry {
 public:
  /// The piece below, once: at its end, or when its second pass has ended.
  void give(Carry const& carry) {
    if constexpr (k_checks_races) return;  // as if the piece above had run by then
    carry_.emplace(carry);
    is_given_.store(true, std::memory_order_release);  // edge scan-1: publishes the carry; pairs with is_given()
  }
  /// The piece above, before each stretch.
  bool is_given() const noexcept {
    if constexpr (k_checks_races) return false;
    return is_given_.load(std::memory_order_acquire);  // edge scan-1: pairs with give()
  }
  /// After is_given().
  Carry const& carry() const noexcept { return *carry_; }

 private:
  std::optional<Carry> carry_;
  std::atomic<bool> is_given_{false};
};

/// The work of an algorithm with a carry. All members may be called for different positions at the same time.
///  - `serial()` is the serial loop: its `direct(first, last, carry)` does the work, and moves the carry on. False:
///    the loop ends here.
///  - `ahead(first, last, sum)` reads only, and appends the sum of the positions to `sum`, which is empty at first.
///  - `can_run_ahead()`: is there memory for ahead()? The same answer for all pieces above the first split.
///  - `again(first, last, carry)` is the second pass of positions that were run ahead.
///  - `after(carry, sum)` is the carry behind positions with that sum. `both(low, high)` is the sum of neighbours.
///  - `about_to_split(middle, last)` is called before each split.
///  - `k_turn` is that of its pieces.
template <class Work>
concept carrying_work = requires(Work& work, typename Work::carry& carry, std::optional<typename Work::sum>& sum) {
  { std::as_const(work.serial()).direct(std::size_t{}, std::size_t{}, carry) } -> std::same_as<bool>;
  work.ahead(std::size_t{}, std::size_t{}, sum);
  { work.can_run_ahead() } -> std::same_as<bool>;
  work.again(std::size_t{}, std::size_t{}, carry);
};

/// Positions that were run ahead, and need a second pass.
template <class Sum> struct block_ahead {
  std::size_t first = 0;
  std::optional<Sum> sum{};
};

/// Adjacent blocks that were run ahead. Holds a bounded number of them, so nothing is allocated: when full, small
/// neighbours become one block. No block grows beyond a fair part of all positions, so that many workers can share a
/// second pass.
template <class Work> class blocks_ahead {
 public:
  using sum = typename Work::sum;
  static constexpr std::size_t k_most = sizeof(sum) <= 16 ? 128 : sizeof(sum) <= 64 ? 32 : 8;

  blocks_ahead() noexcept {}  // makes no block
  blocks_ahead(blocks_ahead const&) = delete;
  blocks_ahead& operator=(blocks_ahead const&) = delete;
  ~blocks_ahead() { keep(0); }

  bool empty() const noexcept { return count_ == 0; }
  std::size_t size() const noexcept { return count_; }
  std::size_t first_of(std::size_t i) const noexcept { return blocks_[i].first; }
  std::size_t last_of(std::size_t i) const noexcept { return i + 1 == count_ ? last_ : blocks_[i + 1].first; }
  sum const& sum_of(std::size_t i) const noexcept { return *blocks_[i].sum; }
  void clear() noexcept { keep(0); }

  /// Runs [first, last) ahead.
  void run_ahead(Work& work, std::size_t first, std::size_t last) {
    if (count_ == 0 || first - blocks_[count_ - 1].first >= spacing_) begin(work, first);
    if (work.can_run_ahead()) work.ahead(first, last, blocks_[count_ - 1].sum);
    last_ = last;
  }
  /// Appends the blocks above these.
  void append(Work& work, blocks_ahead& upper) {
    for (std::size_t i = 0; i < upper.count_; ++i) {
      begin(work, upper.blocks_[i].first);
      blocks_[count_ - 1].sum = std::move(upper.blocks_[i].sum);
    }
    if (upper.count_ != 0) last_ = upper.last_;
  }

 private:
  using block = block_ahead<sum>;

  void begin(Work& work, std::size_t first) {
    if (count_ == k_most) join_small(work, first);
    ::new (static_cast<void*>(std::addressof(blocks_[count_]))) block{first};
    ++count_;
  }
  /// Joins neighbours that are at most a fair part of the positions together. Two neighbours that are left are more,
  /// so at least one block is free afterwards.
  void join_small(Work& work, std::size_t last) {
    std::size_t const most = (last - blocks_[0].first) / (k_most / 2);
    std::size_t to = 0;
    for (std::size_t i = 1; i < count_; ++i) {
      std::size_t const end = i + 1 == count_ ? last : blocks_[i + 1].first;
      if (end - blocks_[to].first <= most) {
        std::optional<sum>& low = blocks_[to].sum;
        std::optional<sum>& high = blocks_[i].sum;
        if (low.has_value() && high.has_value()) low.emplace(work.both(std::move(*low), std::move(*high)));
      } else if (++to != i) {
        blocks_[to].first = blocks_[i].first;
        blocks_[to].sum = std::move(blocks_[i].sum);
      }
    }
    keep(to + 1);
    spacing_ = std::max(2 * spacing_, most);
  }
  void keep(std::size_t count) noexcept {
    std::destroy(blocks_ + count, blocks_ + count_);
    count_ = count;
  }

  std::size_t count_ = 0;
  std::size_t last_ = 0;       // end of the last block
  std::size_t spacing_ = 128;  // positions of a block
  union {
    block blocks_[k_most];  // the first count_ are there; a piece that knows its carry makes none
  };
};

/// The second pass of some blocks. A position of this loop is a block.
template <class Work, class Stop> struct second_pass_piece {
  using carries = std::array<std::optional<typename Work::carry>, blocks_ahead<Work>::k_most>;
  static constexpr std::size_t k_between_looks = 64;  // of positions
  Work* work;
  Stop* stop;
  blocks_ahead<Work> const* blocks;
  carries* at;

  void run(std::size_t first, std::size_t last) const {
    for (; first != last; ++first) {
      std::size_t const end = blocks->last_of(first);
      for (std::size_t i = blocks->first_of(first); i != end && !stop->is_requested();) {
        std::size_t const next = std::is_same_v<Stop, never_stopped> ? end : std::min(end, i + k_between_looks);
        work->again(i, next, *(*at)[first]);
        i = next;
      }
    }
  }
  second_pass_piece split(std::size_t, std::size_t) const { return *this; }
  void merge(second_pass_piece&) const noexcept {}
};

/// A piece of a loop with a carry. Pieces of a loop are a list: each one gives its carry to the next one above it.
template <class Sched, class Stop, carrying_work Work> class carrying_piece {
 public:
  using carry = typename Work::carry;
  static constexpr std::size_t k_turn = Work::k_turn;
  using serial_loop = std::remove_cvref_t<decltype(std::declval<Work&>().serial())>;

  /// The piece of the whole loop. Its carry is known.
  carrying_piece(Work& work, Stop& stop, std::size_t n, carry&& initial)
      : work_(work), stop_(stop), end_(n), is_known_(true), carry_(std::move(initial)) {}
  carrying_piece(carrying_piece const&) = delete;
  carrying_piece& operator=(carrying_piece const&) = delete;

  /// Runs stretches. A carry and a loop that are small and trivially copyable are in registers.
  struct runner_type {
    carrying_piece& piece;
    std::conditional_t<is_cheap_to_copy<serial_loop>, serial_loop const, serial_loop const&> loop;
    bool is_known;
    carry at;

    FILCH_INLINE bool run(std::size_t first, std::size_t last) {
      if (!is_known) [[unlikely]] {
        if (piece.runs_ahead(first, last)) return true;
        is_known = true;
        at = *piece.carry_;
      }
      return loop.direct(first, last, at);
    }
  };
  runner_type runner(std::size_t)
    requires is_cheap_to_copy<carry>
  {
    return {*this, work_.serial(), is_known_, is_known_ ? *carry_ : carry()};
  }
  void ran(runner_type const& runner, std::size_t last) {
    if (runner.is_known) *carry_ = runner.at;
    reached(last);
  }
  /// The same with any other carry.
  bool run(std::size_t first, std::size_t last)
    requires(!is_cheap_to_copy<carry>)
  {
    if ((is_known_ || !runs_ahead(first, last)) && !work_.serial().direct(first, last, *carry_)) return false;
    reached(last);
    return true;
  }

  carrying_piece split(std::size_t middle, std::size_t last) {
    work_.about_to_split(middle, last);
    return carrying_piece(*this, middle);
  }

  void merge(carrying_piece& upper) {
    bool const is_over = done_ != end_;
    end_ = upper.end_;
    next_ = upper.next_;
    if (is_over) return;
    done_ = upper.done_;
    if (is_known_) {
      bool const has_given = upper.is_known_;
      upper.finish(*carry_);
      carry_ = std::move(upper.carry_);
      // A part of `upper` may not have run: then this is no carry of the next piece, which runs perhaps.
      if (!has_given && done_ == end_ && next_ != nullptr) next_->handed_.give(*carry_);
    } else {
      ahead_.append(work_, upper.ahead_);
    }
  }

  /// Those of the work, if it has some.
  loop_history& history() const noexcept
    requires requires(Work& work) { work.history(); }
  {
    return work_.history();
  }

  /// The carry behind all positions, of the piece of the whole loop.
  carry& last_carry() noexcept { return *carry_; }

 private:
  /// The upper half of `lower`, which keeps the positions below middle.
  carrying_piece(carrying_piece& lower, std::size_t middle)
      : work_(lower.work_), stop_(lower.stop_), end_(lower.end_), done_(middle), next_(lower.next_) {
    lower.end_ = middle;
    lower.next_ = this;
  }

  /// Runs a stretch ahead, unless the carry is known now.
  FILCH_OUTLINE bool runs_ahead(std::size_t first, std::size_t last) {
    if (handed_.is_given()) {
      carry_.emplace(handed_.carry());
      is_known_ = true;
      catch_up();
      return false;
    }
    ahead_.run_ahead(work_, first, last);
    return true;
  }
  /// The positions below `last` have run.
  void reached(std::size_t last) {
    done_ = last;
    if (last == end_ && is_known_ && next_ != nullptr) next_->handed_.give(*carry_);
  }
  /// Moves the carry from this piece's begin behind the blocks that were run ahead. Without memory for sums, this is
  /// their only pass.
  void catch_up() {
    if (ahead_.empty()) return;
    if (work_.can_run_ahead()) {
      for (std::size_t i = 0; i < ahead_.size(); ++i) *carry_ = work_.after(*carry_, ahead_.sum_of(i));
      return;
    }
    work_.serial().direct(ahead_.first_of(0), ahead_.last_of(ahead_.size() - 1), *carry_);
    ahead_.clear();
  }
  /// The carry of the piece below is known now. Runs the second pass over what was run ahead.
  void finish(carry const& below) {
    if (!is_known_) {
      carry_.emplace(below);
      is_known_ = true;
      catch_up();
    }
    if (ahead_.empty()) return;
    using pass_piece = second_pass_piece<Work, Stop>;
    typename pass_piece::carries at;
    at[0].emplace(below);
    for (std::size_t i = 1; i < ahead_.size(); ++i)
      at[i].emplace(work_.after(carry(*at[i - 1]), ahead_.sum_of(i - 1)));
    pass_piece pass{std::addressof(work_), std::addressof(stop_), std::addressof(ahead_), std::addressof(at)};
    detail::run_pieces<Sched>(0, ahead_.size(), pass, stop_);
    ahead_.clear();
  }

  // Fixed.
  Work& work_;
  Stop& stop_;
  // The worker that runs this piece.
  std::size_t end_;
  std::size_t done_ = 0;            // end of the positions that have run
  carrying_piece* next_ = nullptr;  // the piece above this one. It outlives this one's run.
  bool is_known_ = false;
  std::optional<carry> carry_;  // behind the positions that have run, if known
  blocks_ahead<Work> ahead_;    // from this piece's begin on
  // The piece below, then this one.
  handed_carry<carry> handed_;
};

}  // namespace filch::inline FILCH_ABI::detail

// How far a loop runs before it looks and before it reads the clock. The loop engine (pieces.hpp) asks these classes.
// docs/decisions/0011-loops.md has the measurements.
//
//   stretch   the iterations between two calls of wanted()
//   block     the stretches between two clock reads
//   pace      the lengths of stretches and blocks
//   history   the cost of an iteration in earlier loops with the same body
#pragma once

#include <filch/detail/loop_trial.hpp>
#include <filch/detail/platform.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>
#if !defined(__x86_64__)
#include <ctime>
#endif

namespace filch::inline FILCH_ABI::detail {

/// A clock with ticks of at most 1 ns. The processor's counter takes 10 ns to read, the system's clock 25.
inline std::int64_t loop_ticks() noexcept {
#if defined(__x86_64__)
  return static_cast<std::int64_t>(__builtin_ia32_rdtsc());
#else
  std::timespec now{};
  static_cast<void>(::clock_gettime(CLOCK_MONOTONIC, &now));
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
#endif
}

/// After iterations of this many ticks the next one may take as long as any: the loop is shared before it, also if a
/// worker must be woken for it.
inline constexpr std::uint64_t k_long_iteration_ticks = 12'000;

/// The measured cost of iterations: `ticks` for `iterations` of them.
struct loop_cost {
  std::uint64_t ticks;
  std::size_t iterations;
  /// Do `more` iterations take `least` ticks or more?
  bool is_at_least(std::uint64_t least, std::size_t more) const noexcept {
    return more > k_many || more * ticks >= least * iterations;
  }
  /// The ticks of `more` iterations.
  std::uint64_t of_more(std::size_t more) const noexcept { return std::min(more, k_many) * ticks / iterations; }
  static constexpr loop_cost dear() noexcept { return {0, 0}; }     // any number of iterations is worth a steal
  static constexpr loop_cost unknown() noexcept { return {0, 1}; }  // not measured yet: no number is
  bool is_known() const noexcept { return ticks != 0 || iterations != 1; }
  /// Are the iterations known not to be long?
  bool is_known_and_short() const noexcept { return is_known() && of_more(1) < k_long_iteration_ticks; }
  /// For iterations that are not short: the next ones may take some times as long.
  loop_cost with_doubt() const noexcept { return of(k_doubt * ticks, iterations); }
  /// With a bound on the ticks, so that no product overflows.
  static loop_cost of(std::uint64_t ticks, std::size_t iterations) noexcept {
    return {std::min(ticks, k_most_ticks), iterations};
  }

 private:
  static constexpr std::uint64_t k_doubt = 4;
  static constexpr std::uint64_t k_most_ticks = std::uint64_t{1} << 30;
  static constexpr std::size_t k_many = std::size_t{1} << 32;
};

/// In ticks: a shorter rest is not worth splitting, since the thief comes, runs its half and hands it over too late.
/// A steal costs its victim 0.3 microseconds or more, and its thief as much.
inline constexpr std::uint64_t k_ticks_worth_splitting = 8'000;

/// Does wanted() cost more than a load and a compare while a worker waits?
template <class Sched> inline constexpr bool looks_are_dear = requires { Sched::k_looks_are_dear; };

/// Does the scheduler tell which loops are worth a wake-up?
template <class Sched>
concept paces_wakeups = requires(std::uint64_t ticks) {
  { Sched::pays_to_wake(ticks) } noexcept -> std::same_as<bool>;
  { Sched::ran_alone(ticks) } noexcept;
};

/// Iterations of this many ticks or more are not short: the next ones may take longer. A shorter stretch may grow.
inline constexpr std::uint64_t k_short_stretch_ticks = 300;

/// The cost of an iteration in the last loops with one body, on any worker. A hint: it decides whether a loop is
/// split before its first iteration. Written only if it is wrong by a quarter, or by a factor of two in a short loop,
/// so that workers that run short loops can share the cache line. A slower loop, unless it was long, may have been
/// interrupted: it counts if another one is slower soon.
class loop_history {
 public:
  /// The cost that an iteration may have. Dear if the body has not run yet.
  loop_cost cost() const noexcept {
    // relaxed: a hint.
    std::uint64_t const each = each_.load(std::memory_order_relaxed);
    if (each == k_unknown) return loop_cost::dear();
    loop_cost const measured = loop_cost::of(each, k_parts);
    return each < k_parts * k_short_stretch_ticks ? measured : measured.with_doubt();
  }
  /// The cost that was measured. Unknown if the body has not run yet.
  loop_cost measured() const noexcept {
    // relaxed: a hint.
    std::uint64_t const each = each_.load(std::memory_order_relaxed);
    return each == k_unknown ? loop_cost::unknown() : loop_cost::of(each, k_parts);
  }
  /// The number of iterations for which stretches stay short. It is above 0 after loops in which dear iterations
  /// followed cheap ones: a worker that waits gets nothing while a long stretch of dear iterations runs.
  std::size_t cautious() const noexcept {
    // relaxed: a hint.
    return cautious_.load(std::memory_order_relaxed);
  }
  /// For how many ticks a loop of n iterations should run alone. Long iterations are shared at once.
  std::uint64_t ticks_alone(std::size_t n) noexcept {
    return measured().is_known_and_short() ? trial_of(n).ticks_alone(n) : 0;
  }
  /// Whether loops of n iterations are faster alone.
  loop_trial& trial_of(std::size_t n) noexcept { return trials_.of(n); }

  /// Records that `iterations` of a loop or a piece took `ticks`, of which slow blocks took `slow_ticks`.
  void ran(std::size_t iterations, std::uint64_t ticks, std::uint64_t slow_ticks) noexcept {
    std::size_t const cautious = cautious_.load(std::memory_order_relaxed);
    if (slow_ticks != 0 || cautious != 0) {
      std::size_t const more =
          std::min(static_cast<std::size_t>(slow_ticks / k_slow_ticks_an_iteration), k_most_cautious);
      std::size_t const left = cautious > iterations ? cautious - iterations : 0;
      cautious_.store(std::min(left + more, k_most_cautious), std::memory_order_relaxed);
    }
    ticks = ticks > k_read ? std::min(ticks - k_read, k_unknown) : 0;
    std::uint64_t each = k_parts * ticks / iterations;
    std::uint64_t const before = each_.load(std::memory_order_relaxed);
    std::uint64_t const quarters = ticks > k_long ? 5 : 8;
    bool const is_slower = ticks > k_noise && 4 * each > quarters * before;
    bool const is_faster = quarters * each < 4 * before;
    if (before != k_unknown && is_doubted(each, is_slower && ticks < k_longest_doubted)) return;
    if (before == k_unknown || is_slower) {
      each_.store(std::min(each, k_unknown - 1), std::memory_order_relaxed);
    } else if (is_faster) {
      // Step by step: a few iterations may be cheap by chance.
      each_.store(std::max(each, before / 2), std::memory_order_relaxed);
    }
  }

 private:
  /// A loop took `each`. Is it the first of a few that was slower? The second one gets the lesser of their costs.
  bool is_doubted(std::uint64_t& each, bool is_slower) noexcept {
    std::uint64_t const doubt = doubted_.load(std::memory_order_relaxed);
    std::uint64_t const loops = doubt % k_loops_in_doubt;
    if (is_slower && loops != 0) {
      each = std::min(each, doubt / k_loops_in_doubt);
      doubted_.store(0, std::memory_order_relaxed);
    } else if (is_slower) {
      doubted_.store(std::min(each, k_unknown) * k_loops_in_doubt + k_loops_in_doubt - 1, std::memory_order_relaxed);
      return true;
    } else if (loops != 0) {
      doubted_.store(doubt - 1, std::memory_order_relaxed);
    }
    return false;
  }

  static constexpr std::uint64_t k_parts = 64;  // parts of a tick, the unit of each_
  // Short stretches cost a tick or two for each iteration, so all together a twentieth of the time of slow blocks.
  static constexpr std::uint64_t k_slow_ticks_an_iteration = 32;
  static constexpr std::size_t k_most_cautious = std::size_t{1} << 26;
  static constexpr std::uint64_t k_unknown = std::uint64_t{1} << 48;
  static constexpr std::uint64_t k_read = 30;  // ticks of a clock read
  static constexpr std::uint64_t k_noise = 500;
  static constexpr std::uint64_t k_long = 3'000;
  static constexpr std::uint64_t k_longest_doubted = 200'000;  // most interrupts are shorter
  static constexpr std::uint64_t k_loops_in_doubt = 16;
  std::atomic<std::uint64_t> each_{k_unknown};
  std::atomic<std::uint64_t> doubted_{0};  // cost in a slower loop, and for how many loops it is remembered
  std::atomic<std::size_t> cautious_{0};
  alignas(64) loop_trials trials_;  // written more often
};
template <class Piece> inline constinit loop_history history_of{};

/// The decisions about a loop or piece before its first position.
struct loop_plan {
  bool wakes_nobody = false;      // the whole loop was not worth a wake-up
  std::uint64_t ticks_alone = 0;  // it is not split before it has run for so long
};

/// The lengths of stretches and blocks in one loop or piece. Only the cost of past iterations is known: the pace
/// begins with stretches of one turn, and begins again after a slow block. A turn is one iteration, or more of a loop
/// whose iterations can't be dear.
class loop_pace {
 public:
  static constexpr std::size_t k_longest = 64;  // turns of a stretch
  /// Positions of a stretch where vector instructions run a piece that allows it.
  static constexpr std::size_t k_longest_of_vectors = 16'384;
  /// `most`: turns of a stretch, where vector instructions run it.
  loop_pace(loop_history const& history, std::size_t turn, std::size_t most, loop_plan const& plan) noexcept
      : turn_(turn),
        most_(most),
        ran_alone_(plan.wakes_nobody),
        is_planned_(plan.ticks_alone != 0),
        planned_alone_(plan.ticks_alone),
        ticks_alone_(plan.ticks_alone),
        cautious_(history.cautious()),
        cost_(history.cost()),
        before_(history.measured()),
        longest_(cautious_ == 0 ? longest_at(before_) : k_longest_cautious),
        measured_(before_),
        unread_(unread_by_history()) {}
  /// Number of iterations of the next stretches. A power of two.
  std::size_t stretch() const noexcept { return stretch_ * turn_; }
  /// Number of iterations of whole stretches until the clock is read, or a reason to look may come. All of them if
  /// they are less than a stretch. `left` iterations are left.
  std::size_t block_of(std::size_t left) const noexcept {
    if (left < stretch()) return left;
    std::size_t const stretches = (is_time_to_look() ? stretches_ : std::min(quiet_until_, stretches_)) - ran_;
    return std::min(left & ~(stretch() - 1), stretches * stretch());
  }
  /// Tick at which the loop or piece began.
  std::int64_t began() const noexcept { return began_; }
  /// Ticks of all slow blocks so far.
  std::uint64_t slow_ticks() const noexcept { return slow_ticks_; }

  /// Counts whole stretches that have run. At the end of a block, reads the clock and adapts the pace.
  void ran(std::size_t iterations) noexcept {
    ran_ += iterations >> std::countr_zero(stretch());
    lead_ += iterations & (stretch() - 1);
    if (ran_ == stretches_) block_ran();
  }

  /// Is there a reason to look whether a worker waits for work? There is none while the answer would be the same: the
  /// rest was not worth splitting, and gets shorter until the clock is read again.
  bool is_time_to_look() const noexcept { return ran_ >= quiet_until_; }
  /// Have no whole stretches run since the clock was read?
  bool has_read_clock() const noexcept { return ran_ == 0; }
  /// May the `left` iterations that are left take `worth` ticks or more?
  bool is_worth_splitting(std::uint64_t worth, std::size_t left) noexcept { return is_worth(cost_, worth, left); }
  /// The same for iterations that take as long as before.
  bool takes(std::uint64_t worth, std::size_t left) noexcept { return is_worth(measured_, worth, left); }
  /// The rest is worth splitting. Is it worth a wake-up, too, if all workers that wait sleep?
  template <paces_wakeups Sched> bool is_worth_waking(std::size_t left) noexcept {
    if (!measured_.is_known() || Sched::pays_to_wake(rest_of(left))) return true;
    quiet_until_ = unread_.now;
    ran_alone_ = true;
    return false;
  }
  /// Was there a rest that was not worth a wake-up?
  bool ran_alone() const noexcept { return ran_alone_; }
  /// The rest is worth splitting. Was it planned that the loop runs alone for longer than it has?
  bool stays_alone() noexcept {
    if (ticks_alone_ == 0) return false;
    if (static_cast<std::uint64_t>(loop_ticks() - began_) <= ticks_alone_) {
      quiet_until_ = unread_.now;
      return true;
    }
    ticks_alone_ = 0;
    return false;
  }
  /// The whole loop is worth splitting, and no worker waited at its beginning: earlier loops are asked now, once.
  bool stays_alone(loop_history& history, std::size_t all) noexcept {
    if (!std::exchange(is_planned_, true)) ticks_alone_ = planned_alone_ = history.ticks_alone(all);
    return stays_alone();
  }
  /// For how many ticks the loop was to run alone. 0: it was not.
  std::uint64_t planned_alone() const noexcept { return planned_alone_; }
  /// A worker waits for work, and may wait for a whole block of slow iterations.
  void read_clock_if_due() noexcept {
    if (ran_ < unread_.now) return;
    block_ran();
    unread_.now = std::min(2 * unread_.now, unread_.most);
  }

 private:
  static constexpr std::size_t k_growth = 4;
  // In turns. A waiting worker gets its half after one stretch; a call of wanted() costs a nanosecond.
  static constexpr std::size_t k_longest_cautious = 4;
  static constexpr std::size_t k_most_stretches = 512;
  // While a worker waits, the clock is read after so many stretches, twice as many each time. Otherwise it would wait
  // for a whole block of slow iterations after cheap ones.
  struct unread_stretches {
    std::size_t now, most;
  };
  static constexpr unread_stretches k_usually{4, 16};
  // The same where the longest stretch took fewer ticks than these in earlier loops: the clock would take a tenth of
  // the time.
  static constexpr unread_stretches k_of_tiny{16, 32};
  static constexpr std::uint64_t k_tiny = 75;
  // Only vector instructions are so fast, and no iteration of theirs is dear.
  static constexpr unread_stretches k_of_vectors{64, k_most_stretches};
  static constexpr std::uint64_t k_vectors = 24;
  // A loop may have longer stretches, of up to so many ticks, if 64 of its iterations take less than
  // k_surely_vectors: a loop with a branch in each takes more, also where a tick is 2.5 cycles. They are tried at
  // k_perhaps_vectors: the beginning and the end of a stretch of 64 may take most of its time.
  static constexpr std::uint64_t k_stretch_of_vectors = 200;
#if defined(__x86_64__)
  static constexpr std::uint64_t k_surely_vectors = 16;
#else
  static constexpr std::uint64_t k_surely_vectors = 6;  // nanoseconds
#endif
  static constexpr std::uint64_t k_perhaps_vectors = 3 * k_surely_vectors;
  static constexpr std::size_t k_tried = 8 * k_longest;
  // In ticks. Processors count 2 to 5 in a nanosecond, the clock 1.
  static constexpr std::uint64_t k_long_stretch = 2'000;
  static constexpr std::uint64_t k_short_block = 3'000;
  static constexpr std::uint64_t k_slow_block = 20'000;
  static constexpr std::uint64_t k_trust = 8;
  // A clock read waits for the loads before it. A loop of steady cost reads the clock after longer blocks.
  static constexpr std::uint64_t k_most_steady = 8;

  /// In ticks. After a pause the first iterations miss all caches: the loop is taken to last some times as long as it
  /// has run, at most, unless earlier loops say more.
  std::uint64_t rest_of(std::size_t left) const noexcept {
    std::uint64_t const rest = measured_.of_more(left);
    if (!before_.is_known()) return rest;
    return std::max(before_.of_more(left), std::min(rest, k_trust * static_cast<std::uint64_t>(last_ - began_)));
  }
  bool is_worth(loop_cost const& cost, std::uint64_t worth, std::size_t left) noexcept {
    bool const is_worth = cost.is_at_least(worth, left);
    if (!is_worth) quiet_until_ = unread_.now;
    return is_worth;
  }
  /// The longest stretch, in turns, for iterations that cost so much.
  std::size_t longest_at(loop_cost const& cost) const noexcept {
    std::size_t longest = k_longest;
    if (!cost.is_known() || (turn_ == 1 && cost.of_more(longest) >= k_surely_vectors)) return longest;
    while (longest < most_ && cost.of_more(2 * longest * turn_) < k_stretch_of_vectors) longest *= 2;
    return longest;
  }
  unread_stretches unread_by_history() const noexcept {
    std::uint64_t const longest = before_.is_known() ? before_.of_more(longest_ * turn_) : k_tiny;
    return longest < k_vectors ? k_of_vectors : longest < k_tiny ? k_of_tiny : k_usually;
  }
  /// Was the longest stretch short in earlier loops?
  bool was_cheap() const noexcept {
    return before_.is_known() && before_.of_more(longest_ * turn_) < k_short_stretch_ticks;
  }
  void block_ran() noexcept {
    std::int64_t const now = loop_ticks();
    set(static_cast<std::uint64_t>(now - last_));
    last_ = now;
    ran_ = 0;
    quiet_until_ = 0;
  }
  void set(std::uint64_t block) noexcept {
    std::size_t const iterations = stretch_ * ran_ * turn_ + lead_;
    lead_ = 0;
    in_all_ += iterations;
    if (in_all_ >= cautious_) longest_ = std::max(longest_, k_longest);
    if (block > steady_ * k_slow_block) {
      slow_ticks_ += block;
      stretch_ = stretches_ = steady_ = 1;
      longest_ = std::min(longest_, k_longest);
      unread_ = k_usually;
    } else if (stretch_ > 1 && block > k_long_stretch * ran_) {
      stretch_ /= 2;
    } else if (stretch_ < longest_ && block < k_short_stretch_ticks * ran_) {
      stretch_ = was_cheap() ? longest_ : std::min(stretch_ * k_growth, longest_);
      cost_ = measured_ = loop_cost::unknown();  // until the next block has run
      return;
    } else if (block < steady_ * k_short_block) {
      std::size_t const growth = block < steady_ * k_short_block / k_growth ? k_growth : 2;
      stretches_ = std::min(stretches_ * growth, k_most_stretches);
    } else if (block > 2 * steady_ * k_short_block) {
      if (stretches_ > 1) stretches_ /= 2;
      if (steady_ > 1) steady_ /= 2;
    } else if (steady_ < k_most_steady) {
      steady_ *= 2;
    }
    measured_ = loop_cost::of(block, iterations);
    if (stretch_ > k_longest) {
      longest_ = longest_at(measured_);
      stretch_ = std::min(stretch_, longest_);
    } else if (may_try_ && stretch_ == k_longest && block < k_perhaps_vectors * ran_) {
      may_try_ = false;
      stretch_ = longest_ = std::min(k_tried, most_);
    }
    cost_ = stretch_ == 1 && turn_ == 1 ? measured_.with_doubt() : measured_;
  }

  std::size_t const turn_;  // iterations of a turn
  std::size_t const most_;  // turns of the longest stretch of vector instructions
  bool may_try_ = true;     // longer stretches, for vector instructions
  bool ran_alone_;
  bool is_planned_;  // earlier loops were asked whether it runs alone
  std::uint64_t planned_alone_;
  std::uint64_t ticks_alone_;  // 0: it may be split
  std::size_t stretch_ = 1;    // in turns
  std::size_t stretches_ = 1;
  std::size_t ran_ = 0;          // stretches run in this block
  std::size_t lead_ = 0;         // iterations run before them
  std::size_t quiet_until_ = 0;  // in stretches of this block
  std::size_t in_all_ = 0;       // iterations run before this block
  std::size_t cautious_;         // iterations for which stretches stay short
  std::uint64_t steady_ = 1;     // factor of the lengths of blocks
  std::uint64_t slow_ticks_ = 0;
  loop_cost cost_;
  loop_cost before_;     // in earlier loops
  std::size_t longest_;  // longest stretch, in turns
  loop_cost measured_;
  unread_stretches unread_;  // while a worker waits
  std::int64_t const began_ = loop_ticks();
  std::int64_t last_ = began_;  // tick at which this block began
};

}  // namespace filch::inline FILCH_ABI::detail

// The bound on the time that thieves cost a worker: "What a thief may cost its victim" in the protocol.md of the
// schedulers that keep accounts.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#if defined(__aarch64__)
#include <chrono>
#endif

namespace filch::runtime {

/// Cycles of the time-stamp counter. Signed, as differences are.
using cycles = std::int64_t;

inline cycles time_stamp() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  return static_cast<cycles>(__builtin_ia32_rdtsc());
#else
  return std::chrono::steady_clock::now().time_since_epoch().count();
#endif
}

/// Some seconds. A time that lies farther ahead was written before the clock was set back, as of a restored virtual
/// machine.
inline constexpr cycles k_longest_ahead = cycles{1} << 34;

/// `now` in place of such a time.
inline cycles unless_set_back(cycles then, cycles now) noexcept { return then - now > k_longest_ahead ? now : then; }
inline cycles time_until(cycles then) noexcept {
  cycles const now = time_stamp();
  return std::max(unless_set_back(then, now), now) - now;
}

/// A worker's account with its thieves: the time at which their costs are paid for, at k_part cycles of the worker's
/// time for each cycle of cost. Until then thieves leave the worker alone. Costs move the time on; work that thieves
/// did moves it back. It is a hint, so every order is relaxed: too early, a thief costs more than its part, once; too
/// late, it comes late.
class account {
 public:
  /// Thieves cost a worker at most this part of its time.
  static constexpr cycles k_part = 16;
  /// A worker without costs gathers credit for so long, a few milliseconds: enough for all workers of a large pool to
  /// be woken, one after the other.
  static constexpr cycles k_credit = cycles{1} << 23;
  /// Cost of a tiny stolen task for its victim: about that of giving up a stack.
  static constexpr cycles k_steal = 5'000;
  static constexpr cycles k_longest_wait = 10 * k_steal;

  /// The time at which thieves may cost the worker anything again.
  cycles paid_at() const noexcept { return paid_at_.load(std::memory_order_relaxed); }
  /// The same for an action that will cost `expected`, which has to be paid before.
  cycles paid_at(cycles expected) const noexcept { return paid_at() + k_part * expected; }
  /// The same if it is paid from now on, beside all credit that can be.
  static cycles paid_from(cycles now, cycles expected) noexcept { return now - k_credit + k_part * expected; }
  bool has_credit(cycles now) const noexcept { return now - paid_at() > k_credit / 2; }

  /// Owner: an offer cost so much; `expected` was asked for before.
  void charge(cycles now, cycles cost, cycles expected) noexcept {
    move_on(now - std::max(k_credit, k_part * expected), cost);
  }
  /// Any thread: thieves took over so many.
  void pay(cycles lasted) noexcept { add(-lasted); }
  /// Any thread: the worker's frame waited for a thief for so many cycles more than the thief's task took. The limit
  /// is for thieves whose processor another process had meanwhile.
  void settle_steal(cycles lost) noexcept { add(std::min(lost, k_longest_wait)); }
  /// Thief: it has stolen from that worker. Work that passes from thief to thief keeps its account, and each steal is
  /// on it.
  void inherit(account const& victim, cycles now) noexcept {
    move_on(std::max(now - k_credit, unless_set_back(victim.paid_at(), now)), k_steal);
  }

 private:
  void add(cycles cost) noexcept { paid_at_.fetch_add(k_part * cost, std::memory_order_relaxed); }
  void move_on(cycles not_before, cycles cost) noexcept {
    cycles was = paid_at();
    while (!paid_at_.compare_exchange_weak(
        was, std::max(unless_set_back(was, not_before), not_before) + k_part * cost, std::memory_order_relaxed)) {
    }
  }

  std::atomic<cycles> paid_at_{0};
};

}  // namespace filch::runtime

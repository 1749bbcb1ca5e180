// What travels in the channels of the channel scheduler: steal requests, and messages of tasks. Plain values: no word
// here is shared. The channels are in words.hpp.
#pragma once

#include <filch/detail/channel_task.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace filch::inline FILCH_ABI::detail {

/// A call from outside, of which a task is a part: the place of its caller, and how many calls were made there
/// before. What a thief may take is a root, too: a worker that waits in a join takes nothing but tasks of its own
/// call.
class task_root {
 public:
  constexpr task_root() noexcept = default;
  static constexpr task_root of_call(unsigned place, std::uint64_t number) noexcept {
    return task_root(number << k_place_bits | place);
  }
  /// Detached tasks that their caller has left, all of them.
  static constexpr task_root left_behind() noexcept { return task_root(k_nobodys_place); }
  /// A thief's that waits for nothing; or of a worker that has no task.
  static constexpr task_root any() noexcept { return {}; }
  static constexpr task_root from_word(std::uint64_t word) noexcept { return task_root(word); }

  constexpr bool is_any() const noexcept { return word_ == 0; }
  /// Does anybody wait for it?
  constexpr bool is_of_call() const noexcept { return word_ != 0 && word_ != k_nobodys_place; }
  /// The caller's.
  constexpr unsigned place() const noexcept { return static_cast<unsigned>(word_ & k_nobodys_place); }
  /// Of a thief's: may it have tasks of that one?
  constexpr bool admits(task_root of_tasks) const noexcept { return is_any() || word_ == of_tasks.word_; }
  /// Of the calls at its place.
  constexpr std::uint64_t number() const noexcept { return word_ >> k_place_bits; }
  constexpr std::uint64_t word() const noexcept { return word_; }
  friend constexpr bool operator==(task_root, task_root) noexcept = default;

 private:
  static constexpr unsigned k_place_bits = 12;
  static constexpr std::uint64_t k_nobodys_place = (std::uint64_t{1} << k_place_bits) - 1;

  constexpr explicit task_root(std::uint64_t word) noexcept : word_(word) {}

  std::uint64_t word_ = 0;  // from call number 1 on
};

/// How many of a victim's tasks an answer holds.
enum class portion : std::uint8_t {
  one,
  half,
  half_of_many,  // one where there are few
};

/// A steal request, as it travels.
struct request {
  std::uint16_t thief;
  std::uint16_t passed_on = 0;  // so many times
  std::uint8_t is_there = 1;    // so that no request is zero
  portion wants = portion::one;
  bool stands = false;                      // is with every worker; stays where it is until it is answered
  victim_order order = victim_order::last;  // in which to look for victims
};

/// Detached tasks, the oldest first.
class detached_list {
 public:
  bool is_empty() const noexcept { return size_ == 0; }
  std::size_t size() const noexcept { return size_; }
  void push(channel_detached& t) noexcept {
    t.next = nullptr;
    append({t, t, 1});
  }
  void append(detached_list more) noexcept {
    if (more.is_empty()) return;
    (is_empty() ? first_ : last_->next) = more.first_;
    last_ = more.last_;
    size_ += more.size_;
  }
  /// The n oldest; there are as many.
  detached_list take(std::size_t n) noexcept {
    channel_detached* last = first_;
    for (std::size_t i = 1; i < n; ++i) last = last->next;
    detached_list const taken{*first_, *last, n};
    first_ = std::exchange(last->next, nullptr);
    size_ -= n;
    return taken;
  }
  channel_detached& pop() noexcept { return *take(1).first_; }
  detached_list() noexcept = default;
  /// All from that one on.
  explicit detached_list(channel_detached* first) noexcept {
    while (first) push(*std::exchange(first, first->next));
  }
  channel_detached* first() const noexcept { return first_; }
  void end_before(channel_detached* rest) noexcept { last_->next = rest; }

 private:
  detached_list(channel_detached& first, channel_detached& last, std::size_t n) noexcept
      : first_(&first), last_(&last), size_(n) {}

  channel_detached* first_ = nullptr;
  channel_detached* last_ = nullptr;
  std::size_t size_ = 0;
};

/// Tasks that lie one behind the other in their owner's array; or detached ones. All of one call.
struct batch {
  channel_task* first = nullptr;
  channel_task* last = nullptr;  // behind the last one
  unsigned owner = 0;
  std::uint16_t from = 0;        // who sends them, perhaps not their owner
  bool is_for_any_root = false;  // so the thief waits
  detached_list detached{};
  task_root of{};

  std::size_t size() const noexcept { return static_cast<std::size_t>(last - first) + detached.size(); }
  bool is_empty() const noexcept { return first == last; }
};

}  // namespace filch::inline FILCH_ABI::detail

// The contents of the channels of filch::channel: steal requests and messages of tasks. Plain values, no shared word;
// the channels are in words.hpp. Protocol: protocol.md, "Words" and "Roots".
#pragma once

#include <filch/channel_options.hpp>
#include <filch/detail/channel_task.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace filch::inline FILCH_ABI::detail {

/// The call from outside that a task belongs to: the place of its caller, and the number of the call at that place.
/// A thief's request names a root, too: a worker that waits in a join takes tasks of its own call only.
class task_root {
 public:
  constexpr task_root() noexcept = default;
  static constexpr task_root of_call(unsigned place, std::uint64_t number) noexcept {
    return task_root(number << k_place_bits | place);
  }
  /// The root of all detached tasks whose callers have left.
  static constexpr task_root left_behind() noexcept { return task_root(k_no_callers_place); }
  /// Any root: wanted by an idle thief, and the root of a worker without tasks.
  static constexpr task_root any() noexcept { return {}; }
  static constexpr task_root from_word(std::uint64_t word) noexcept { return task_root(word); }

  constexpr bool is_any() const noexcept { return word_ == 0; }
  /// Is it a call that may be waited for?
  constexpr bool is_of_call() const noexcept { return word_ != 0 && word_ != k_no_callers_place; }
  /// The caller's place.
  constexpr unsigned place() const noexcept { return static_cast<unsigned>(word_ & k_no_callers_place); }
  /// May a thief that wants this root have tasks of that one?
  constexpr bool admits(task_root of_tasks) const noexcept { return is_any() || word_ == of_tasks.word_; }
  /// The number of the call among those at its place, from 1 on.
  constexpr std::uint64_t number() const noexcept { return word_ >> k_place_bits; }
  constexpr std::uint64_t word() const noexcept { return word_; }
  friend constexpr bool operator==(task_root, task_root) noexcept = default;

 private:
  static constexpr unsigned k_place_bits = 12;
  static constexpr std::uint64_t k_no_callers_place = (std::uint64_t{1} << k_place_bits) - 1;

  constexpr explicit task_root(std::uint64_t word) noexcept : word_(word) {}

  std::uint64_t word_ = 0;
};

/// How many of the victim's tasks an answer holds.
enum class portion : std::uint8_t {
  one,
  half,
  half_of_many,  // half if the victim has many, else one
};

/// A steal request.
struct request {
  std::uint16_t thief;
  std::uint16_t hops = 0;     // workers that have passed it on
  std::uint8_t is_there = 1;  // makes the packed word differ from zero
  portion amount = portion::one;
  bool is_broadcast = false;  // with every worker at once, each of which holds it until it is answered
  victim_order order = victim_order::last;
};

/// Detached tasks, the oldest first.
class detached_list {
 public:
  detached_list() noexcept = default;
  /// The chain that begins with this task.
  explicit detached_list(channel_detached* first) noexcept {
    while (first) push(*std::exchange(first, first->next));
  }
  bool is_empty() const noexcept { return size_ == 0; }
  std::size_t size() const noexcept { return size_; }
  channel_detached* first() const noexcept { return first_; }

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
  /// The n oldest; n is from 1 to size().
  detached_list take(std::size_t n) noexcept {
    channel_detached* last = first_;
    for (std::size_t i = 1; i < n; ++i) last = last->next;
    detached_list const taken{*first_, *last, n};
    first_ = std::exchange(last->next, nullptr);
    size_ -= n;
    return taken;
  }
  channel_detached& pop() noexcept { return *take(1).first_; }
  /// Chains the last task to that one, which is not a member.
  void end_before(channel_detached* rest) noexcept { last_->next = rest; }

 private:
  detached_list(channel_detached& first, channel_detached& last, std::size_t n) noexcept
      : first_(&first), last_(&last), size_(n) {}

  channel_detached* first_ = nullptr;
  channel_detached* last_ = nullptr;
  std::size_t size_ = 0;
};

/// A message: adjacent tasks of their owner's array, or detached tasks. All are of one root.
struct batch {
  channel_task* first = nullptr;
  channel_task* last = nullptr;  // one past the end
  unsigned owner = 0;            // index of the worker whose array it is
  std::uint16_t from = 0;        // index of the sender
  bool is_for_any_root = false;  // the thief wanted any root, not just this one
  bool is_lone = false;          // one task, in which nothing else runs on top of waits
  detached_list detached{};
  task_root root{};

  std::size_t size() const noexcept { return static_cast<std::size_t>(last - first) + detached.size(); }
  /// No task that is joined; there may be detached ones.
  bool is_empty() const noexcept { return first == last; }
};

}  // namespace filch::inline FILCH_ABI::detail

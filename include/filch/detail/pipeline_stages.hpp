// The stages of a pipeline: gates let one item at a time into a serial stage. filch::pipeline builds them.
#pragma once

#include <filch/detail/result.hpp>
#include <filch/mutex.hpp>

#include <cstddef>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace filch::inline FILCH_ABI::detail {

/// The next item for a serial stage, and its number.
template <class Item> using numbered = std::optional<std::pair<std::size_t, Item>>;

/// A stage without an order: all items at once.
template <class Fn> struct parallel_stage {
  static constexpr bool is_serial = false;
  Fn f;
};
template <class Fn> struct in_order_stage {
  static constexpr bool is_serial = true;
  static constexpr bool is_in_order = true;
  Fn f;
};
template <class Fn> struct any_order_stage {
  static constexpr bool is_serial = true;
  static constexpr bool is_in_order = false;
  Fn f;
};

template <class Stage> inline constexpr bool is_stage = false;
template <class Fn> inline constexpr bool is_stage<parallel_stage<Fn>> = true;
template <class Fn> inline constexpr bool is_stage<in_order_stage<Fn>> = true;
template <class Fn> inline constexpr bool is_stage<any_order_stage<Fn>> = true;

/// A callable is a parallel stage.
template <class Stage> auto as_stage(Stage&& stage) {
  if constexpr (is_stage<std::decay_t<Stage>>) {
    return std::decay_t<Stage>(std::forward<Stage>(stage));
  } else {
    return parallel_stage<std::decay_t<Stage>>{std::forward<Stage>(stage)};
  }
}

/// The call of a stage with an item.
template <class Fn, class Item> auto stage_call(Fn& f, Item&& item) {
  return [&f, &item]() -> decltype(auto) { return detail::call_with(f, std::move(item)); };
}

/// Items that wait for a serial stage, and whether one is inside. At most `most` exist: in order, their numbers are
/// below next + most, since each of those before is under way; else the oldest goes first.
template <class Item, bool InOrder> class gate {
 public:
  explicit gate(std::size_t most) : waiting_(most) {}

  /// True: the caller is inside, with its item. False: the item waits.
  bool enter(std::size_t number, Item& item) {
    std::lock_guard<mutex> const lock(mutex_);
    if (!is_busy_ && (!InOrder || number == next_)) {
      is_busy_ = true;
      return true;
    }
    if constexpr (InOrder) {
      waiting_[number % waiting_.size()].emplace(std::move(item));
    } else {
      waiting_[end_ % waiting_.size()].emplace(number, std::move(item));
      ++end_;
    }
    return false;
  }
  /// The caller leaves. Returns the item that is inside now.
  numbered<Item> leave() {
    std::lock_guard<mutex> const lock(mutex_);
    numbered<Item> follows;
    if constexpr (InOrder) {
      ++next_;
      if (auto& waits = waiting_[next_ % waiting_.size()]) {
        follows.emplace(next_, std::move(*waits));
        waits.reset();
      }
    } else if (next_ != end_) {
      auto& waits = waiting_[next_++ % waiting_.size()];
      follows.emplace(std::move(*waits));
      waits.reset();
    }
    is_busy_ = follows.has_value();
    return follows;
  }

 private:
  filch::mutex mutex_;
  bool is_busy_ = false;
  std::size_t next_ = 0;  // the item that goes in next: its number, or its place without an order
  std::size_t end_ = 0;   // without an order: behind the newest one
  std::vector<std::conditional_t<InOrder, std::optional<Item>, numbered<Item>>> waiting_;
};

/// A parallel stage needs none.
struct no_gate {
  explicit no_gate(std::size_t) noexcept {}
};

}  // namespace filch::inline FILCH_ABI::detail

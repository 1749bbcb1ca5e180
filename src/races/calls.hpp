// The calls of instrumented functions: the stack of those that have not returned, and a ring of the last ones, by
// which the call stack of an older access is found.
#pragma once

#include "races/tables.hpp"

namespace filch::races {

using call_id = std::uint32_t;

struct call {
  address pc;     // in the caller
  address stack;  // the caller's stack pointer
  call_id id;
};

/// The calls of one thread.
class call_stack {
 public:
  static constexpr std::size_t k_most = std::size_t{1} << 24;
  static constexpr std::size_t k_remembered = std::size_t{1} << 22;

  void reserve() noexcept {
    calls_.reserve();
    ring_.reserve();
    calls_.push_back({0, ~address{0}, 0});
  }
  void release() noexcept;
  void enter(address pc, address stack) noexcept {
    call_id const id = ++last_;
    ring_[id % k_remembered] = {pc, id, calls_[depth_].id};
    if (depth_ + 1 == k_most) no_room();
    calls_[++depth_] = {pc, stack, id};
  }
  void leave() noexcept {
    if (depth_ != 0) --depth_;
  }
  std::uint32_t depth() const noexcept { return depth_; }
  /// A function threw past calls that did not say so.
  void return_to(std::uint32_t depth) noexcept { depth_ = depth; }
  call_id current() noexcept { return calls_[depth_].id; }
  call const& at(std::uint32_t depth) noexcept { return calls_[depth]; }

  /// The return addresses above a call that may have ended, the newest first. Where they are forgotten continues with
  /// the oldest `shared` calls of the stack, which then were below it. Returns their number.
  std::size_t addresses(call_id id, std::uint32_t shared, address* to, std::size_t most) noexcept;

 private:
  struct remembered {
    address pc;
    call_id id;
    call_id outer;
  };
  [[noreturn]] static void no_room() noexcept;

  table<call, k_most> calls_;
  table<remembered, k_remembered> ring_;
  std::uint32_t depth_ = 0;
  call_id last_ = 0;
};

}  // namespace filch::races

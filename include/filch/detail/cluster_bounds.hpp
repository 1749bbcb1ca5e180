// The values of a rank's bounds. Any worker reads and raises them; the endpoint sends them (src/cluster/bounds.hpp).
// Protocol: src/cluster/protocol.md, "Bounds".
#pragma once

#include <filch/config.hpp>
#include <filch/detail/platform.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>

namespace filch::inline FILCH_ABI::detail {

class FILCH_API bound_values {
 public:
  static constexpr unsigned k_most = 64;

  /// Any worker.
  std::int64_t value(unsigned id) const noexcept {
    return all_[id].value.load(std::memory_order_relaxed);  // relaxed: an old value prunes less, no more
  }
  /// Any worker: raises the bound, and marks it for the endpoint. Does nothing if it is as great already.
  void raise(unsigned id, std::int64_t value) noexcept;
  /// The endpoint: clears the mark. Returns the value to send; nothing: the bound has no mark.
  std::optional<std::int64_t> take_improved(unsigned id) noexcept;
  /// The caller of a cluster, between runs; a reduction follows.
  void reset(unsigned id, std::int64_t value) noexcept { all_[id].value.store(value, std::memory_order_relaxed); }

 private:
  struct bound_value {
    std::atomic<std::int64_t> value{0};
    std::atomic<bool> improved{false};
  };
  std::array<bound_value, k_most> all_;
};

}  // namespace filch::inline FILCH_ABI::detail

// The endpoint's bounds: sends those that rose to the rank's neighbours in the tree, and keeps what all ranks knew at
// the end of a run. Called by the endpoint, under its mutex where nothing else is said. Protocol: protocol.md,
// "Bounds".
#pragma once

#include "cluster/messenger.hpp"

#include <filch/detail/cluster_bounds.hpp>

namespace filch::inline FILCH_ABI::detail {

class FILCH_API bounds {
 public:
  bounds(messenger& m, bound_values& values) noexcept : messenger_(m), values_(values) {}

  void send_improved();
  /// Message `bound`.
  void take_bound(unpacker& u);
  /// At the end of a run: no bound is under way, and no rank is in the next run. That begins after a reduction, which
  /// this rank has not joined yet. So all ranks know the same values.
  void settle() noexcept;
  /// The calling thread, between runs, without the mutex.
  std::int64_t settled(unsigned id) const noexcept { return settled_[id]; }
  void reset(unsigned id, std::int64_t value) noexcept;

  /// In a run.
  runtime::broken_condition broken() const noexcept;

 private:
  messenger& messenger_;
  bound_values& values_;
  std::array<std::int64_t, bound_values::k_most> settled_{};
};

}  // namespace filch::inline FILCH_ABI::detail

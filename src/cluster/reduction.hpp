// The endpoint's part in reductions: values go up the tree of ranks, the result goes down. The caller folds them,
// outside of the endpoint. Called by the endpoint, under its mutex. Protocol: protocol.md, "Reduction".
#pragma once

#include "cluster/messenger.hpp"

#include <filch/detail/cluster_endpoint.hpp>

#include <array>
#include <optional>
#include <span>
#include <vector>

namespace filch::inline FILCH_ABI::detail {

class FILCH_API reduction {
 public:
  explicit reduction(messenger& m) noexcept : messenger_(m) {}

  void contribute(reduction_part part) { contribution_ = std::move(part); }
  /// The parts that this rank has to fold, once: its own and those of its children. Empty: some have not come.
  std::vector<reduction_part> take_parts();
  /// Sends their fold to the parent; at the root, to the children as the result.
  void hand_on(reduction_part sum);
  std::optional<reduction_part> take_result() { return std::exchange(result_, std::nullopt); }
  /// From now on the rank takes part in the reductions that close the cluster.
  void close() noexcept { closing_ = true; }

  /// Message `up`.
  void take_up(std::span<std::byte const> bytes);
  /// Message `down`.
  void take_down(std::span<std::byte const> bytes);

  runtime::broken_condition broken() const noexcept;

 private:
  messenger& messenger_;
  std::optional<reduction_part> contribution_;
  std::array<std::vector<reduction_part>, 2> ups_;  // children's parts: of the program's reductions, of closing ones
  std::optional<reduction_part> result_;
  bool closing_ = false;
};

}  // namespace filch::inline FILCH_ABI::detail

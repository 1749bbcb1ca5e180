// Results of tasks with a future, on their way home, and the failure of the run. Called by the endpoint and by
// requests, under the endpoint's mutex. Protocol: protocol.md, "Results".
#pragma once

#include "cluster/messenger.hpp"

#include <filch/detail/cluster_endpoint.hpp>

#include <optional>
#include <string>

namespace filch::inline FILCH_ABI::detail {

class FILCH_API results {
 public:
  explicit results(messenger& m) noexcept : messenger_(m) {}

  /// Sends a task's result, or the text of its exception, to the future at its home.
  void send(int home, cluster_future* future, std::optional<std::string> const& failure, message const& result);
  /// In a handler: a task whose arguments could not travel ends with that exception.
  void give_up(int home, cluster_future* future);
  /// Keeps the first text of an exception that no future waits for.
  void keep_failure(std::string_view text);
  std::optional<std::string> take_failure() { return std::exchange(failure_, std::nullopt); }

  /// Message `result`.
  void take_result(unpacker& u);

 private:
  messenger& messenger_;
  std::optional<std::string> failure_;
};

}  // namespace filch::inline FILCH_ABI::detail

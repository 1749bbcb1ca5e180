// The concept of a transport, which carries messages between the ranks of a cluster. Models: filch/mpi_transport.hpp,
// filch/thread_transport.hpp, and programs' own. The endpoint calls it (src/cluster/protocol.md, "Transport").
#pragma once

#include <filch/detail/platform.hpp>

#include <concepts>
#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace filch::inline FILCH_ABI {

/// Bytes that one rank sends to another.
using message = std::vector<std::byte>;

/// Carries messages between ranks, which are numbered from 0.
///
///  - `t.rank()` is this rank's number, 0 to `t.ranks() - 1`; neither changes, neither throws.
///  - `t.send(to, m)` sends a message and does not wait. Each message arrives once, in any order.
///  - `t.receive()` returns a message that has arrived, if there is one. It does not wait.
///  - `t.end_all(text)` prints the text and ends all ranks, this one included.
///
/// Optional: `t.begin_cluster()`, which each cluster calls before its first message. It keeps the messages of
/// clusters apart that follow each other on one transport: a message sent between a rank's n-th call and the next one
/// arrives between the receiver's n-th call and the next one. Ranks do not call it at the same time. A transport
/// without it serves one cluster. A transport that wraps another one forwards this call, too.
///
/// Optional: `t.workers()`, the number of workers of this rank's pool where neither cluster_options nor
/// FILCH_NUM_THREADS gives it. Without it, or where it is 0, the default of pool_options.
///
/// Calls come from any thread, one at a time, and must not fork.
template <class Type>
concept transport = requires(Type& t, Type const& fixed, int to, message m, std::string_view text) {
  { fixed.rank() } noexcept -> std::same_as<int>;
  { fixed.ranks() } noexcept -> std::same_as<int>;
  { t.send(to, std::move(m)) } -> std::same_as<void>;
  { t.receive() } -> std::same_as<std::optional<message>>;
  { t.end_all(text) } -> std::same_as<void>;
};

namespace detail {

/// Any transport, for code that is compiled once.
class FILCH_API any_transport {
 public:
  any_transport() = default;
  any_transport(any_transport const&) = delete;
  any_transport& operator=(any_transport const&) = delete;
  virtual ~any_transport();
  /// The address of the transport that it stands for.
  virtual void const* address() const noexcept { return this; }
  virtual void begin_cluster() {}
  /// All ranks have said that they leave. Waits until this rank's own messages are on their way.
  virtual void end_cluster() {}
  virtual int rank() const noexcept = 0;
  virtual int ranks() const noexcept = 0;
  virtual void send(int to, message m) = 0;
  virtual std::optional<message> receive() = 0;
  virtual void end_all(std::string_view text) = 0;
};

template <transport Type> class transport_of final : public any_transport {
 public:
  explicit transport_of(Type& t) noexcept : transport_(t) {}
  void const* address() const noexcept override { return std::addressof(transport_); }
  void begin_cluster() override {
    if constexpr (requires { transport_.begin_cluster(); }) transport_.begin_cluster();
  }
  void end_cluster() override {
    if constexpr (requires { transport_.end_cluster(); }) transport_.end_cluster();
  }
  int rank() const noexcept override { return transport_.rank(); }
  int ranks() const noexcept override { return transport_.ranks(); }
  void send(int to, message m) override { transport_.send(to, std::move(m)); }
  std::optional<message> receive() override { return transport_.receive(); }
  void end_all(std::string_view text) override { transport_.end_all(text); }

 private:
  Type& transport_;
};

}  // namespace detail
}  // namespace filch::inline FILCH_ABI

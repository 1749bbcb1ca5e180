// What carries messages between the ranks of a cluster.
#pragma once

#include <filch/detail/platform.hpp>

#include <concepts>
#include <cstddef>
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
///  - `t.send(to, m)` takes a message along. It arrives once, some time, perhaps after later ones; send does not wait
///    for that.
///  - `t.receive()` returns a message that has arrived, if there is one. It does not wait either.
///  - `t.end_all(text)` shows the text and ends all ranks, this one included.
///
/// Optional: `t.begin_cluster()`, which each cluster calls before its first message. It keeps the messages of
/// clusters apart that follow each other on one transport: what a rank sends between its n-th call and the next one,
/// others receive between these calls of theirs. Ranks are not at the same call at once. Without it a transport
/// serves one cluster; one that hands its calls on to another transport has to hand on this one, too.
///
/// Also optional: `t.workers()`, how many workers this rank's pool gets where neither cluster_options nor
/// FILCH_NUM_THREADS says it. Without it, as many as pool_options says.
///
/// Calls come from any thread, one at a time, and must not fork. Models: `filch::thread_transport`, between threads
/// of a process, and `filch::mpi_transport`.
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
  virtual void begin_cluster() {}
  virtual int rank() const noexcept = 0;
  virtual int ranks() const noexcept = 0;
  virtual void send(int to, message m) = 0;
  virtual std::optional<message> receive() = 0;
  virtual void end_all(std::string_view text) = 0;
};

template <transport Type> class transport_of final : public any_transport {
 public:
  explicit transport_of(Type& t) noexcept : transport_(t) {}
  void begin_cluster() override {
    if constexpr (requires { transport_.begin_cluster(); }) transport_.begin_cluster();
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

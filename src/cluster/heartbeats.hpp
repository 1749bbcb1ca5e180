// The endpoint's heartbeats: the watchdog's ticks, the silence of the previous rank, and the farewell. Called by the
// endpoint, under its mutex where nothing else is said. Protocol: protocol.md, "Heartbeats" and "The end".
#pragma once

#include "cluster/messenger.hpp"

#include <filch/detail/cluster_endpoint.hpp>

#include <optional>

namespace filch::inline FILCH_ABI::detail {

/// A function that all ranks call.
enum class call_kind : std::uint8_t { run, reduction };

class FILCH_API heartbeats {
 public:
  static constexpr unsigned k_ticks_per_second = 10;

  /// `silence`: ticks that the previous rank may be silent, 0: for ever. `arrival`: ticks before its first heartbeat.
  heartbeats(messenger& m, unsigned silence, unsigned arrival) noexcept
      : messenger_(m), silence_(silence), arrival_(silence > 0 ? arrival : 0) {}

  // Ticks

  /// The watchdog, without the mutex. A worker that packs for long may have it: that worker sends the heartbeat.
  void begin_tick() noexcept;
  /// Returns whether a tick has begun that was not taken.
  bool take_due_tick() noexcept;
  /// A look has received messages. `has_more`: it left some.
  void note_look(bool has_more) noexcept {
    has_looked_ = true;
    has_more_ = has_more;
  }
  /// The same by the watchdog itself.
  void note_more(bool has_more) noexcept { has_more_ = has_more; }
  /// Returns whether there was a look since the last tick.
  bool take_look() noexcept { return std::exchange(has_looked_, false); }
  /// Also between two messages, and between two tasks of an answer.
  void send_due();
  /// Ends all ranks if the previous one has been silent for too long, or left this rank alone.
  void watch();

  // Arrival and end

  /// All ranks have a watchdog: the previous one must not be silent from now on.
  void all_are_here() noexcept;
  /// A run or a reduction begins.
  void count_call(call_kind kind) noexcept;
  /// `is_thrown`: an exception brings the rank here. Else the next rank is told that no call follows.
  void close(bool is_thrown) noexcept;
  void say_farewell();
  /// Has everything from the previous rank arrived?
  bool is_complete() const noexcept { return messenger_.ranks() == 1 || farewell_ == received_; }
  void end_over_silence();

  /// Message `heartbeat`.
  void take_heartbeat(unpacker& u);
  /// Message `farewell`.
  void take_farewell(unpacker& u) { farewell_ = get<std::uint64_t>(u); }

  runtime::broken_condition broken() const noexcept;

 private:
  void end_over_absence();
  bool is_elsewhere() const noexcept;

  // fixed after start
  messenger& messenger_;
  unsigned const silence_;  // ticks
  unsigned const arrival_;  // ticks

  // any thread
  hint<bool> tick_is_due_;
  hint<bool> heartbeat_is_due_;

  // the watchdog
  unsigned ticks_ = 0;

  // under the mutex: looks
  bool has_looked_ = false;  // a look was made since the last tick
  bool has_more_ = false;    // the last look left messages

  // under the mutex: the previous rank
  bool heard_ = false;      // a heartbeat came since the last tick
  bool expecting_ = false;  // it has begun to send
  unsigned silent_ = 0;     // ticks without a heartbeat
  std::uint64_t received_ = 0;
  std::optional<std::uint64_t> farewell_;           // heartbeats that it sent, once it has left
  std::optional<std::uint64_t> calls_of_previous_;  // in all, once it closes without an exception
  struct known_call {
    std::uint64_t number;
    call_kind kind;
  };
  std::optional<known_call> call_of_previous_;  // its newest, by the last heartbeat that came

  // under the mutex: this rank
  std::uint64_t sent_ = 0;
  std::uint64_t calls_ = 0;  // runs and reductions that it began, except those that close the cluster
  call_kind last_call_ = call_kind::reduction;
  bool closing_ = false;
  bool has_left_ = false;  // and no exception brought it there
};

}  // namespace filch::inline FILCH_ABI::detail

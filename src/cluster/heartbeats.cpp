// Sends heartbeats to the next rank, counts the silent ticks of the previous one, and says farewell. The endpoint
// calls it for each tick of the watchdog. Protocol: protocol.md, "Heartbeats" and "The end".
#include "cluster/heartbeats.hpp"

#include <string>

namespace filch::inline FILCH_ABI::detail {
namespace {

constexpr unsigned k_ticks_a_heartbeat = 5;

char const* name_of(call_kind kind) noexcept { return kind == call_kind::run ? "a run" : "a reduction"; }

}  // namespace

void heartbeats::begin_tick() noexcept {
  if (messenger_.ranks() > 1 && ticks_++ % k_ticks_a_heartbeat == 0) heartbeat_is_due_.write(true);
  tick_is_due_.write(true);
}

bool heartbeats::take_due_tick() noexcept {
  if (!tick_is_due_.read()) return false;
  tick_is_due_.write(false);
  return true;
}

void heartbeats::send_due() {
  if (!heartbeat_is_due_.read()) return;
  heartbeat_is_due_.write(false);
  ++sent_;
  messenger_.send_uncounted(messenger_.next(), message_of(message_kind::heartbeat, calls_, last_call_, has_left_));
}

void heartbeats::watch() {
  if (messenger_.ranks() == 1) return;
  if (calls_of_previous_ && !closing_ && calls_ > *calls_of_previous_) {
    calls_of_previous_.reset();
    messenger_.end_all("rank " + std::to_string(messenger_.previous()) +
                       " has left the cluster, and this rank waits for it in another run or reduction");
  }
  if (is_elsewhere()) {
    messenger_.end_all("rank " + std::to_string(messenger_.previous()) + " is in " +
                       name_of(call_of_previous_->kind) + ", and this rank in " + name_of(last_call_) +
                       ": all ranks call the same functions of a cluster in the same order");
    call_of_previous_.reset();
  }
  if (std::exchange(heard_, false) || farewell_) {
    silent_ = 0;
    return;
  }
  if (has_more_) return;  // its heartbeat may be among the messages that wait
  unsigned const most = expecting_ ? silence_ : arrival_;
  if (most == 0 || ++silent_ <= most) return;
  silent_ = 0;
  if (expecting_) {
    end_over_silence();
  } else {
    end_over_absence();
  }
}

/// Is the previous rank in another function, so that both wait for ever?
bool heartbeats::is_elsewhere() const noexcept {
  return call_of_previous_ && call_of_previous_->number == calls_ && call_of_previous_->kind != last_call_;
}

void heartbeats::end_over_silence() {
  messenger_.end_all("rank " + std::to_string(messenger_.previous()) + " has not answered for " +
                     std::to_string(silence_ / k_ticks_per_second) + " s");
}

void heartbeats::end_over_absence() {
  messenger_.end_all("rank " + std::to_string(messenger_.previous()) + " has not made its cluster " +
                     std::to_string(arrival_ / k_ticks_per_second) + " s after this rank (cluster_options::arrival)");
}

void heartbeats::all_are_here() noexcept {
  expecting_ = messenger_.ranks() > 1;
  silent_ = 0;  // these ticks were absence, not silence
}

void heartbeats::count_call(call_kind kind) noexcept {
  if (closing_) return;
  ++calls_;
  last_call_ = kind;
}

void heartbeats::close(bool is_thrown) noexcept {
  closing_ = true;
  has_left_ = !is_thrown;
}

void heartbeats::say_farewell() {
  heartbeat_is_due_.write(false);  // the watchdog has stopped
  if (messenger_.ranks() > 1) messenger_.send_uncounted(messenger_.next(), message_of(message_kind::farewell, sent_));
}

void heartbeats::take_heartbeat(unpacker& u) {
  heard_ = true;
  expecting_ = true;
  ++received_;
  auto const calls = get<std::uint64_t>(u);
  call_of_previous_ = known_call{calls, get<call_kind>(u)};
  if (get<bool>(u)) calls_of_previous_ = calls;
}

runtime::broken_condition heartbeats::broken() const noexcept {
  FILCH_HOLDS(messenger_.ranks() > 1 || received_ == 0);
  FILCH_HOLDS(!farewell_ || received_ <= *farewell_);
  return nullptr;
}

}  // namespace filch::inline FILCH_ABI::detail

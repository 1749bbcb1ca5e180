// Of the endpoint: the watchdog's ticks, heartbeats, and how a rank leaves its cluster.
#include "cluster/messages.hpp"

namespace filch::inline FILCH_ABI::detail {
namespace {

constexpr unsigned k_ticks_a_heartbeat = 5;
// The watchdog looks so often, where nobody else looks, while there are more messages than a look takes.
constexpr int k_looks_a_tick = 64;

}  // namespace

// The watchdog

void endpoint::all_are_here() {
  std::lock_guard const lock(mutex_);
  expecting_ = ranks_ > 1;
  silent_ = 0;  // what it was until now was absence
}

void endpoint::tick() {
  // relaxed: hints, of which the mutex orders what is done about them.
  if (ranks_ > 1 && ticks_++ % k_ticks_a_heartbeat == 0) heartbeat_is_due_.store(true, std::memory_order_relaxed);
  tick_is_due_.store(true, std::memory_order_relaxed);
  // Who has the mutex may have it for long, in users' packing. It sends the heartbeat; the tick is for the next look.
  std::unique_lock const lock(mutex_, std::try_to_lock);
  if (lock) take_tick();
}

void endpoint::take_tick() {
  if (!tick_is_due_.load(std::memory_order_relaxed)) return;  // relaxed, all: as in tick()
  tick_is_due_.store(false, std::memory_order_relaxed);
  if (!std::exchange(polled_, false)) {
    overdue_.store(true, std::memory_order_relaxed);  // relaxed: a hint
    int looks = 0;
    do has_more_ = receive();
    while (has_more_ && ++looks < k_looks_a_tick);
    send_bounds();
    forward_all();
  }
  send_due_heartbeat();
  if (ranks_ > 1) watch();
}

void endpoint::send_due_heartbeat() {
  if (!heartbeat_is_due_.load(std::memory_order_relaxed)) return;  // relaxed, both: as in tick()
  heartbeat_is_due_.store(false, std::memory_order_relaxed);
  ++heartbeats_sent_;
  hand_over(next(), message_of(kind::heartbeat, calls_, has_left_));
}

void endpoint::watch() {
  if (calls_of_before_ && !closing_ && calls_ > *calls_of_before_) {
    calls_of_before_.reset();
    transport_.end_all("rank " + std::to_string(before()) +
                       " has left the cluster, and this rank waits for it in another run or reduction");
  }
  if (std::exchange(heard_, false) || farewell_) {
    silent_ = 0;
  } else if (has_more_) {
    // Its heartbeat may be among what waits.
  } else if (unsigned const most = expecting_ ? silence_ : arrival_; most > 0 && ++silent_ > most) {
    silent_ = 0;
    if (expecting_) {
      end_over_silence();
    } else {
      end_over_absence();
    }
  }
}

void endpoint::end_over_silence() {
  transport_.end_all("rank " + std::to_string(before()) + " has not answered for " +
                     std::to_string(silence_ / k_ticks_per_second) + " s");
}

void endpoint::end_over_absence() {
  transport_.end_all("rank " + std::to_string(before()) + " has not made its cluster " +
                     std::to_string(arrival_ / k_ticks_per_second) + " s after this rank (cluster_options::arrival)");
}

// The end

void endpoint::begin_closing(bool is_thrown) {
  std::lock_guard const lock(mutex_);
  closing_ = true;
  has_left_ = !is_thrown;
  requests_.clear();
}

std::int64_t endpoint::under_way() {
  std::lock_guard const lock(mutex_);
  receive();
  return static_cast<std::int64_t>(counted_.sent - counted_.received);
}

void endpoint::say_farewell() {
  std::lock_guard const lock(mutex_);
  heartbeat_is_due_.store(false, std::memory_order_relaxed);  // relaxed: of a thread that was joined
  if (ranks_ > 1) hand_over(next(), message_of(kind::farewell, heartbeats_sent_));
}

bool endpoint::silent() {
  std::lock_guard const lock(mutex_);
  receive();
  return ranks_ == 1 || farewell_ == heartbeats_received_;
}

void endpoint::miss_farewell() {
  std::lock_guard const lock(mutex_);
  end_over_silence();
}

}  // namespace filch::inline FILCH_ABI::detail

// Of the endpoint: what all ranks do together, on a binary tree of them.
#include "cluster/messages.hpp"

#include <filch/rank.hpp>

namespace filch::inline FILCH_ABI::detail {

// Termination

std::size_t endpoint::children() const noexcept {
  std::size_t count = 0;
  for_each_child([&count](int) { ++count; });
  return count;
}

void endpoint::answer_wave() {
  if (me_ == 0 && !wave_here_) {
    wave_here_ = true;
    ++stats_.waves;
    for_each_child([this](int child) { send(child, message_of(kind::probe)); });
  }
  if (!wave_here_ || wave_answers_ < children()) return;
  wave_here_ = false;
  wave_answers_ = 0;
  wave_sum_.sent += basic_.sent;
  wave_sum_.received += basic_.received;
  auto const sum = std::exchange(wave_sum_, {});
  if (me_ != 0) {
    send((me_ - 1) / 2, message_of(kind::counts, sum.sent, sum.received));
  } else if (received_before_ == sum.sent) {
    end_run();
  } else {
    received_before_ = sum.received;
  }
}

/// Nothing of it is under way, and nobody is in the next one: that begins after a reduction, to which this rank has
/// not come. So all ranks know the same bounds.
void endpoint::end_run() {
  ++runs_ended_;
  for (unsigned id = 0; id < k_bounds; ++id) settled_[id] = bound(id);
  for_each_child([this](int child) { send(child, message_of(kind::end)); });
}

// Bounds

void endpoint::raise(unsigned id, std::int64_t value) noexcept {
  auto& b = bounds_[id];
  auto known = b.value.load(std::memory_order_relaxed);  // relaxed: the mark orders it
  do {
    if (known >= value) return;
  } while (!b.value.compare_exchange_weak(known, value, std::memory_order_relaxed));
  b.improved.exchange(true, std::memory_order_release);  // edge cluster-2
}

unsigned endpoint::own(struct bound b) const {
  if (b.cluster != cluster_ || b.id >= k_bounds) {
    throw std::invalid_argument(
        "filch: this bound is of another cluster: pass the one that make_bound returned here");
  }
  return b.id;
}

void endpoint::set_bound(unsigned id, std::int64_t value) noexcept {
  bounds_[id].value.store(value, std::memory_order_relaxed);  // relaxed: between runs; a reduction follows
  settled_[id] = value;
}

void endpoint::send_bounds() {
  for (unsigned id = 0; id < k_bounds; ++id) {
    auto& b = bounds_[id];
    // relaxed: a hint, the exchange decides; who raises it now is seen by the next look.
    if (!b.improved.load(std::memory_order_relaxed)) continue;
    b.improved.exchange(false, std::memory_order_acquire);       // edge cluster-2
    auto const value = b.value.load(std::memory_order_relaxed);  // relaxed: ordered by the mark
    auto const tell = [&](int to) { send_basic(to, message_of(kind::bound, id, value)); };
    for_each_child(tell);
    if (me_ != 0) tell((me_ - 1) / 2);
  }
}

// Reduction

void endpoint::contribute(reduction_part part) {
  std::lock_guard const lock(mutex_);
  if (!closing_) ++calls_;
  contribution_ = std::move(part);
}

std::optional<reduction_part> endpoint::reduction() {
  std::lock_guard const lock(mutex_);
  begin_look();
  forward_all();
  return std::exchange(result_, std::nullopt);
}

std::vector<reduction_part> endpoint::parts_to_fold() {
  std::lock_guard const lock(mutex_);
  auto& ups = ups_[closing_];
  if (!contribution_ || ups.size() < children()) return {};
  auto parts = std::exchange(ups, {});
  parts.push_back(std::move(*contribution_));
  contribution_.reset();
  return parts;
}

void endpoint::hand_on(reduction_part sum) {
  std::lock_guard const lock(mutex_);
  message m = message_of(me_ == 0 ? kind::down : kind::up, part_header{closing_, sum.what});
  m.insert(m.end(), sum.bytes.begin(), sum.bytes.end());
  if (me_ != 0) {
    send((me_ - 1) / 2, std::move(m));
  } else {
    for_each_child([&](int child) { send(child, m); });
    result_ = std::move(sum);
  }
}

}  // namespace filch::inline FILCH_ABI::detail

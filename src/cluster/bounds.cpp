// Sends bounds that rose to the neighbours in the tree of ranks, and takes those that arrive. The endpoint calls it;
// a reader of a bound takes no lock. Protocol: protocol.md, "Bounds".
#include "cluster/bounds.hpp"

namespace filch::inline FILCH_ABI::detail {

void bound_values::raise(unsigned id, std::int64_t value) noexcept {
  auto& b = all_[id];
  auto known = b.value.load(std::memory_order_relaxed);  // relaxed: the mark orders it
  do {
    if (known >= value) return;
  } while (!b.value.compare_exchange_weak(known, value, std::memory_order_relaxed));
  b.improved.exchange(true, std::memory_order_release);  // edge cluster-2
}

std::optional<std::int64_t> bound_values::take_improved(unsigned id) noexcept {
  auto& b = all_[id];
  // relaxed: a hint, the exchange decides. The next look finds a mark that is set now.
  if (!b.improved.load(std::memory_order_relaxed)) return std::nullopt;
  b.improved.exchange(false, std::memory_order_acquire);  // edge cluster-2
  return b.value.load(std::memory_order_relaxed);         // relaxed: ordered by the mark
}

void bounds::send_improved() {
  for (unsigned id = 0; id < bound_values::k_most; ++id) {
    auto const value = values_.take_improved(id);
    if (!value) continue;
    auto const send = [&](int to) { messenger_.send_basic(to, message_of(message_kind::bound, id, *value)); };
    messenger_.for_each_child(send);
    if (!messenger_.is_root()) send(messenger_.parent());
  }
}

void bounds::take_bound(unpacker& u) {
  messenger_.count_received_basic();
  auto const id = get<unsigned>(u);
  values_.raise(id, get<std::int64_t>(u));
}

void bounds::settle() noexcept {
  for (unsigned id = 0; id < bound_values::k_most; ++id) settled_[id] = values_.value(id);
}

void bounds::reset(unsigned id, std::int64_t value) noexcept {
  values_.reset(id, value);
  settled_[id] = value;
}

runtime::broken_condition bounds::broken() const noexcept {
  for (unsigned id = 0; id < bound_values::k_most; ++id) FILCH_HOLDS(settled_[id] <= values_.value(id));
  return nullptr;
}

}  // namespace filch::inline FILCH_ABI::detail

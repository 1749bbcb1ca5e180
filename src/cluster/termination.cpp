// Begins and ends a run: it knows whether the rank is passive, and counts messages in waves. The endpoint calls it.
// Protocol: protocol.md, "Termination".
#include "cluster/termination.hpp"

namespace filch::inline FILCH_ABI::detail {

void termination::begin_run() noexcept {
  ++runs_begun_;
  received_before_.reset();
}

void termination::answer_wave() {
  if (messenger_.is_root() && !wave_is_here_) {
    ++messenger_.stats.waves;
    send_probes();
  }
  if (!wave_is_here_ || wave_answers_ < messenger_.children()) return;
  wave_is_here_ = false;
  wave_answers_ = 0;
  wave_sum_.sent += messenger_.basic().sent;
  wave_sum_.received += messenger_.basic().received;
  auto const sum = std::exchange(wave_sum_, {});
  if (!messenger_.is_root()) {
    messenger_.send(messenger_.parent(), message_of(message_kind::counts, sum.sent, sum.received));
  } else if (received_before_ == sum.sent) {
    end_run();
  } else {
    received_before_ = sum.received;
  }
}

void termination::take_probe() { send_probes(); }

void termination::send_probes() {
  wave_is_here_ = true;
  messenger_.for_each_child([this](int child) { messenger_.send(child, message_of(message_kind::probe)); });
}

void termination::take_counts(unpacker& u) {
  ++wave_answers_;
  wave_sum_.sent += get<std::uint64_t>(u);
  wave_sum_.received += get<std::uint64_t>(u);
}

void termination::end_run() {
  runtime::check("cluster's bounds", [this] { return bounds_.broken(); });
  ++runs_ended_;
  bounds_.settle();
  messenger_.for_each_child([this](int child) { messenger_.send(child, message_of(message_kind::end)); });
}

runtime::broken_condition termination::broken() const noexcept {
  FILCH_HOLDS(runs_ended_ <= runs_begun_);
  FILCH_HOLDS(helpers_ <= k_helpers_most);
  FILCH_HOLDS(wave_answers_ <= messenger_.children());
  FILCH_HOLDS(wave_is_here_ || wave_answers_ == 0);
  return nullptr;
}

}  // namespace filch::inline FILCH_ABI::detail

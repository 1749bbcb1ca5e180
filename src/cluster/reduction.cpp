// Passes the values of a reduction up the tree of ranks, and the result down. The endpoint calls it; its caller folds
// the values. Protocol: protocol.md, "Reduction".
#include "cluster/reduction.hpp"

namespace filch::inline FILCH_ABI::detail {
namespace {

struct part_header {
  bool closing;
  reduction_part::holds what;
};

struct part_message {
  part_header header;
  reduction_part part;
};

part_message read(std::span<std::byte const> bytes) {
  unpacker u(bytes.subspan(sizeof(message_kind)));
  auto const header = get<part_header>(u);
  auto const rest = bytes.subspan(sizeof(message_kind) + sizeof header);
  return {header, {header.what, {rest.begin(), rest.end()}}};
}

}  // namespace

std::vector<reduction_part> reduction::take_parts() {
  auto& ups = ups_[closing_];
  if (!contribution_ || ups.size() < messenger_.children()) return {};
  auto parts = std::exchange(ups, {});
  parts.push_back(std::move(*contribution_));
  contribution_.reset();
  return parts;
}

void reduction::hand_on(reduction_part sum) {
  bool const is_root = messenger_.is_root();
  message m = message_of(is_root ? message_kind::down : message_kind::up, part_header{closing_, sum.what});
  m.insert(m.end(), sum.bytes.begin(), sum.bytes.end());
  if (!is_root) {
    messenger_.send(messenger_.parent(), std::move(m));
  } else {
    messenger_.for_each_child([&](int child) { messenger_.send(child, m); });
    result_ = std::move(sum);
  }
}

void reduction::take_up(std::span<std::byte const> bytes) {
  auto [header, part] = read(bytes);
  ups_[header.closing].push_back(std::move(part));
}

void reduction::take_down(std::span<std::byte const> bytes) {
  messenger_.for_each_child([&](int child) { messenger_.send(child, message(bytes.begin(), bytes.end())); });
  result_ = read(bytes).part;
}

runtime::broken_condition reduction::broken() const noexcept {
  FILCH_HOLDS(ups_[0].size() <= messenger_.children());
  FILCH_HOLDS(ups_[1].size() <= messenger_.children());
  FILCH_HOLDS(!result_ || !contribution_);
  return nullptr;
}

}  // namespace filch::inline FILCH_ABI::detail

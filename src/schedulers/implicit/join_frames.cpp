#include "schedulers/implicit/join_frames.hpp"

#include <filch/detail/implicit_join.hpp>

#include <unwind.h>
#include <cstring>
#include <typeinfo>

namespace filch::inline FILCH_ABI::detail {
namespace {

// How the tables write numbers: the DWARF encodings that compilers use in them.
class table_reader {
 public:
  explicit table_reader(std::uint8_t const* at) noexcept : at_(at) {}
  std::uint8_t const* at() const noexcept { return at_; }
  std::uint8_t byte() noexcept { return *at_++; }
  std::uint64_t unsigned_leb() noexcept {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      std::uint8_t const b = byte();
      if (shift < 64) value |= std::uint64_t{b & 0x7fu} << shift;
      if (!(b & 0x80)) return value;
    }
  }
  std::int64_t signed_leb() noexcept {
    std::uint64_t value = 0;
    for (unsigned shift = 0;;) {
      std::uint8_t const b = byte();
      if (shift < 64) value |= std::uint64_t{b & 0x7fu} << shift;
      shift += 7;
      if (b & 0x80) continue;
      if (shift < 64 && (b & 0x40)) value |= ~std::uint64_t{0} << shift;
      return static_cast<std::int64_t>(value);
    }
  }
  template <class T> T fixed() noexcept {
    T value;
    std::memcpy(&value, at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  /// A pointer in one of the DW_EH_PE encodings. False where it is one that is not known here.
  bool encoded(unsigned encoding, std::uint64_t& value) noexcept {
    auto const from = reinterpret_cast<std::uint64_t>(at_);
    switch (encoding & 0x0f) {
      case 0x00: value = fixed<std::uint64_t>(); break;
      case 0x01: value = unsigned_leb(); break;
      case 0x02: value = fixed<std::uint16_t>(); break;
      case 0x03: value = fixed<std::uint32_t>(); break;
      case 0x04: value = fixed<std::uint64_t>(); break;
      case 0x09: value = static_cast<std::uint64_t>(signed_leb()); break;
      case 0x0a: value = static_cast<std::uint64_t>(std::int64_t{fixed<std::int16_t>()}); break;
      case 0x0b: value = static_cast<std::uint64_t>(std::int64_t{fixed<std::int32_t>()}); break;
      case 0x0c: value = fixed<std::uint64_t>(); break;
      default: return false;
    }
    if (value == 0) return true;
    if ((encoding & 0x70) == 0x10) {
      value += from;
    } else if ((encoding & 0x70) != 0) {
      return false;
    }
    if (encoding & 0x80) std::memcpy(&value, reinterpret_cast<void const*>(value), sizeof value);
    return true;
  }

 private:
  std::uint8_t const* at_;
};

std::size_t size_of_encoded(unsigned encoding) noexcept {
  switch (encoding & 0x07) {
    case 0x02: return 2;
    case 0x03: return 4;
    default: return 8;
  }
}

constexpr unsigned k_omitted = 0xff;

/// In the chain of what a landing pad catches: the selector of `continuation`, or 0.
std::int64_t selector_of_continuation(std::uint8_t const* action, std::uint8_t const* types, unsigned encoding) noexcept {
  for (;;) {
    table_reader r(action);
    std::int64_t const filter = r.signed_leb();
    std::uint8_t const* const next_from = r.at();
    std::int64_t const next = r.signed_leb();
    if (filter > 0) {
      std::uint64_t type = 0;
      table_reader entry(types - static_cast<std::size_t>(filter) * size_of_encoded(encoding));
      if (entry.encoded(encoding, type) && type != 0 &&
          *reinterpret_cast<std::type_info const*>(type) == typeid(continuation*)) {
        return filter;
      }
    }
    if (next == 0) return 0;
    action = next_from + next;
  }
}

/// The landing pad for a continuation at a call that returns to `ip`, by the language-specific data of a function.
bool find_pad(std::uint8_t const* data, std::uint64_t start, std::uint64_t ip, join_frame& frame) noexcept {
  if (!data) return false;
  table_reader r(data);
  std::uint64_t pads_from = start;
  unsigned const start_encoding = r.byte();
  if (start_encoding != k_omitted && !r.encoded(start_encoding, pads_from)) return false;
  unsigned const types_encoding = r.byte();
  if (types_encoding == k_omitted) return false;
  std::uint64_t const types_after = r.unsigned_leb();
  std::uint8_t const* const types = r.at() + types_after;
  unsigned const call_encoding = r.byte();
  std::uint64_t const calls_bytes = r.unsigned_leb();
  std::uint8_t const* const actions = r.at() + calls_bytes;
  while (r.at() < actions) {
    std::uint64_t from = 0;
    std::uint64_t length = 0;
    std::uint64_t pad = 0;
    if (!r.encoded(call_encoding, from) || !r.encoded(call_encoding, length) || !r.encoded(call_encoding, pad)) {
      return false;
    }
    std::uint64_t const action = r.unsigned_leb();
    if (ip - 1 < start + from) return false;
    if (ip - 1 >= start + from + length) continue;
    if (pad == 0 || action == 0) return false;
    std::int64_t const selector = selector_of_continuation(actions + action - 1, types, types_encoding);
    if (selector == 0) return false;
    frame.pad = pads_from + pad;
    frame.selector = static_cast<std::uint64_t>(selector);
    return true;
  }
  return false;
}

struct walk {
  join_frames& found;
  std::uint64_t low;
  std::uint64_t high;
  std::uint64_t stop;
  bool only_the_newest;
};

_Unwind_Reason_Code visit(_Unwind_Context* c, void* p) {
  walk& w = *static_cast<walk*>(p);
  std::uint64_t const rsp = _Unwind_GetCFA(c);  // as it is in this frame after its call returns
  if (rsp - 8 >= w.stop || rsp < w.low || rsp >= w.high) return _URC_END_OF_STACK;
  join_frame frame{};
  auto const* const data = static_cast<std::uint8_t const*>(_Unwind_GetLanguageSpecificData(c));
  if (!find_pad(data, _Unwind_GetRegionStart(c), _Unwind_GetIP(c), frame)) return _URC_NO_REASON;
  frame.rbx = _Unwind_GetGR(c, 3);
  frame.rbp = _Unwind_GetGR(c, 6);
  frame.r12 = _Unwind_GetGR(c, 12);
  frame.r13 = _Unwind_GetGR(c, 13);
  frame.r14 = _Unwind_GetGR(c, 14);
  frame.r15 = _Unwind_GetGR(c, 15);
  frame.rsp = rsp;
  w.found.add(frame);
  return w.only_the_newest ? _URC_END_OF_STACK : _URC_NO_REASON;
}

}  // namespace

void walk_join_frames(join_frames& found, std::uint64_t low, std::uint64_t high, std::uint64_t stop,
                      bool only_the_newest) noexcept {
  walk w{found, low, high, stop, only_the_newest};
  _Unwind_Backtrace(visit, &w);
}

}  // namespace filch::inline FILCH_ABI::detail

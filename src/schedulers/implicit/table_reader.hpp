// How unwind and exception tables write numbers.
#pragma once

#include <filch/detail/platform.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace filch::inline FILCH_ABI::detail {

/// Of the DW_EH_PE encodings.
inline constexpr unsigned k_encoding_omitted = 0xff;

class table_reader {
 public:
  explicit table_reader(std::uint8_t const* at) noexcept : at_(at) {}
  std::uint8_t const* at() const noexcept { return at_; }
  void skip(std::size_t bytes) noexcept { at_ += bytes; }
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
  /// A pointer in one of the DW_EH_PE encodings, absolute or relative to where it stands, or to `data`. False where
  /// it is one that is not known here.
  bool encoded(unsigned encoding, std::uint64_t& value, std::uint64_t data = 0) noexcept {
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
    switch (encoding & 0x70) {
      case 0x00: break;
      case 0x10: value += from; break;
      case 0x30: value += data; break;
      default: return false;
    }
    if (encoding & 0x80) std::memcpy(&value, reinterpret_cast<void const*>(value), sizeof value);
    return true;
  }

 private:
  std::uint8_t const* at_;
};

/// Of those of a fixed size.
inline std::size_t size_of_encoded(unsigned encoding) noexcept {
  switch (encoding & 0x07) {
    case 0x02: return 2;
    case 0x03: return 4;
    default: return 8;
  }
}

}  // namespace filch::inline FILCH_ABI::detail

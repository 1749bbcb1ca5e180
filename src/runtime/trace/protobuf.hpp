// Protocol buffers' wire format, as far as Perfetto's traces need it: numbers, fixed numbers, and bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace filch::runtime::trace {

class message {
 public:
  message& number(unsigned field, std::uint64_t value) {
    varint(field << 3 | k_varint);
    varint(value);
    return *this;
  }
  message& fixed(unsigned field, std::uint64_t value) {
    varint(field << 3 | k_fixed);
    for (int i = 0; i < 8; ++i) bytes_.push_back(static_cast<char>(value >> (8 * i)));
    return *this;
  }
  message& bytes(unsigned field, std::string_view value) {
    varint(field << 3 | k_bytes);
    varint(value.size());
    bytes_ += value;
    return *this;
  }
  message& part(unsigned field, message const& value) { return bytes(field, value.bytes_); }

  std::string const& text() const noexcept { return bytes_; }
  void clear() noexcept { bytes_.clear(); }

 private:
  static constexpr std::uint64_t k_varint = 0;
  static constexpr std::uint64_t k_fixed = 1;
  static constexpr std::uint64_t k_bytes = 2;

  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_.push_back(static_cast<char>(value | 0x80));
    bytes_.push_back(static_cast<char>(value));
  }

  std::string bytes_;
};

}  // namespace filch::runtime::trace

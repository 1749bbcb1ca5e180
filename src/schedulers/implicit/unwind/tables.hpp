// Reading unwind and exception tables: the numbers in them, and the entry of one function. Private to this folder;
// the rest of implicit includes walk.hpp. Formats: DWARF 5, section 6.4, and the Itanium C++ ABI's exception tables.
#pragma once

#include <filch/detail/platform.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace filch::inline FILCH_ABI::detail {

/// The DW_EH_PE encoding of a field that is absent.
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
  /// Reads a pointer in a DW_EH_PE encoding: absolute, relative to its own place, or relative to `data`. False: this
  /// reader does not know the encoding.
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

/// Bytes of a pointer in an encoding of fixed size.
inline std::size_t size_of_encoded(unsigned encoding) noexcept {
  switch (encoding & 0x07) {
    case 0x02: return 2;
    case 0x03: return 4;
    default: return 8;
  }
}

/// The call-frame tables of one function (DWARF's FDE, with its CIE).
struct function_tables {
  std::uint64_t start = 0;  // addresses of its code: [start, end)
  std::uint64_t end = 0;
  std::uint8_t const* program = nullptr;  // call-frame instructions of the function
  std::uint8_t const* program_end = nullptr;
  std::uint8_t const* common_program = nullptr;  // call-frame instructions that run before them
  std::uint8_t const* common_program_end = nullptr;
  std::uint64_t code_factor = 1;
  std::int64_t data_factor = 1;
  bool is_barrier = false;                   // the return barrier, at which a walk ends
  std::uint8_t const* exceptions = nullptr;  // exception table; null: none
};

/// Finds the tables of the function that contains `pc`. `is_in_program`: it lies in the main program, which is never
/// unloaded. False: the function has no tables, or tables in a form that this reader does not know.
bool find_tables(std::uint64_t pc, function_tables& d, bool& is_in_program) noexcept;
/// A checksum of the tables. Another library may be loaded where an unloaded one was.
std::uint64_t checksum_of(function_tables const& d) noexcept;

}  // namespace filch::inline FILCH_ABI::detail

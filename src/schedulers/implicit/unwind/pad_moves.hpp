// A landing pad as a list of moves. Decoded once (pad_reader.cpp), then executed for each frame that is entered
// there. Private to this folder; the rest of implicit includes walk.hpp.
#pragma once

#include <filch/detail/platform.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

// The moved words belong to another thread, or lie below the frames that a sanitizer knows.
#define FILCH_NOT_SANITIZED __attribute__((no_sanitize("address", "thread", "undefined")))

namespace filch::inline FILCH_ABI::detail {

/// The word there, which may be code.
template <class T> FILCH_NOT_SANITIZED T word_at(std::uint64_t from) noexcept {
  struct __attribute__((packed, may_alias)) unaligned {
    T value;
  };
  return reinterpret_cast<unaligned const*>(from)->value;
}

/// A register, or a word in memory.
struct pad_operand {
  static constexpr std::uint8_t k_none = 16;  // as base or index: zero

  bool is_register = false;
  bool is_code = false;       // an address relative to the instruction, never in the frame
  std::uint8_t reg = k_none;  // the register, or the base of the address
  std::uint8_t index = k_none;
  std::uint8_t shift = 0;  // of the index
  std::int64_t offset = 0;
};

/// One instruction. `reg` is the register beside the operand `other`.
struct pad_move {
  enum class kind : std::uint8_t {
    nothing,
    load,              // reg = other, zero-extended
    store,             // other = reg
    load_address,      // reg = the address of other
    constant,          // other = value
    copy_words,        // rep movs
    load_vector,       // vector reg = other; the rest of the register is zero
    store_vector,      // other = vector reg
    load_from_word,    // vector reg = a general register or memory
    store_as_word,     // a general register or memory = vector reg
    load_low,          // the low half of vector reg = memory
    load_high,         // the high half
    store_low,         // memory = the low half of vector reg
    store_high,        // the high half
    interleave_four,   // punpckldq
    interleave_eight,  // punpcklqdq
    clear_vector,
  };

  kind what = kind::nothing;
  std::uint8_t reg = 0;
  std::uint8_t bytes = 0;  // of the operand
  pad_operand other{};
  std::uint64_t value = 0;
};

/// The registers while a pad is executed.
class pad_registers {
 public:
  /// The words of the frame are accessed, or skipped: then each load gives zero, and nothing is stored.
  enum class frame { skipped, accessed };

  std::array<std::uint64_t, pad_operand::k_none + 1> r{};  // the last one is zero

  template <frame Frame> void execute(pad_move const& m) noexcept {
    using kind = pad_move::kind;
    switch (m.what) {
      case kind::nothing: break;
      case kind::load: r[m.reg] = get<Frame>(m.other, m.bytes); break;
      case kind::store: put<Frame>(m.other, m.bytes, r[m.reg]); break;
      case kind::load_address: r[m.reg] = narrow(address(m.other), m.bytes); break;
      case kind::constant: put<Frame>(m.other, m.bytes, m.value); break;
      case kind::copy_words: copy_words<Frame>(m.bytes); break;
      case kind::load_vector: x_[m.reg] = get_vector<Frame>(m.other, m.bytes); break;
      case kind::store_vector: put_vector<Frame>(m.other, m.bytes, x_[m.reg]); break;
      case kind::load_from_word: x_[m.reg] = {get<Frame>(m.other, m.bytes), 0}; break;
      case kind::store_as_word: put<Frame>(m.other, m.bytes, x_[m.reg].low); break;
      case kind::load_low: x_[m.reg].low = get<Frame>(m.other, 8); break;
      case kind::load_high: x_[m.reg].high = get<Frame>(m.other, 8); break;
      case kind::store_low: put<Frame>(m.other, 8, x_[m.reg].low); break;
      case kind::store_high: put<Frame>(m.other, 8, x_[m.reg].high); break;
      case kind::interleave_four: {
        std::uint64_t const a = x_[m.reg].low;
        std::uint64_t const b = get_vector<Frame>(m.other, 16).low;
        x_[m.reg] = {(a & 0xffffffff) | b << 32, a >> 32 | (b >> 32 << 32)};
        break;
      }
      case kind::interleave_eight: x_[m.reg].high = get_vector<Frame>(m.other, 16).low; break;
      case kind::clear_vector: x_[m.reg] = {}; break;
    }
  }

 private:
  struct wide {
    std::uint64_t low;
    std::uint64_t high;
  };
  static constexpr unsigned k_rcx = 1, k_rsi = 6, k_rdi = 7;

  template <class T> FILCH_NOT_SANITIZED static void store(std::uint64_t to, T value) noexcept {
    struct __attribute__((packed, may_alias)) unaligned {
      T value;
    };
    reinterpret_cast<unaligned*>(to)->value = value;
  }

  static std::uint64_t narrow(std::uint64_t value, unsigned bytes) noexcept {
    return bytes == 8 ? value : value & ((std::uint64_t{1} << 8 * bytes) - 1);
  }
  std::uint64_t address(pad_operand const& o) const noexcept {
    return r[o.reg] + (r[o.index] << o.shift) + static_cast<std::uint64_t>(o.offset);
  }
  template <frame Frame> std::uint64_t get(pad_operand const& o, unsigned bytes) const noexcept {
    if (o.is_register) return narrow(r[o.reg], bytes);
    if (Frame == frame::skipped && !o.is_code) return 0;
    std::uint64_t const from = address(o);
    switch (bytes) {
      case 1: return word_at<std::uint8_t>(from);
      case 2: return word_at<std::uint16_t>(from);
      case 4: return word_at<std::uint32_t>(from);
      default: return word_at<std::uint64_t>(from);
    }
  }
  /// A write of four bytes clears the rest of a register.
  template <frame Frame> void put(pad_operand const& o, unsigned bytes, std::uint64_t value) noexcept {
    if (o.is_register) {
      r[o.reg] = narrow(value, bytes);
    } else if (Frame == frame::accessed && bytes == 8) {
      store(address(o), value);
    } else if (Frame == frame::accessed) {
      store(address(o), static_cast<std::uint32_t>(value));
    }
  }
  template <frame Frame> wide get_vector(pad_operand const& o, unsigned bytes) const noexcept {
    if (o.is_register) return bytes == 16 ? x_[o.reg] : wide{x_[o.reg].low, 0};
    if (Frame == frame::skipped && !o.is_code) return {};
    std::uint64_t const from = address(o);
    if (bytes == 4) return {word_at<std::uint32_t>(from), 0};
    return {word_at<std::uint64_t>(from), bytes == 16 ? word_at<std::uint64_t>(from + 8) : 0};
  }
  template <frame Frame> void put_vector(pad_operand const& o, unsigned bytes, wide const& value) noexcept {
    if (o.is_register) {
      x_[o.reg] = {value.low, bytes == 16 ? value.high : 0};
    } else if (Frame == frame::accessed && bytes == 4) {
      store(address(o), static_cast<std::uint32_t>(value.low));
    } else if (Frame == frame::accessed) {
      store(address(o), value.low);
      if (bytes == 16) store(address(o) + 8, value.high);
    }
  }
  template <frame Frame> void copy_words(unsigned bytes) noexcept {
    for (; r[k_rcx] != 0; --r[k_rcx]) {
      put<Frame>({.reg = k_rdi}, bytes, get<Frame>({.reg = k_rsi}, bytes));
      r[k_rsi] += bytes;
      r[k_rdi] += bytes;
    }
  }

  std::array<wide, 16> x_{};
};

/// The code of a landing pad, to see whether it is still the same: a breakpoint may come and go.
class pad_bytes {
 public:
  /// Appends what was read there.
  void append(std::uint64_t at, void const* bytes, std::size_t count) noexcept {
    if (parts_ == 0 || part_[parts_ - 1].at + part_[parts_ - 1].count != at) {
      if (parts_ == part_.size()) return too_long();
      part_[parts_++] = {at, 0};
    }
    if (used_ + count > byte_.size()) return too_long();
    std::memcpy(&byte_[used_], bytes, count);
    used_ += count;
    part_[parts_ - 1].count += count;
  }
  /// Is all of it kept?
  bool is_whole() const noexcept { return is_whole_; }
  bool are_still_there() const noexcept {
    auto kept = reinterpret_cast<std::uint64_t>(byte_.data());
    for (std::size_t i = 0; i < parts_; ++i) {
      std::uint64_t at = part_[i].at;
      std::size_t left = part_[i].count;
      for (; left >= 8; left -= 8, at += 8, kept += 8) {
        if (word_at<std::uint64_t>(kept) != word_at<std::uint64_t>(at)) return false;
      }
      for (; left > 0; --left, ++at, ++kept) {
        if (word_at<std::uint8_t>(kept) != word_at<std::uint8_t>(at)) return false;
      }
    }
    return true;
  }

 private:
  struct part {
    std::uint64_t at;
    std::size_t count;
  };
  void too_long() noexcept { is_whole_ = false; }

  bool is_whole_ = true;
  std::size_t parts_ = 0;  // one more for each jump
  std::size_t used_ = 0;
  std::array<part, 4> part_;
  std::array<std::uint8_t, 192> byte_;
};

/// The moves of a landing pad up to implicit_offering's statement, and the address at which the frame continues.
struct pad_moves {
  /// Far more than landing pads have. Code that is no landing pad of a join ends here, too.
  static constexpr std::size_t k_most = 64;

  std::uint64_t goes_on_at = 0;
  std::size_t count = 0;
  std::array<pad_move, k_most> of;
  pad_bytes code;
};

/// Landing pads that a thread has entered. The one that was decoded first makes room.
class pad_cache {
 public:
  /// The moves at this pad, valid until the next call; null: it can't be read.
  pad_moves const* find(std::uint64_t pad) noexcept;

 private:
  static constexpr std::size_t k_pads = 8;

  std::array<std::uint64_t, k_pads> pads_{};  // 0: an empty entry
  std::size_t oldest_ = 0;                    // the entry that makes room for a new pad
  std::array<pad_moves, k_pads> moves_;
};

}  // namespace filch::inline FILCH_ABI::detail

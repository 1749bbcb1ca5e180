// Reads a landing pad instead of running it: executes, on any thread, the moves that compilers write on the way to
// implicit_offering's statement. Called when a frame is entered (enter_pad.cpp), and to find out whether it can be
// read (call_frames.cpp). See protocol.md, "A join frame". A decoder, so long: encodings are from AMD64 Architecture
// Programmer's Manual, volume 3, chapter 1 and appendix A.
#include "schedulers/implicit/unwind/pad_reader.hpp"

#include "schedulers/implicit/unwind/pad_scanner.hpp"
#include "schedulers/implicit/unwind/walk.hpp"

#include <array>
#include <cstring>

// The moved words belong to another thread, or lie below the frames that a sanitizer knows.
#define FILCH_NOT_SANITIZED __attribute__((no_sanitize("address", "thread", "undefined")))

namespace filch::inline FILCH_ABI::detail {
namespace {

enum : unsigned { rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8, r9, r10, r11, r12, r13, r14, r15 };

/// Far more than landing pads have. Code that is no landing pad of a join ends here, too.
constexpr int k_most_instructions = 64;
constexpr std::size_t k_most_bytes = 512;
constexpr std::size_t k_longest_instruction = 32;  // with padding

class pad_code {
 public:
  /// Follows the code only: loads nothing from a frame and stores nothing there.
  explicit pad_code(std::uint64_t pad) noexcept : at_(pad) {}
  /// Loads and stores in the frame, by the bytes that `before` has followed to their end: the code may have changed.
  pad_code(std::uint64_t pad, pad_code const& before) noexcept : at_(pad), before_(&before), has_frame_(true) {}

  std::array<std::uint64_t, 16> r{};

  /// Follows the code to the load of the thread-local variable in implicit_offering. False: it met something else
  /// than moves.
  bool follow() noexcept {
    for (int i = 0; i < k_most_instructions && used_ < k_most_bytes - k_longest_instruction; ++i) {
      switch (one()) {
        case met::a_move: break;
        case met::the_end: return true;
        case met::the_unknown: return false;
      }
    }
    return false;
  }
  /// After follow(): the address at which the frame continues.
  std::uint64_t goes_on_at() noexcept {
    constexpr std::uint64_t k_bytes_before_offset = 3;
    std::uint64_t const at = reinterpret_cast<std::uint64_t>(lea_) + k_bytes_before_offset;
    auto const offset = load<std::int32_t>(at);
    return at + sizeof offset + static_cast<std::uint64_t>(std::int64_t{offset});
  }

 private:
  enum class met { a_move, the_end, the_unknown };
  struct wide {
    std::uint64_t low;
    std::uint64_t high;
  };

  template <class T> FILCH_NOT_SANITIZED static T load(std::uint64_t from) noexcept {
    struct __attribute__((packed, may_alias)) unaligned {
      T value;
    };
    return reinterpret_cast<unaligned const*>(from)->value;
  }
  template <class T> FILCH_NOT_SANITIZED static void store(std::uint64_t to, T value) noexcept {
    struct __attribute__((packed, may_alias)) unaligned {
      T value;
    };
    reinterpret_cast<unaligned*>(to)->value = value;
  }
  template <class T> T next() noexcept {
    T value{};
    if (used_ + sizeof value > k_most_bytes) return value;
    if (before_) {
      std::memcpy(&value, &before_->code_[used_], sizeof value);
    } else {
      value = load<T>(at_);
      std::memcpy(&code_[used_], &value, sizeof value);
    }
    used_ += sizeof value;
    at_ += sizeof value;
    return value;
  }

  /// A register, or an address.
  struct operand {
    bool is_register;
    bool is_code;  // an address relative to the instruction, never in the frame
    unsigned reg;
    std::uint64_t address;
  };

  /// ModRM, SIB and displacement. `more`: bytes of the instruction behind them.
  operand read_operand(unsigned& reg, unsigned more = 0) noexcept {
    auto const modrm = next<std::uint8_t>();
    unsigned const mod = modrm >> 6;
    unsigned const rm = modrm & 7;
    reg = (modrm >> 3 & 7) | (rex_ & 4) << 1;
    unsigned const rex_b = (rex_ & 1) << 3;
    if (mod == 3) return {true, false, rm | rex_b, 0};
    if (mod == 0 && rm == 5) {
      auto const offset = next<std::int32_t>();
      return {false, true, 0, at_ + more + static_cast<std::uint64_t>(std::int64_t{offset})};
    }
    std::uint64_t address = 0;
    bool has_word = mod == 2;
    if (rm == 4) {
      auto const sib = next<std::uint8_t>();
      unsigned const index = (sib >> 3 & 7) | (rex_ & 2) << 2;
      unsigned const base = sib & 7;
      if (index != rsp) address += r[index] << (sib >> 6);
      if (mod == 0 && base == rbp) {
        has_word = true;
      } else {
        address += r[base | rex_b];
      }
    } else {
      address += r[rm | rex_b];
    }
    if (mod == 1) address += static_cast<std::uint64_t>(std::int64_t{next<std::int8_t>()});
    if (has_word) address += static_cast<std::uint64_t>(std::int64_t{next<std::int32_t>()});
    return {false, false, 0, address};
  }

  template <class T> T get(operand const& o) noexcept {
    if (o.is_register) return static_cast<T>(r[o.reg]);
    return has_frame_ || o.is_code ? load<T>(o.address) : T{};
  }
  /// A write of four bytes clears the rest of a register.
  template <class T> void put(operand const& o, T value) noexcept {
    if (o.is_register) {
      r[o.reg] = value;
    } else if (has_frame_) {
      store<T>(o.address, value);
    }
  }

  void put_general(operand const& o, std::uint64_t value) noexcept {
    if (is_wide()) {
      put(o, value);
    } else {
      put(o, static_cast<std::uint32_t>(value));
    }
  }

  met one() noexcept {
    prefix_ = 0;
    rex_ = 0;
    bool is_thread_local = false;
    auto op = next<std::uint8_t>();
    for (;; op = next<std::uint8_t>()) {
      if (op == 0x66 || op == 0xf2 || op == 0xf3) {
        prefix_ = op;
      } else if (op == 0x64) {
        is_thread_local = true;
      } else if (!is_padding(op)) {
        break;
      }
    }
    if ((op & 0xf0) == 0x40) {
      rex_ = op & 0x0f;
      op = next<std::uint8_t>();
    }
    if (is_thread_local) return is_the_end(op) ? met::the_end : met::the_unknown;
    if (op == 0xa5 && prefix_ == 0xf3) return copy_words() ? met::a_move : met::the_unknown;
    if (op == 0x0f) return two_bytes(next<std::uint8_t>());
    return general(op) ? met::a_move : met::the_unknown;
  }

  /// Is it mov rax, fs:[rax], the load of implicit_offering's variable?
  bool is_the_end(std::uint8_t op) noexcept {
    if (op != 0x8b || rex_ != 8 || next<std::uint8_t>() != 0) return false;
    std::uint64_t begin;
    asm("movq %%fs:0, %0" : "=r"(begin));
    if (begin + r[rax] != reinterpret_cast<std::uint64_t>(&filch_implicit_offering)) return false;
    constexpr std::uint64_t k_bytes_of_look = 4;
    lea_ = before_ ? before_->lea_ : lea_of_offering(reinterpret_cast<std::uint8_t const*>(at_ - k_bytes_of_look));
    return lea_ != nullptr;
  }

  /// rep movs, whose count is a constant.
  bool copy_words() noexcept {
    constexpr std::uint64_t k_most_words = 16;
    if (!has_frame_ && r[rcx] > k_most_words) return false;
    for (; r[rcx] != 0; --r[rcx]) {
      operand const from{false, false, 0, r[rsi]};
      put_general({false, false, 0, r[rdi]}, is_wide() ? get<std::uint64_t>(from) : get<std::uint32_t>(from));
      r[rsi] += is_wide() ? 8 : 4;
      r[rdi] += is_wide() ? 8 : 4;
    }
    return true;
  }

  bool is_wide() const noexcept { return (rex_ & 8) != 0; }

  bool general(std::uint8_t op) noexcept {
    if (prefix_ != 0 && op != 0x90) return false;
    unsigned reg = 0;
    switch (op) {
      case 0x89: {  // mov
        operand const to = read_operand(reg);
        put_general(to, r[reg]);
        return !(to.is_register && to.reg == rsp);
      }
      case 0x8b: {
        operand const from = read_operand(reg);
        r[reg] = is_wide() ? get<std::uint64_t>(from) : get<std::uint32_t>(from);
        return reg != rsp;
      }
      case 0x8d: {  // lea
        operand const from = read_operand(reg);
        r[reg] = is_wide() ? from.address : static_cast<std::uint32_t>(from.address);
        return reg != rsp && !from.is_register;
      }
      case 0x31:
      case 0x33: {  // xor, with itself
        operand const with = read_operand(reg);
        r[reg] = 0;
        return with.is_register && with.reg == reg;
      }
      case 0xc7: {  // mov, a constant
        operand const to = read_operand(reg, 4);
        auto const value = next<std::int32_t>();
        put_general(to, static_cast<std::uint64_t>(std::int64_t{value}));
        return (reg & 7) == 0;
      }
      case 0xeb: {  // jmp
        auto const offset = next<std::int8_t>();
        at_ += static_cast<std::uint64_t>(std::int64_t{offset});
        return true;
      }
      case 0xe9: {
        auto const offset = next<std::int32_t>();
        at_ += static_cast<std::uint64_t>(std::int64_t{offset});
        return true;
      }
      case 0x90: return prefix_ != 0xf2;  // nop
      default: break;
    }
    if ((op & 0xf8) != 0xb8) return false;
    reg = (op & 7) | (rex_ & 1) << 3;
    r[reg] = is_wide() ? next<std::uint64_t>() : next<std::uint32_t>();
    return reg != rsp;
  }

  met two_bytes(std::uint8_t op) noexcept {
    unsigned reg = 0;
    if (op == 0x1e && prefix_ == 0xf3)
      return next<std::uint8_t>() == 0xfa ? met::a_move : met::the_unknown;  // endbr64
    if (op == 0x1f) {                                                        // nop
      read_operand(reg);
      return met::a_move;
    }
    if (op == 0xb6 || op == 0xb7) {  // movzx
      if (prefix_ != 0) return met::the_unknown;
      operand const from = read_operand(reg);
      if (from.is_register && op == 0xb6) return met::the_unknown;
      r[reg] = op == 0xb6 ? get<std::uint8_t>(from) : get<std::uint16_t>(from);
      return met::a_move;
    }
    return vector(op) ? met::a_move : met::the_unknown;
  }

  wide get_vector(operand const& o, unsigned bytes) noexcept {
    if (o.is_register) return x_[o.reg];
    if (!has_frame_ && !o.is_code) return {};
    if (bytes == 4) return {load<std::uint32_t>(o.address), 0};
    return {load<std::uint64_t>(o.address), bytes == 16 ? load<std::uint64_t>(o.address + 8) : 0};
  }
  void put_vector(operand const& o, wide const& value, unsigned bytes) noexcept {
    if (o.is_register) {
      x_[o.reg] = value;
    } else if (has_frame_ && bytes == 4) {
      store(o.address, static_cast<std::uint32_t>(value.low));
    } else if (has_frame_) {
      store(o.address, value.low);
      if (bytes == 16) store(o.address + 8, value.high);
    }
  }

  bool vector(std::uint8_t op) noexcept {
    unsigned reg = 0;
    bool const is_double = prefix_ == 0x66;
    switch (op) {
      case 0x10:
      case 0x11:  // movups movupd movss movsd
      case 0x28:  // movaps movapd
      case 0x29:
      case 0x6f:  // movdqa movdqu
      case 0x7f: {
        bool const is_scalar = (op & 0xfe) == 0x10 && (prefix_ & 0xf0) == 0xf0;
        if (prefix_ == 0 && (op & 0x0f) == 0x0f) return false;  // mmx
        if ((op & 0xfe) == 0x28 && (prefix_ & 0xf0) == 0xf0) return false;
        unsigned const bytes = !is_scalar ? 16 : prefix_ == 0xf3 ? 4 : 8;
        operand const other = read_operand(reg);
        if (is_scalar && other.is_register) return false;  // the rest of the register stays
        bool const is_store = op == 0x11 || op == 0x29 || op == 0x7f;
        is_store ? put_vector(other, x_[reg], bytes)
                 : put_vector({true, false, reg, 0}, get_vector(other, bytes), bytes);
        return true;
      }
      case 0x6e: {  // movd movq to a vector register
        operand const from = read_operand(reg);
        x_[reg] = {is_wide() ? get<std::uint64_t>(from) : get<std::uint32_t>(from), 0};
        return is_double;
      }
      case 0x7e: {
        operand const other = read_operand(reg);
        if (prefix_ == 0xf3) {
          x_[reg] = {get_vector(other, 8).low, 0};
          return true;
        }
        std::uint64_t const low = x_[reg].low;
        put_general(other, low);
        return is_double && !(other.is_register && other.reg == rsp);
      }
      case 0xd6: {  // movq from a vector register
        operand const to = read_operand(reg);
        put_vector(to, {x_[reg].low, 0}, 8);
        return is_double;
      }
      case 0x12:
      case 0x13:  // movlps movlpd
      case 0x16:
      case 0x17: {  // movhps movhpd
        operand const other = read_operand(reg);
        if (other.is_register || (prefix_ != 0 && !is_double)) return false;
        std::uint64_t& half = op < 0x14 ? x_[reg].low : x_[reg].high;
        if (op & 1) {
          put(other, half);
        } else {
          half = get<std::uint64_t>(other);
        }
        return true;
      }
      case 0x62: {  // punpckldq
        operand const other = read_operand(reg);
        std::uint64_t const a = x_[reg].low;
        std::uint64_t const b = get_vector(other, 16).low;
        x_[reg] = {(a & 0xffffffff) | b << 32, a >> 32 | (b >> 32 << 32)};
        return is_double;
      }
      case 0x6c: {  // punpcklqdq
        operand const other = read_operand(reg);
        x_[reg].high = get_vector(other, 16).low;
        return is_double;
      }
      case 0x57:
      case 0xef: {  // xorps pxor, with itself
        operand const with = read_operand(reg);
        x_[reg] = {};
        return with.is_register && with.reg == reg && (op == 0x57 ? prefix_ == 0 || is_double : is_double);
      }
      default: return false;
    }
  }

  std::uint64_t at_;
  std::uint8_t const* lea_ = nullptr;  // the lea of implicit_offering's statement, once found
  pad_code const* before_ = nullptr;
  bool const has_frame_ = false;
  std::size_t used_ = 0;
  std::array<std::uint8_t, k_most_bytes> code_;  // the bytes that it has followed, in order; used_ of them
  std::uint8_t prefix_ = 0;
  unsigned rex_ = 0;
  std::array<wide, 16> x_{};
};

}  // namespace

bool can_read_pad(std::uint64_t pad) noexcept { return pad_code(pad).follow(); }

bool read_pad(implicit_state& s, join_frame const& f, void const* exception) noexcept {
  pad_code look(f.pad);
  if (!look.follow()) return false;
  pad_code p(f.pad, look);
  p.r[rax] = reinterpret_cast<std::uint64_t>(exception);
  p.r[rdx] = f.selector;
  p.r[rbx] = f.rbx;
  p.r[rbp] = f.rbp;
  p.r[r12] = f.r12;
  p.r[r13] = f.r13;
  p.r[r14] = f.r14;
  p.r[r15] = f.r15;
  p.r[rsp] = f.pad_rsp;
  if (!p.follow()) __builtin_trap();  // the same code
  s = {p.r[rbx], p.r[rbp], p.r[r12], p.r[r13], p.r[r14], p.r[r15], f.pad_rsp, p.goes_on_at(),
       p.r[rcx], p.r[rdx], p.r[rsi], p.r[rdi], p.r[r8],  p.r[r9],  p.r[r10],  0};
  return true;
}

}  // namespace filch::inline FILCH_ABI::detail

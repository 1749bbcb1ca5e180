// Reads a landing pad instead of running it: decodes the moves that compilers write on the way to implicit_offering's
// statement, and executes them on any thread. Called when a frame is entered (enter_pad.cpp), and to find out whether
// it can be read (call_frames.cpp). See protocol.md, "A join frame". A decoder, so long: encodings are from AMD64
// Architecture Programmer's Manual, volume 3, chapter 1 and appendix A.
#include "schedulers/implicit/unwind/pad_reader.hpp"

#include "schedulers/implicit/unwind/pad_scanner.hpp"
#include "schedulers/implicit/unwind/walk.hpp"

#include <algorithm>

namespace filch::inline FILCH_ABI::detail {
namespace {

enum : std::uint8_t { rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8, r9, r10, r11, r12, r13, r14, r15 };

constexpr std::size_t k_most_bytes = 512;
constexpr std::size_t k_longest_instruction = 32;  // with padding

/// Follows the code at a landing pad. Loads nothing from a frame and stores nothing there.
class pad_code {
 public:
  /// Appends the moves to `to`, if that is not null.
  explicit pad_code(std::uint64_t pad, pad_moves* to = nullptr) noexcept : at_(pad), to_(to) {}

  /// Follows the code to the load of the thread-local variable in implicit_offering. False: it met something else
  /// than moves.
  bool follow() noexcept {
    for (std::size_t i = 0; i < pad_moves::k_most && used_ < k_most_bytes - k_longest_instruction; ++i) {
      move_ = {};
      switch (one()) {
        case met::a_move:
          if (move_.what == kind::nothing) break;
          known_.execute<pad_registers::frame::skipped>(move_);
          if (to_) to_->of[to_->count++] = move_;
          break;
        case met::the_end:
          if (to_) to_->goes_on_at = goes_on_at();
          return true;
        case met::the_unknown: return false;
      }
    }
    return false;
  }

 private:
  enum class met { a_move, the_end, the_unknown };
  using kind = pad_move::kind;

  /// The address that the lea of implicit_offering's statement gives.
  std::uint64_t goes_on_at() const noexcept {
    constexpr std::uint64_t k_bytes_before_offset = 3;
    std::uint64_t const at = reinterpret_cast<std::uint64_t>(lea_) + k_bytes_before_offset;
    auto const offset = word_at<std::int32_t>(at);
    return at + sizeof offset + static_cast<std::uint64_t>(std::int64_t{offset});
  }
  template <class T> T next() noexcept {
    if (used_ + sizeof(T) > k_most_bytes) return T{};
    auto const value = word_at<T>(at_);
    if (to_) to_->code.append(at_, &value, sizeof value);
    used_ += sizeof value;
    at_ += sizeof value;
    return value;
  }

  /// ModRM, SIB and displacement, into the move's operand and register. `more`: bytes of the instruction behind them.
  pad_operand const& read_operand(unsigned more = 0) noexcept {
    pad_operand& o = move_.other;
    auto const modrm = next<std::uint8_t>();
    unsigned const mod = modrm >> 6;
    unsigned const rm = modrm & 7;
    move_.reg = static_cast<std::uint8_t>((modrm >> 3 & 7) | (rex_ & 4) << 1);
    unsigned const rex_b = (rex_ & 1) << 3;
    if (mod == 3) {
      o.is_register = true;
      o.reg = static_cast<std::uint8_t>(rm | rex_b);
      return o;
    }
    if (mod == 0 && rm == 5) {
      o.is_code = true;
      auto const offset = next<std::int32_t>();
      o.offset = static_cast<std::int64_t>(at_ + more) + offset;
      return o;
    }
    bool has_word = mod == 2;
    if (rm == 4) {
      auto const sib = next<std::uint8_t>();
      unsigned const index = (sib >> 3 & 7) | (rex_ & 2) << 2;
      unsigned const base = sib & 7;
      if (index != rsp) o.index = static_cast<std::uint8_t>(index);
      o.shift = sib >> 6;
      if (mod == 0 && base == rbp) {
        has_word = true;
      } else {
        o.reg = static_cast<std::uint8_t>(base | rex_b);
      }
    } else {
      o.reg = static_cast<std::uint8_t>(rm | rex_b);
    }
    if (mod == 1) o.offset = next<std::int8_t>();
    if (has_word) o.offset = next<std::int32_t>();
    return o;
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
    if (op == 0xa5 && prefix_ == 0xf3) return copies_words() ? met::a_move : met::the_unknown;
    if (op == 0x0f) return two_bytes(next<std::uint8_t>());
    return general(op) ? met::a_move : met::the_unknown;
  }

  /// Is it mov rax, fs:[rax], the load of implicit_offering's variable?
  bool is_the_end(std::uint8_t op) noexcept {
    if (op != 0x8b || rex_ != 8 || next<std::uint8_t>() != 0) return false;
    if (thread_pointer() + known_.r[rax] != reinterpret_cast<std::uint64_t>(&filch_implicit_offering)) return false;
    constexpr std::uint64_t k_bytes_of_look = 4;
    lea_ = lea_of_offering(reinterpret_cast<std::uint8_t const*>(at_ - k_bytes_of_look));
    return lea_ != nullptr;
  }

  /// rep movs, whose count is a constant.
  bool copies_words() noexcept {
    constexpr std::uint64_t k_most_words = 16;
    is(kind::copy_words, general_bytes());
    return known_.r[rcx] <= k_most_words;
  }

  std::uint8_t general_bytes() const noexcept { return (rex_ & 8) != 0 ? 8 : 4; }
  void is(kind what, unsigned bytes) noexcept {
    move_.what = what;
    move_.bytes = static_cast<std::uint8_t>(bytes);
  }
  void is_constant(std::uint8_t reg, unsigned bytes, std::uint64_t value) noexcept {
    is(kind::constant, bytes);
    move_.other = {.is_register = true, .reg = reg};
    move_.value = value;
  }

  bool general(std::uint8_t op) noexcept {
    if (prefix_ != 0 && op != 0x90) return false;
    switch (op) {
      case 0x89: {  // mov
        pad_operand const& to = read_operand();
        is(kind::store, general_bytes());
        return !(to.is_register && to.reg == rsp);
      }
      case 0x8b:
        read_operand();
        is(kind::load, general_bytes());
        return move_.reg != rsp;
      case 0x8d: {  // lea
        pad_operand const& from = read_operand();
        is(kind::load_address, general_bytes());
        return move_.reg != rsp && !from.is_register;
      }
      case 0x31:
      case 0x33: {  // xor, with itself
        pad_operand const with = read_operand();
        is_constant(move_.reg, 8, 0);
        return with.is_register && with.reg == move_.reg;
      }
      case 0xc7: {  // mov, a constant
        pad_operand const& to = read_operand(4);
        is(kind::constant, general_bytes());
        move_.value = static_cast<std::uint64_t>(std::int64_t{next<std::int32_t>()});
        return (move_.reg & 7) == 0 && !(to.is_register && to.reg == rsp);
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
    auto const reg = static_cast<std::uint8_t>((op & 7) | (rex_ & 1) << 3);
    unsigned const bytes = general_bytes();
    is_constant(reg, bytes, bytes == 8 ? next<std::uint64_t>() : next<std::uint32_t>());
    return reg != rsp;
  }

  met two_bytes(std::uint8_t op) noexcept {
    if (op == 0x1e && prefix_ == 0xf3)
      return next<std::uint8_t>() == 0xfa ? met::a_move : met::the_unknown;  // endbr64
    if (op == 0x1f) {                                                        // nop
      read_operand();
      return met::a_move;
    }
    if (op == 0xb6 || op == 0xb7) {  // movzx
      if (prefix_ != 0) return met::the_unknown;
      pad_operand const& from = read_operand();
      is(kind::load, op == 0xb6 ? 1 : 2);
      return (from.is_register && op == 0xb6) || move_.reg == rsp ? met::the_unknown : met::a_move;
    }
    return vector(op) ? met::a_move : met::the_unknown;
  }

  bool vector(std::uint8_t op) noexcept {
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
        bool const is_store = op == 0x11 || op == 0x29 || op == 0x7f;
        pad_operand const& other = read_operand();
        is(is_store ? kind::store_vector : kind::load_vector, !is_scalar ? 16 : prefix_ == 0xf3 ? 4 : 8);
        return !(is_scalar && other.is_register);  // the rest of the register would stay
      }
      case 0x6e:  // movd movq to a vector register
        read_operand();
        is(kind::load_from_word, general_bytes());
        return is_double;
      case 0x7e: {
        pad_operand const& other = read_operand();
        if (prefix_ == 0xf3) {
          is(kind::load_vector, 8);
          return true;
        }
        is(kind::store_as_word, general_bytes());
        return is_double && !(other.is_register && other.reg == rsp);
      }
      case 0xd6:  // movq from a vector register
        read_operand();
        is(kind::store_vector, 8);
        return is_double;
      case 0x12:
      case 0x13:  // movlps movlpd
      case 0x16:
      case 0x17: {  // movhps movhpd
        pad_operand const& other = read_operand();
        if (other.is_register || (prefix_ != 0 && !is_double)) return false;
        bool const is_low = op < 0x14;
        bool const is_store = (op & 1) != 0;
        if (is_low) {
          is(is_store ? kind::store_low : kind::load_low, 8);
        } else {
          is(is_store ? kind::store_high : kind::load_high, 8);
        }
        return true;
      }
      case 0x62:  // punpckldq
        read_operand();
        is(kind::interleave_four, 16);
        return is_double;
      case 0x6c:  // punpcklqdq
        read_operand();
        is(kind::interleave_eight, 16);
        return is_double;
      case 0x57:
      case 0xef: {  // xorps pxor, with itself
        pad_operand const& with = read_operand();
        is(kind::clear_vector, 16);
        return with.is_register && with.reg == move_.reg && (op == 0x57 ? prefix_ == 0 || is_double : is_double);
      }
      default: return false;
    }
  }

  std::uint64_t at_;
  pad_moves* const to_;
  std::uint8_t const* lea_ = nullptr;  // the lea of implicit_offering's statement, once found
  std::size_t used_ = 0;               // bytes that it has followed
  std::uint8_t prefix_ = 0;
  unsigned rex_ = 0;
  pad_move move_{};
  pad_registers known_;  // constants are right
};

void execute(implicit_state& s, pad_moves const& moves, join_frame const& f, void const* exception) noexcept {
  pad_registers p;
  auto& r = p.r;
  r[rax] = reinterpret_cast<std::uint64_t>(exception);
  r[rdx] = f.selector;
  r[rbx] = f.rbx;
  r[rbp] = f.rbp;
  r[r12] = f.r12;
  r[r13] = f.r13;
  r[r14] = f.r14;
  r[r15] = f.r15;
  r[rsp] = f.pad_rsp;
  for (std::size_t i = 0; i < moves.count; ++i) p.execute<pad_registers::frame::accessed>(moves.of[i]);
  s = {r[rbx], r[rbp], r[r12], r[r13], r[r14], r[r15], f.pad_rsp, moves.goes_on_at,
       r[rcx], r[rdx], r[rsi], r[rdi], r[r8],  r[r9],  r[r10],    0};
}

}  // namespace

bool can_read_pad(std::uint64_t pad) noexcept { return pad_code(pad).follow(); }

pad_moves const* pad_cache::find(std::uint64_t pad) noexcept {
  auto const place_of = [this](std::uint64_t wanted) {
    return static_cast<std::size_t>(std::find(pads_.begin(), pads_.end(), wanted) - pads_.begin());
  };
  std::size_t place = place_of(pad);
  if (place < k_pads && moves_[place].code.are_still_there()) [[likely]]
    return &moves_[place];
  if (place == k_pads) place = place_of(0);  // an empty one
  bool const is_in_use = place == k_pads;
  if (is_in_use) place = oldest_;
  pad_moves& moves = moves_[place];
  moves.count = 0;
  moves.code = {};
  bool const can_be_read = pad_code(pad, &moves).follow();
  bool const is_kept = can_be_read && moves.code.is_whole();
  pads_[place] = is_kept ? pad : 0;
  if (is_in_use && is_kept) oldest_ = (oldest_ + 1) % k_pads;
  return can_be_read ? &moves : nullptr;
}

bool read_pad(implicit_state& s, join_frame const& f, void const* exception, pad_cache* cache) noexcept {
  if (cache) [[likely]] {
    pad_moves const* const moves = cache->find(f.pad);
    if (moves) execute(s, *moves, f, exception);
    return moves != nullptr;
  }
  pad_moves moves;
  if (!pad_code(f.pad, &moves).follow()) return false;
  execute(s, moves, f, exception);
  return true;
}

}  // namespace filch::inline FILCH_ABI::detail

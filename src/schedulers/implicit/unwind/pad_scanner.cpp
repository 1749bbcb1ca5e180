// Follows the code of a landing pad by the lengths of its instructions, and looks for a path to implicit_offering's
// statement without a call or a push. A decoder: the tables are AMD64 Architecture Programmer's Manual, volume 3,
// chapter 1 and appendix A.
#include "schedulers/implicit/unwind/pad_scanner.hpp"

#include "schedulers/implicit/unwind/tables.hpp"
#include "schedulers/implicit/unwind/walk.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>

namespace filch::inline FILCH_ABI::detail {
namespace {

/// The operands behind an opcode.
enum operands : unsigned char {
  none,
  m,       // ModRM and its displacement
  b,       // a byte
  z,       // a word of the operand's size, at most four bytes
  v,       // a word of the operand's size, at most eight bytes
  mb,      // ModRM and a byte
  mz,      // ModRM and a word
  test_b,  // ModRM, and a byte if ModRM says `test`
  test_z,  // ModRM, and a word if ModRM says `test`
  jb,      // a jump with a one-byte offset
  jz,      // a jump with a four-byte offset
  cb,      // the same, conditional
  cz,
  to_rm,  // m, mb and mz whose result may be the stack pointer
  to_rm_b,
  to_rm_z,
  to_reg,
  maybe,  // ModRM; a call, a jump or a push if ModRM says so
  never,  // writes to the stack, leaves the function, or does not exist
};

/// A range of opcodes, both ends included.
struct opcodes {
  std::size_t from;
  std::size_t to;
  operands what;
};

constexpr std::array<operands, 256> table_of(std::initializer_list<opcodes> rows) {
  std::array<operands, 256> t{};
  t.fill(never);
  for (opcodes const& row : rows) {
    for (std::size_t i = row.from; i <= row.to; ++i) t[i] = row.what;
  }
  return t;
}

constexpr std::array<operands, 256> one_byte() {
  auto t = table_of({
      {0x63, 0x63, m},       {0x69, 0x69, mz},      {0x6b, 0x6b, mb},   {0x70, 0x7f, cb},    {0x80, 0x80, mb},
      {0x81, 0x81, to_rm_z}, {0x83, 0x83, to_rm_b}, {0x84, 0x88, m},    {0x89, 0x89, to_rm}, {0x8a, 0x8a, m},
      {0x8b, 0x8b, to_reg},  {0x8d, 0x8d, to_reg},  {0x90, 0x93, none}, {0x95, 0x99, none},  {0x9b, 0x9b, none},
      {0x9e, 0x9f, none},    {0xa4, 0xa7, none},    {0xa8, 0xa8, b},    {0xa9, 0xa9, z},     {0xaa, 0xaf, none},
      {0xb0, 0xb7, b},       {0xb8, 0xbf, v},       {0xc0, 0xc1, mb},   {0xc6, 0xc6, mb},    {0xc7, 0xc7, mz},
      {0xd0, 0xd3, m},       {0xd8, 0xdf, m},       {0xe9, 0xe9, jz},   {0xeb, 0xeb, jb},    {0xf5, 0xf5, none},
      {0xf6, 0xf6, test_b},  {0xf7, 0xf7, test_z},  {0xf8, 0xfd, none}, {0xfe, 0xfe, m},     {0xff, 0xff, maybe},
  });
  constexpr std::size_t k_compare = 0x38;
  for (std::size_t i = 0; i <= k_compare; i += 8) {  // arithmetic
    bool const writes = i != k_compare;
    t[i] = t[i + 2] = m;
    t[i + 1] = writes ? to_rm : m;
    t[i + 3] = writes ? to_reg : m;
    t[i + 4] = b;
    t[i + 5] = z;
  }
  return t;
}

constinit std::array<operands, 256> const k_one_byte = one_byte();
/// Opcodes behind 0x0f, or behind a vector prefix.
constinit std::array<operands, 256> const k_two_bytes = table_of({
    {0x0d, 0x0d, m},    {0x10, 0x1f, m}, {0x28, 0x2f, m},  {0x40, 0x6f, m}, {0x70, 0x73, mb},   {0x74, 0x76, m},
    {0x77, 0x77, none}, {0x78, 0x7f, m}, {0x80, 0x8f, cz}, {0x90, 0x9f, m}, {0xa3, 0xa3, m},    {0xa4, 0xa4, mb},
    {0xa5, 0xa5, m},    {0xab, 0xab, m}, {0xac, 0xac, mb}, {0xad, 0xb8, m}, {0xba, 0xba, mb},   {0xbb, 0xc1, m},
    {0xc2, 0xc2, mb},   {0xc3, 0xc3, m}, {0xc4, 0xc6, mb}, {0xc7, 0xc7, m}, {0xc8, 0xcf, none}, {0xd0, 0xfe, m},
});

/// More than landing pads have: sanitizers put a branch before each access.
constexpr int k_most_instructions = 1024;
constexpr std::size_t k_most_ways = 64;
constexpr unsigned k_stack_pointer = 4;
constexpr std::uint8_t k_breakpoint = 0xcc;

std::uint8_t const* past_padding(std::uint8_t const* at) noexcept {
  while (is_padding(*at)) ++at;
  return at;
}

template <std::size_t N> bool is_at(std::uint8_t const* at, std::array<std::uint8_t, N> const& code) noexcept {
  return std::equal(code.begin(), code.end(), at);
}

/// Does the instruction before `look` load the place of this copy's filch_implicit_offering? In a program with two
/// copies of the library each enters its own frames only.
bool loads_own_variable(std::uint8_t const* look) noexcept {
  constexpr std::array<std::uint8_t, 3> k_from_table{0x48, 0x8b, 0x05};  // mov rax, [rip + d]
  constexpr std::array<std::uint8_t, 3> k_constant{0x48, 0xc7, 0xc0};    // mov rax, d: linkers make it of the other
  constexpr std::size_t k_bytes = 7;
  std::uint8_t const* const load = look - k_bytes;
  std::int32_t d = 0;
  std::memcpy(&d, load + 3, sizeof d);
  std::uint64_t place = static_cast<std::uint64_t>(std::int64_t{d});
  if (is_at(load, k_from_table)) {
    std::memcpy(&place, reinterpret_cast<void const*>(reinterpret_cast<std::uint64_t>(look) + place), sizeof place);
  } else if (!is_at(load, k_constant)) {
    return false;
  }
  return thread_pointer() + place == reinterpret_cast<std::uint64_t>(&filch_implicit_offering);
}

class pad_scanner {
 public:
  /// Does a path from there lead to the statement?
  bool comes_to_the_end(std::uint64_t at) noexcept {
    std::array<std::uint64_t, k_most_ways> left_out;  // the other sides of branches that it took
    std::size_t ways = 0;
    auto const code_at = [](std::uint64_t address) {
      return table_reader(reinterpret_cast<std::uint8_t const*>(address));
    };
    table_reader r = code_at(at);
    for (int i = 0; i < k_most_instructions; ++i) {
      if (lea_of_offering(r.at()) && loads_own_variable(r.at())) return true;
      instruction const it = one(r);
      auto const next = reinterpret_cast<std::uint64_t>(r.at());
      if (it.what == instruction::last) {
        if (ways == 0) return false;
        r = code_at(left_out[--ways]);
      } else if (it.what != instruction::plain) {
        if (it.what == instruction::branch && ways != k_most_ways) left_out[ways++] = next;
        r = code_at(next + static_cast<std::uint64_t>(it.distance));
      }
    }
    return false;
  }

  /// `look`: address of the statement's load. The lea follows behind a test and a branch; null: it does not.
  std::uint8_t const* lea_behind(std::uint8_t const* look) noexcept {
    constexpr std::array<std::uint8_t, 3> k_lea{0x4c, 0x8d,
                                                0x1d};  // to r11, relative to rip: compilers do not write it
    constexpr int k_instructions = 8;                   // test, branch and padding
    table_reader r(look);
    for (int i = 0; i < k_instructions; ++i) {
      auto const what = one(r).what;
      if (what == instruction::last || what == instruction::jump) return nullptr;
      std::uint8_t const* const next = past_padding(r.at());
      if (is_at(next, k_lea)) return next;
    }
    return nullptr;
  }

  bool has_met_breakpoint() const noexcept { return has_met_breakpoint_; }

 private:
  struct instruction {
    enum { plain, jump, branch, last } what = plain;
    std::int64_t distance = 0;
  };

  instruction one(table_reader& r) noexcept {
    rex_ = 0;
    has_short_operands_ = false;
    std::uint8_t op = r.byte();
    for (;; op = r.byte()) {
      if (op == 0x66) {
        has_short_operands_ = true;
      } else if (!is_padding(op) && op != 0x64 && op != 0x65 && op != 0xf0 && op != 0xf2 && op != 0xf3) {
        break;
      }
    }
    if ((op & 0xf0) == 0x40) {
      rex_ = op & 0x0f;
      op = r.byte();
    }
    switch (op) {
      case k_breakpoint: has_met_breakpoint_ = true; return {instruction::last};
      case 0x0f: return after_0f(r);
      case 0xc5: r.skip(1); return of_map(1, r);
      case 0xc4: {
        unsigned const map = r.byte() & 0x1f;
        r.skip(1);
        return of_map(map, r);
      }
      case 0x62: {
        unsigned const map = r.byte() & 0x07;
        r.skip(2);
        return of_map(map, r);
      }
      default: return rest(k_one_byte[op], r);
    }
  }
  instruction after_0f(table_reader& r) noexcept {
    std::uint8_t const op = r.byte();
    if (op != 0x38 && op != 0x3a) return rest(k_two_bytes[op], r);
    r.skip(1);
    return rest(op == 0x38 ? m : mb, r);
  }
  /// Behind a vector prefix of three or four bytes.
  instruction of_map(unsigned map, table_reader& r) noexcept {
    std::uint8_t const op = r.byte();
    switch (map) {
      case 1: return rest((op & 0xf0) == 0x80 ? m : k_two_bytes[op], r);  // operations on masks, not jumps
      case 2: return rest(m, r);
      case 3: return rest(mb, r);
      default: return {instruction::last};
    }
  }

  instruction rest(operands what, table_reader& r) noexcept {
    unsigned const word = has_short_operands_ ? 2 : 4;
    std::uint8_t const modrm = *r.at();
    unsigned const reg = modrm >> 3 & 7;
    bool const rm_is_stack_pointer = (modrm & 0xc7) == (0xc0 | k_stack_pointer) && (rex_ & 1) == 0;
    constexpr unsigned k_compare = 7;
    switch (what) {
      case none: return {};
      case b: r.skip(1); return {};
      case z: r.skip(word); return {};
      case v: r.skip((rex_ & 8) ? 8 : word); return {};
      case m: operand(r); return {};
      case mb:
        operand(r);
        r.skip(1);
        return {};
      case mz:
        operand(r);
        r.skip(word);
        return {};
      case test_b:
        operand(r);
        r.skip(reg < 2 ? 1 : 0);
        return {};
      case test_z:
        operand(r);
        r.skip(reg < 2 ? word : 0);
        return {};
      case to_rm:
        if (rm_is_stack_pointer) return {instruction::last};
        operand(r);
        return {};
      case to_rm_b:
      case to_rm_z:
        if (rm_is_stack_pointer && reg != k_compare) return {instruction::last};
        operand(r);
        r.skip(what == to_rm_b ? 1 : word);
        return {};
      case to_reg:
        if (reg == k_stack_pointer && (rex_ & 4) == 0) return {instruction::last};
        operand(r);
        return {};
      case maybe:
        if (reg > 1) return {instruction::last};
        operand(r);
        return {};
      case jb: return {instruction::jump, r.fixed<std::int8_t>()};
      case jz: return {instruction::jump, r.fixed<std::int32_t>()};
      case cb: return {instruction::branch, r.fixed<std::int8_t>()};
      case cz: return {instruction::branch, r.fixed<std::int32_t>()};
      case never: break;
    }
    return {instruction::last};
  }

  /// ModRM, SIB and displacement.
  static void operand(table_reader& r) noexcept {
    std::uint8_t const modrm = r.byte();
    unsigned const mod = modrm >> 6;
    unsigned const rm = modrm & 7;
    if (mod == 3) return;
    bool has_word = mod == 2 || (mod == 0 && rm == 5);
    if (rm == 4 && (r.byte() & 7) == 5 && mod == 0) has_word = true;
    r.skip(mod == 1 ? 1 : has_word ? 4 : 0);
  }

  unsigned rex_ = 0;
  bool has_short_operands_ = false;
  bool has_met_breakpoint_ = false;
};

}  // namespace

std::uint8_t const* lea_of_offering(std::uint8_t const* at) noexcept {
  constexpr std::array<std::uint8_t, 4> k_look{0x64, 0x48, 0x8b, 0x00};  // mov rax, fs:[rax]
  at = past_padding(at);
  return is_at(at, k_look) ? pad_scanner().lea_behind(at) : nullptr;
}

pad_scan scan_pad(std::uint64_t pad) noexcept {
  pad_scanner scanner;
  if (scanner.comes_to_the_end(pad)) return pad_scan::may_run;
  return scanner.has_met_breakpoint() ? pad_scan::has_breakpoint : pad_scan::may_not_run;
}

bool may_run_pad(std::uint64_t pad) noexcept { return scan_pad(pad) == pad_scan::may_run; }

}  // namespace filch::inline FILCH_ABI::detail

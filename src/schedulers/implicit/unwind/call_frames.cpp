// From a frame to its caller: executes the call-frame instructions of a function once for each return address, and
// keeps the result in a compact form that step() applies. Called by the walk (walk.hpp). A decoder: the long switch
// is DWARF's list of instructions.
#include "schedulers/implicit/unwind/call_frames.hpp"

#include "schedulers/implicit/unwind/landing_pads.hpp"
#include "schedulers/implicit/unwind/pad_reader.hpp"
#include "schedulers/implicit/unwind/pad_scanner.hpp"
#include "schedulers/implicit/unwind/tables.hpp"

#include <algorithm>
#include <limits>

namespace filch::inline FILCH_ABI::detail {
namespace {

// DWARF's numbers for x86-64.
constexpr std::uint64_t k_stack_pointer = 7;
constexpr std::uint64_t k_return_address = 16;
constexpr std::uint64_t k_unknown_register = ~std::uint64_t{0};

/// The frame_registers name of DWARF's register; k_unknown_register: a register that functions do not preserve.
std::uint64_t preserved(std::uint64_t dwarf) noexcept {
  switch (dwarf) {
    case 3: return frame_registers::rbx;
    case 6: return frame_registers::rbp;
    case k_stack_pointer: return frame_registers::rsp;
    case 12: return frame_registers::r12;
    case 13: return frame_registers::r13;
    case 14: return frame_registers::r14;
    case 15: return frame_registers::r15;
    default: return k_unknown_register;
  }
}

using rule = call_frame_rule;
using rules = call_frame_rules;

/// Reads the expression "register + offset", or the word stored there. Compilers use no other one, for frames that
/// they align.
bool read_expression(std::uint8_t const* from, std::uint64_t bytes, std::uint64_t& reg, std::int64_t& offset,
                     bool& in_memory) noexcept {
  constexpr std::uint8_t k_breg0 = 0x70;
  constexpr std::uint8_t k_deref = 0x06;
  table_reader r(from);
  std::uint8_t const op = r.byte();
  if (op < k_breg0 || op > k_breg0 + 31) return false;
  reg = static_cast<std::uint64_t>(op - k_breg0);
  offset = r.signed_leb();
  in_memory = r.at() != from + bytes && r.byte() == k_deref;
  return r.at() == from + bytes;
}

/// Reads the expression that linkers write for the entries of a procedure linkage table: rsp + 8, and 8 more behind
/// an entry's push.
bool read_linkage_expression(std::uint8_t const* from, std::uint64_t bytes, std::uint64_t pc,
                             std::int64_t& offset) noexcept {
  // rsp + 8 + ((rip & 15 >= n) << 3)
  constexpr std::array<std::uint8_t, 11> k_written{0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x30, 0x2a, 0x33, 0x24, 0x22};
  constexpr std::size_t k_n = 6;
  for (std::size_t i = 0; i < k_written.size(); ++i) {
    if (bytes != k_written.size() || (i != k_n && from[i] != k_written[i])) return false;
  }
  offset = (pc & 15) + k_written[k_n] >= from[k_n] ? 16 : 8;
  return true;
}

class machine {
 public:
  machine(function_tables const& d, std::uint64_t pc, call_frame_scratch& scratch) noexcept
      : d_(d), pc_(pc), at_(d.start), now_(scratch.now), initial_(scratch.initial), memory_(scratch.remembered) {
    now_ = {};
  }

  /// Null: an instruction that it does not know.
  rules const* run() noexcept {
    if (!run(d_.common_program, d_.common_program_end, true)) return nullptr;
    initial_ = now_;
    return run(d_.program, d_.program_end, false) ? &now_ : nullptr;
  }

 private:
  rule* of(std::uint64_t reg) noexcept { return reg < rules::k_registers ? &now_.of[reg] : nullptr; }
  void set(std::uint64_t reg, rule r) noexcept {
    if (rule* const to = of(reg)) *to = r;
  }
  std::int64_t scaled(std::uint64_t n) const noexcept { return static_cast<std::int64_t>(n) * d_.data_factor; }

  bool run(std::uint8_t const* from, std::uint8_t const* to, bool is_common) noexcept {
    table_reader r(from);
    while (r.at() < to && at_ <= pc_) {
      std::uint8_t const op = r.byte();
      std::uint64_t const low = op & 0x3f;
      switch (op & 0xc0) {
        case 0x40: at_ += low * d_.code_factor; continue;
        case 0x80: set(low, {rule::at_frame_address, 0, scaled(r.unsigned_leb())}); continue;
        case 0xc0: restore(low, is_common); continue;
        default: break;
      }
      if (!extended(op, r, is_common)) return false;
    }
    return true;
  }

  void restore(std::uint64_t reg, bool is_common) noexcept {
    if (!is_common && reg < rules::k_registers) now_.of[reg] = initial_.of[reg];
  }

  bool extended(std::uint8_t op, table_reader& r, bool is_common) noexcept {
    switch (op) {
      case 0x00: return true;  // nop
      case 0x02: at_ += r.byte() * d_.code_factor; return true;
      case 0x03: at_ += r.fixed<std::uint16_t>() * d_.code_factor; return true;
      case 0x04: at_ += r.fixed<std::uint32_t>() * d_.code_factor; return true;
      case 0x05: {  // offset_extended
        std::uint64_t const reg = r.unsigned_leb();
        set(reg, {rule::at_frame_address, 0, scaled(r.unsigned_leb())});
        return true;
      }
      case 0x06: restore(r.unsigned_leb(), is_common); return true;
      case 0x07: set(r.unsigned_leb(), {rule::unknown, 0, 0}); return true;
      case 0x08: set(r.unsigned_leb(), {rule::same, 0, 0}); return true;
      case 0x09: {  // register: the value is in another register, which no function preserves
        std::uint64_t const reg = r.unsigned_leb();
        r.unsigned_leb();
        set(reg, {rule::unknown, 0, 0});
        return true;
      }
      case 0x0a:  // remember_state
        if (remembered_ == memory_.size()) return false;
        memory_[remembered_++] = now_;
        return true;
      case 0x0b:  // restore_state
        if (remembered_ == 0) return false;
        memory_[--remembered_].arguments = now_.arguments;  // remember_state does not save it
        now_ = memory_[remembered_];
        return true;
      case 0x0c:  // def_cfa
        define(r.unsigned_leb());
        now_.frame_address_offset = static_cast<std::int64_t>(r.unsigned_leb());
        return true;
      case 0x0d: define(r.unsigned_leb()); return true;
      case 0x0e: now_.frame_address_offset = static_cast<std::int64_t>(r.unsigned_leb()); return true;
      case 0x0f: {  // def_cfa_expression
        std::uint64_t const bytes = r.unsigned_leb();
        now_.frame_address_known = read_expression(r.at(), bytes, now_.frame_address_register,
                                                   now_.frame_address_offset, now_.frame_address_in_memory);
        if (read_linkage_expression(r.at(), bytes, pc_, now_.frame_address_offset)) {
          define(k_stack_pointer);
        }
        r.skip(bytes);
        return true;
      }
      case 0x10: {  // expression
        std::uint64_t const reg = r.unsigned_leb();
        std::uint64_t const bytes = r.unsigned_leb();
        rule x{rule::at_register, 0, 0};
        bool in_memory = false;
        if (!read_expression(r.at(), bytes, x.base, x.offset, in_memory) || in_memory) x = {rule::unknown, 0, 0};
        set(reg, x);
        r.skip(bytes);
        return true;
      }
      case 0x11: {  // offset_extended_sf
        std::uint64_t const reg = r.unsigned_leb();
        set(reg, {rule::at_frame_address, 0, r.signed_leb() * d_.data_factor});
        return true;
      }
      case 0x12:  // def_cfa_sf
        define(r.unsigned_leb());
        now_.frame_address_offset = r.signed_leb() * d_.data_factor;
        return true;
      case 0x13: now_.frame_address_offset = r.signed_leb() * d_.data_factor; return true;
      case 0x16: {  // val_expression
        std::uint64_t const reg = r.unsigned_leb();
        r.skip(r.unsigned_leb());
        set(reg, {rule::unknown, 0, 0});
        return true;
      }
      case 0x2e: now_.arguments = r.unsigned_leb(); return true;  // GNU_args_size
      default: return false;
    }
  }
  void define(std::uint64_t reg) noexcept {
    now_.frame_address_register = reg;
    now_.frame_address_in_memory = false;
    now_.frame_address_known = true;
  }

  function_tables const& d_;
  std::uint64_t const pc_;
  std::uint64_t at_;
  rules& now_;
  rules& initial_;
  decltype(call_frame_scratch::remembered)& memory_;
  std::size_t remembered_ = 0;
};

bool fits_short(std::int64_t x) noexcept {
  return x >= std::numeric_limits<std::int16_t>::min() && x <= std::numeric_limits<std::int16_t>::max();
}

/// Does a word at that offset lie below the frame address, and near it?
bool is_below_frame_address(std::int64_t offset) noexcept { return offset <= -8 && fits_short(offset); }

/// False: a rule that step() needs is unknown.
bool put_rules(rules const& from, call_frame& to) noexcept {
  std::uint64_t const base = preserved(from.frame_address_register);
  rule const& ret = from.of[k_return_address];
  if (!from.frame_address_known || base == k_unknown_register || ret.where != rule::at_frame_address) return false;
  if (!is_below_frame_address(ret.offset)) return false;
  to.reach = static_cast<std::uint32_t>(-ret.offset);
  for (std::uint64_t reg = 0; reg < k_return_address; ++reg) {
    std::uint64_t const name = preserved(reg);
    rule const& x = from.of[reg];
    if (name == k_unknown_register || name == frame_registers::rsp || x.where == rule::same) continue;
    std::uint64_t const where = x.where == rule::at_frame_address ? call_frame::k_frame_address : preserved(x.base);
    if (x.where == rule::unknown || where == k_unknown_register || !fits_short(x.offset)) return false;
    if (where == call_frame::k_frame_address && is_below_frame_address(x.offset)) {
      to.reach = std::max(to.reach, static_cast<std::uint32_t>(-x.offset));
    } else {
      to.saves_anywhere = true;
    }
    to.save[to.saves++] = {static_cast<std::uint8_t>(name), static_cast<std::uint8_t>(where),
                           static_cast<std::int16_t>(x.offset)};
  }
  to.frame_address_register = static_cast<std::uint8_t>(base);
  to.frame_address_offset = static_cast<std::int32_t>(from.frame_address_offset);
  to.return_address_offset = static_cast<std::int32_t>(ret.offset);
  to.arguments = static_cast<std::uint32_t>(from.arguments);
  to.frame_address_is = from.frame_address_in_memory ? call_frame::base::memory : call_frame::base::value;
  return true;
}

void find_use(call_frame& f) noexcept {
  f.pad_is = pad_use::unfit;
  f.has_breakpoint = false;
  if (f.pad == 0) return;
  if (can_read_pad(f.pad)) {
    f.pad_is = pad_use::read;
    return;
  }
  pad_scan const scan = scan_pad(f.pad);
  if (scan == pad_scan::may_run) f.pad_is = pad_use::run;
  f.has_breakpoint = scan == pad_scan::has_breakpoint;
}

}  // namespace

bool is_function(std::uint64_t at) noexcept {
  function_tables d;
  bool is_in_program = false;
  return find_tables(at, d, is_in_program);
}

call_frame find_call_frame(std::uint64_t ip, bool is_return_address, call_frame_scratch& scratch) noexcept {
  call_frame f;
  f.ip = ip;
  std::uint64_t const pc = is_return_address ? ip - 1 : ip;
  function_tables d;
  if (!find_tables(pc, d, f.is_in_program)) return f;
  if (!f.is_in_program) f.check = checksum_of(d);
  if (d.is_barrier) return f;
  rules const* const r = machine(d, pc, scratch).run();
  if (!r || !put_rules(*r, f)) return f;
  if (is_return_address) {
    landing_pad const pad = find_landing_pad(d.exceptions, d.start, ip);
    f.pad = pad.address;
    f.selector = pad.selector;
    f.may_have_pad = pad.is_unknown;
    find_use(f);
  }
  return f;
}

/// A library may have been unloaded, and another one loaded in its place.
bool call_frame_cache::is_unchanged(call_frame& f) noexcept {
  if (f.is_in_program || f.checked_in == walk_) [[likely]]
    return true;
  function_tables d;
  bool is_in_program = false;
  ++checks_;
  f.checked_in = walk_;
  if (!find_tables(f.ip - 1, d, is_in_program) || is_in_program || checksum_of(d) != f.check) return false;
  find_use(f);
  return true;
}

call_frame& call_frame_cache::find(std::uint64_t ip) noexcept {
  call_frame* const set = set_of(ip);
  call_frame* place = nullptr;
  for (std::size_t i = 0; i < k_ways; ++i) {
    if (set[i].ip == 0) {  // empty, though it may hold a frame with a breakpoint
      if (!place) place = &set[i];
    } else if (set[i].ip == ip) [[likely]] {
      if (is_unchanged(set[i])) [[likely]]
        return set[i];
      place = &set[i];
      break;
    }
  }
  call_frame& f = place ? *place : set[decoded_ % k_ways];
  ++decoded_;
  f = find_call_frame(ip, true, scratch_);
  f.checked_in = walk_;
  if (!f.is_in_program) ++checks_;
  if (f.has_breakpoint) f.ip = 0;
  return f;
}

}  // namespace filch::inline FILCH_ABI::detail

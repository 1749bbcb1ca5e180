// Walking a stack by the call-frame information of its functions (DWARF 5, section 6.4, as in .eh_frame), a few
// nanoseconds a frame: what was once worked out for a return address is remembered.
#pragma once

#include <filch/detail/platform.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace filch::inline FILCH_ABI::detail {

/// The registers that a function preserves for its caller, by these numbers, and where the code goes on.
struct frame_registers {
  enum name : unsigned char { rbx, rbp, r12, r13, r14, r15, rsp, count };

  std::array<std::uint64_t, count> r;
  std::uint64_t ip;

  std::uint64_t operator[](name n) const noexcept { return r[n]; }
};

/// How to land in a frame.
enum class pad_use : unsigned char {
  unfit,  // not at all: something is called on its landing pad
  run,    // may_run_pad()
  read,   // can_read_pad()
};

/// How to get from a frame to its caller's, and its landing pad for a continuation, if it has one.
struct call_frame {
  enum class base : unsigned char {
    none,
    value,
    memory
  };  // of the frame address: register + offset, or what is there

  struct saved {
    std::uint8_t what;  // frame_registers::name
    std::uint8_t from;  // a register's name, or k_frame_address
    std::int16_t offset;
  };
  static constexpr std::uint8_t k_frame_address = 0xff;

  std::uint64_t ip = 0;   // 0: an empty entry
  std::uint64_t pad = 0;  // 0: none
  std::uint32_t selector = 0;
  std::uint32_t arguments = 0;         // bytes of them that were pushed for the call, and are gone on the landing pad
  base frame_address_is = base::none;  // none: the stack ends here, or nothing is known
  std::uint8_t frame_address_register = 0;
  std::uint8_t saves = 0;
  bool is_in_program = false;  // in the main program, which is never unloaded
  pad_use pad_is = pad_use::unfit;
  bool may_have_pad = false;    // whether it has one, and where, is not known
  bool has_breakpoint = false;  // on the pad: to be looked at again
  bool saves_anywhere = false;  // some are found through another register than the frame address, or above it
  std::int32_t frame_address_offset = 0;
  std::int32_t return_address_offset = 0;  // from the frame address
  std::uint32_t reach = 0;                 // unless saves_anywhere: so many bytes below the frame address are read
  std::array<saved, 6> save{};
  std::uint64_t check = 0;       // of the tables it was made from, where they may be unloaded
  call_frame* caller = nullptr;  // in the same memory: whose frame came next in the last walk
};

/// Where a register of the caller is.
struct call_frame_rule {
  enum { same, at_frame_address, at_register, unknown } where = same;
  std::uint64_t base = 0;  // DWARF's number
  std::int64_t offset = 0;
};

struct call_frame_rules {
  static constexpr std::size_t k_registers = 17;
  std::array<call_frame_rule, k_registers> of{};
  bool frame_address_in_memory = false;
  bool frame_address_known = true;
  std::uint64_t frame_address_register = 0;
  std::int64_t frame_address_offset = 0;
  std::uint64_t arguments = 0;
};

/// What is needed while a frame is worked out: more than a signal stack may have room for.
struct call_frame_scratch {
  call_frame_rules now;
  call_frame_rules initial;
  std::array<call_frame_rules, 8> remembered;
};

/// For the address of an instruction about to be executed, or a return address.
call_frame find_call_frame(std::uint64_t ip, bool is_return_address, call_frame_scratch&) noexcept;

/// What one thread remembers.
class call_frame_cache {
 public:
  call_frame_cache(call_frame_cache const&) = delete;
  call_frame_cache& operator=(call_frame_cache const&) = delete;

  /// Of an instruction about to be executed. It is not remembered.
  call_frame of_instruction(std::uint64_t ip) noexcept { return find_call_frame(ip, false, scratch_); }
  /// For a return address. Never fails; what is not known ends a walk.
  call_frame& at(std::uint64_t ip) noexcept;
  /// The same, where a walk comes from `callee`: nobody waits for the address of what was there last time, too.
  call_frame& caller_of(call_frame& callee, std::uint64_t ip) noexcept {
    if (callee.caller && callee.caller->ip == ip && callee.caller->is_in_program) [[likely]]
      return *callee.caller;
    return *(callee.caller = &at(ip));
  }
  void forget_all() noexcept {
    for (std::size_t i = 0; i <= last_; ++i) entries_[i].ip = 0;
  }

 protected:
  call_frame_cache(call_frame* entries, std::size_t number) noexcept : entries_(entries), last_(number - 1) {}

 private:
  call_frame* const entries_;
  std::size_t const last_;
  call_frame_scratch scratch_;
};
template <std::size_t Entries> struct call_frame_entries {
  std::array<call_frame, Entries> entries{};
};
template <std::size_t Entries>
class sized_call_frame_cache : private call_frame_entries<Entries>, public call_frame_cache {
  static_assert((Entries & (Entries - 1)) == 0);

 public:
  sized_call_frame_cache() noexcept : call_frame_cache(this->entries.data(), Entries) {}
};

/// Where the words of a stack may lie.
struct stack_bounds {
  std::uint64_t low;
  std::uint64_t high;

  bool hold_word(std::uint64_t at) const noexcept { return at % 8 == 0 && at >= low && at < high && high - at >= 8; }
};

/// From a frame to its caller's. False where the stack ends, and where call-frame information is wrong: code in the
/// middle of a function may use a frame pointer for something else. Nothing is read but words of the stack, and the
/// caller's frame lies above.
inline bool step(frame_registers& at, call_frame const& f, stack_bounds const& stack) noexcept {
  if (f.frame_address_is == call_frame::base::none) return false;
  std::uint64_t const below = at.r[frame_registers::rsp];
  std::uint64_t address =
      at.r[f.frame_address_register] + static_cast<std::uint64_t>(std::int64_t{f.frame_address_offset});
  auto const word_at = [](std::uint64_t a) { return *reinterpret_cast<std::uint64_t const*>(a); };
  if (f.frame_address_is == call_frame::base::memory) {
    if (!stack.hold_word(address)) return false;
    address = word_at(address);
  }
  if (address <= below || address > stack.high || address < stack.low || address - stack.low < f.reach) return false;
  if (address % 8 != 0) return false;
  if (!f.saves_anywhere) [[likely]] {
    for (unsigned i = 0; i < f.saves; ++i) {
      at.r[f.save[i].what] = word_at(address + static_cast<std::uint64_t>(std::int64_t{f.save[i].offset}));
    }
  } else {
    frame_registers const before = at;
    for (unsigned i = 0; i < f.saves; ++i) {
      call_frame::saved const& s = f.save[i];
      std::uint64_t const base = s.from == call_frame::k_frame_address ? address : before.r[s.from];
      std::uint64_t const from = base + static_cast<std::uint64_t>(std::int64_t{s.offset});
      if (!stack.hold_word(from)) return false;
      at.r[s.what] = word_at(from);
    }
  }
  at.ip = word_at(address + static_cast<std::uint64_t>(std::int64_t{f.return_address_offset}));
  at.r[frame_registers::rsp] = address;
  return true;
}

}  // namespace filch::inline FILCH_ABI::detail

/// The registers of the caller, as they are when this returns.
extern "C" void filch_implicit_registers(filch::detail::frame_registers*) noexcept;

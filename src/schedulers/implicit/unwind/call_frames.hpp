// Walking a stack by the call-frame information of its functions (DWARF 5, section 6.4, as in .eh_frame). Each thread
// keeps the result for each return address, so that a walk takes a few nanoseconds a frame. Private to this folder;
// the rest of implicit includes walk.hpp.
#pragma once

#include <filch/detail/platform.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace filch::inline FILCH_ABI::detail {

/// The registers that a function preserves for its caller, and the address at which its code continues.
struct frame_registers {
  enum name : unsigned char { rbx, rbp, r12, r13, r14, r15, rsp, count };

  std::array<std::uint64_t, count> r;
  std::uint64_t ip;

  std::uint64_t operator[](name n) const noexcept { return r[n]; }
};

/// How the landing pad of a frame can be entered.
enum class pad_use : unsigned char {
  unfit,  // in no way: the code on the pad calls something
  run,    // by running it: may_run_pad()
  read,   // by reading it: can_read_pad()
};

/// How to get from a frame to its caller's frame, and the frame's landing pad for a continuation.
struct call_frame {
  /// How the frame address is found: not at all, as register + offset, or as the word at that address.
  enum class base : unsigned char { none, value, memory };

  struct saved {
    std::uint8_t what;  // frame_registers::name
    std::uint8_t from;  // a register's name, or k_frame_address
    std::int16_t offset;
  };
  static constexpr std::uint8_t k_frame_address = 0xff;

  std::uint64_t ip = 0;                // return address; 0: an empty entry
  std::uint64_t pad = 0;               // address of the landing pad; 0: none
  std::uint32_t selector = 0;          // rdx on the landing pad
  std::uint32_t arguments = 0;         // bytes of pushed arguments, which are gone on the landing pad
  base frame_address_is = base::none;  // none: the stack ends here, or the tables do not say
  std::uint8_t frame_address_register = 0;
  std::uint8_t saves = 0;
  bool is_in_program = false;  // code of the main program, which is never unloaded
  pad_use pad_is = pad_use::unfit;
  bool may_have_pad = false;    // the exception table can't be read
  bool has_breakpoint = false;  // a breakpoint on the pad: the next walk looks again
  bool saves_anywhere = false;  // a register is saved above the frame address, or relative to another register
  std::int32_t frame_address_offset = 0;
  std::int32_t return_address_offset = 0;  // from the frame address
  std::uint32_t reach = 0;                 // bytes below the frame address that step() reads, unless saves_anywhere
  std::array<saved, 6> save{};
  std::uint64_t check = 0;       // checksum of the tables, outside the main program
  std::uint64_t checked_in = 0;  // number of the walk that compared it last
  call_frame* caller = nullptr;  // cache entry of the caller in the last walk
};

/// Where a register of the caller is saved.
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

/// Memory for find_call_frame(). A signal stack may be too small for it.
struct call_frame_scratch {
  call_frame_rules now;
  call_frame_rules initial;
  std::array<call_frame_rules, 8> remembered;
};

/// Do call-frame tables say that a function's code is there?
bool is_function(std::uint64_t at) noexcept;

/// `ip`: a return address, or the address of the next instruction.
call_frame find_call_frame(std::uint64_t ip, bool is_return_address, call_frame_scratch&) noexcept;

/// The call frames that one thread has worked out.
class call_frame_cache {
 public:
  call_frame_cache(call_frame_cache const&) = delete;
  call_frame_cache& operator=(call_frame_cache const&) = delete;

  /// For the address of the next instruction. The result is not kept.
  call_frame of_instruction(std::uint64_t ip) noexcept { return find_call_frame(ip, false, scratch_); }
  /// For a return address, with which a walk begins. Never fails; a walk ends at an entry without a frame address.
  call_frame& at(std::uint64_t ip) noexcept {
    ++walk_;
    return find(ip);
  }
  /// The same for the caller of `callee`. Keeps the last caller in the callee's entry: the processor need not wait
  /// for the hash of the address. During a walk no library is unloaded whose code it meets, so each is checked once.
  call_frame& caller_of(call_frame& callee, std::uint64_t ip) noexcept {
    call_frame* const last = callee.caller;
    if (last && last->ip == ip && ip != 0 && (last->is_in_program || last->checked_in == walk_)) [[likely]]
      return *last;
    return *(callee.caller = &find(ip));
  }
  /// How often tables outside the main program were read or compared.
  std::uint64_t checks() const noexcept { return checks_; }
  /// How often call-frame instructions were executed for a return address.
  std::uint64_t decoded() const noexcept { return decoded_; }
  void forget_all() noexcept {
    for (std::size_t i = 0; i < k_ways << log2_sets_; ++i) entries_[i].ip = 0;
  }

 protected:
  /// Entries of a set. A return address may be in any entry of its set. The frames of a walk lie anywhere in a
  /// process, at random addresses: with sets of one entry, two frames of a join put each other out in every tenth
  /// process.
  static constexpr std::size_t k_ways = 4;

  /// The entries are k_ways << log2_sets.
  call_frame_cache(call_frame* entries, int log2_sets) noexcept : entries_(entries), log2_sets_(log2_sets) {}

 private:
  call_frame* set_of(std::uint64_t ip) const noexcept {
    constexpr std::uint64_t k_golden_ratio = 0x9e3779b97f4a7c15;
    return &entries_[k_ways * (ip * k_golden_ratio >> (64 - log2_sets_))];
  }
  call_frame& find(std::uint64_t ip) noexcept;
  bool is_unchanged(call_frame& f) noexcept;

  call_frame* const entries_;
  int const log2_sets_;
  std::uint64_t decoded_ = 0;  // also says which entry of a full set makes room
  std::uint64_t walk_ = 0;
  std::uint64_t checks_ = 0;
  call_frame_scratch scratch_;
};
template <std::size_t Entries> struct call_frame_entries {
  std::array<call_frame, Entries> entries{};
};
template <std::size_t Entries>
class sized_call_frame_cache : private call_frame_entries<Entries>, public call_frame_cache {
  static_assert(std::has_single_bit(Entries) && Entries >= 2 * k_ways);

 public:
  sized_call_frame_cache() noexcept
      : call_frame_cache(this->entries.data(), std::countr_zero(Entries) - std::countr_zero(k_ways)) {}
};

/// The addresses of a stack.
struct stack_bounds {
  std::uint64_t low;
  std::uint64_t high;

  bool hold_word(std::uint64_t at) const noexcept { return at % 8 == 0 && at >= low && at < high && high - at >= 8; }
};

/// From a frame to its caller's frame. False: the stack ends, or the call-frame information is wrong (assembly in the
/// middle of a function may use the frame pointer for something else). Reads words of the stack only; the caller's
/// frame lies above.
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

/// Stores the registers of the caller as they are after the call.
extern "C" void filch_implicit_registers(filch::detail::frame_registers*) noexcept;

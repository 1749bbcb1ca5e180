// The state of the check, and the check of an access.
#pragma once

#include "races/history.hpp"
#include "races/off_the_record.hpp"

namespace filch::races {

enum class access_kind : std::uint8_t { read, write, atomic_read, atomic_write, free };

/// All of it belongs to the checked thread.
struct checker {
  section_sets sets;
  shadow_memory shadow;
  histories lists;
  section_id section = 0;    // that runs
  lock_set locks = 0;        // that it holds
  lock_set local_locks = 0;  // the same and, if it has a value of a worker_local, k_local_lock
  std::uint32_t stays = 0;   // how many filch::stay are around it
  bool has_local = false;
  bool dropped_last = false;  // the section has counted an atomic down to zero
  bool reports_atomics = false;
  address stack_low = 0;  // of the stack on which it runs
  address stack_high = 0;
  address thread_low = 0;  // of its thread-local variables
  address thread_high = 0;
  std::uint64_t forks = 0;
};
extern constinit checker now;

/// Once, before any other function here.
void make_tables() noexcept;

/// An access of [a, a + bytes). Out of line: all that the compilers' entry points do not do themselves.
void check_slow(address a, std::size_t bytes, access_kind kind, address pc) noexcept;
/// The same for whole words and many of them.
void check_slow_range(address a, std::size_t bytes, access_kind kind, address pc) noexcept;
/// Memory is new, or was given back: what is known of it does not matter.
void forget(address from, address end) noexcept;
/// Memory of a value of a worker_local.
void mark_local(address from, address end) noexcept;
/// The section changes: what it held for itself ends.
void end_section() noexcept;
/// A fork is about to begin: ids for it must exist.
void renumber_if_full() noexcept;

inline bool is_on_stack(address a) noexcept { return a - now.stack_low < now.stack_high - now.stack_low; }
inline bool is_thread_local(address a) noexcept { return a - now.thread_low < now.thread_high - now.thread_low; }
/// Was the memory a frame of code that ended with the branch of that parallel section? Or is it thread-local: then
/// sections that use it at the same time have another one each?
inline bool is_dead(section_id of, address a) noexcept {
  return is_thread_local(a) || (is_on_stack(a) && a < now.sets.place_of(of).stack);
}

/// The common cases of a cell that stands for a word (Mark is 0) or for two (k_is_double). False: there is more to
/// do.
template <std::uint32_t Mark, bool Writes> inline bool is_known(cell const& c) noexcept {
  section_id const mine = now.section | Mark;
  return c.write == mine || (!Writes && c.read == mine);
}
template <std::uint32_t Mark> inline void set_write(cell& c, address pc) noexcept {
  c.write = now.section | Mark;
  c.write_pc = static_cast<std::uint32_t>(pc);
  c.write_call = me.calls->current();
}
template <std::uint32_t Mark> inline void set_read(cell& c, address pc) noexcept {
  c.read = now.section | Mark;
  c.read_pc = static_cast<std::uint32_t>(pc);
  c.read_call = me.calls->current();
}
template <std::uint32_t Mark, bool Writes>
inline bool access_cell(cell& c, [[maybe_unused]] address a, address pc) noexcept {
  if (is_known<Mark, Writes>(c)) return true;
  if ((c.write & k_has_list) != 0 || (c.read & k_is_local) != 0 || now.local_locks != 0) return false;
  if (now.sets.is_parallel(c.write & ~Mark)) return false;
  bool const read_is_parallel = now.sets.is_parallel(c.read & ~Mark);
  if constexpr (Writes) {
    if (read_is_parallel) return false;
    set_write<Mark>(c, pc);
  } else {
    if (read_is_parallel) return !is_dead(c.read & ~Mark, a);  // that read stays
    set_read<Mark>(c, pc);
  }
  return true;
}
/// The same for eight bytes.
template <bool Writes> inline bool access_double(cell& c, address a, address pc) noexcept {
  if ((c.write & k_is_double) != 0 || shadow_memory::unite(c)) return access_cell<k_is_double, Writes>(c, a, pc);
  bool const is_first_done = access_cell<0, Writes>(c, a, pc);
  return access_cell<0, Writes>(shadow_memory::second(c), a + k_word, pc) && is_first_done;
}
/// A part of the same that calls nothing, and so needs no stack.
template <bool Writes> inline bool is_done_at_once(cell& c, address a, address pc) noexcept {
  if ((c.write & k_is_double) == 0 || now.local_locks != 0) return false;
  if (!now.sets.is_known_serial(c.write & ~k_is_double)) return false;
  section_id const read = c.read & ~k_is_double;
  if (now.sets.is_known_serial(read)) {
    Writes ? set_write<k_is_double>(c, pc) : set_read<k_is_double>(c, pc);
    return true;
  }
  return !Writes && now.sets.is_known_parallel(read) && !is_on_stack(a) && !is_thread_local(a);
}

/// The check of an access that the others have left.
template <std::size_t Bytes, bool Writes> [[gnu::noinline]] void check_rest(address a, address pc) noexcept {
  bool is_done = false;
  if constexpr (Bytes == k_word) {
    if (a % Bytes == 0) is_done = access_cell<0, Writes>(now.shadow.word_at(a), a, pc);
  } else if constexpr (Bytes > k_word) {
    // A chunk ends where a wider access that is not aligned may go on.
    if (a % Bytes == 0) {
      is_done = true;
      cell* const c = now.shadow.at(a);
      for (std::size_t i = 0; i != Bytes / k_double; ++i)
        is_done = access_double<Writes>(c[i], a + i * k_double, pc) && is_done;
    }
  }
  if (!is_done) check_slow(a, Bytes, Writes ? access_kind::write : access_kind::read, pc);
}
/// The check of an access that the section makes for the first time, or of an uncommon one.
template <std::size_t Bytes, bool Writes> [[gnu::noinline]] void check_first(address a, address pc) noexcept {
  if constexpr (Bytes == k_double) {
    if (a % Bytes == 0) {
      cell* const c = now.shadow.existing(a);
      if (c != nullptr && is_done_at_once<Writes>(*c, a, pc)) return;
    }
  }
  check_rest<Bytes, Writes>(a, pc);
}

/// The check of an access of 1, 2, 4, 8 or 16 bytes. Part of each entry point: it needs no stack.
template <std::size_t Bytes, bool Writes> inline void check(address a, address pc) noexcept {
  if (!me.checks) return;
  if constexpr (Bytes >= k_word) {
    cell const* const c = now.shadow.existing(a);
    if (a % Bytes == 0 && c != nullptr) {
      if constexpr (Bytes == k_word) {
        if (is_known<0, Writes>(shadow_memory::of_word(*c, a))) return;
      } else {
        bool is_all_known = true;
        for (std::size_t i = 0; i != Bytes / k_double; ++i)
          is_all_known = is_all_known && is_known<k_is_double, Writes>(c[i]);
        if (is_all_known) return;
      }
    }
  }
  check_first<Bytes, Writes>(a, pc);
}

}  // namespace filch::races

// The check of an access that the words of its cell alone do not decide: lists of accesses, and what is reported.
// compiled.cpp and strings.cpp call it for each access. Protocol: protocol.md.
#include "races/checker.hpp"

#include "os/linux/fatal.hpp"
#include "races/report.hpp"

#include <algorithm>

namespace filch::races {

constinit thread_local thread_words me{false, nullptr};
constinit checker now;

namespace {

constexpr std::uint8_t k_all_bytes = 0xf;

/// The list of a word, which is made of what its cell says.
std::uint32_t list_of(cell& c) noexcept {
  if ((c.write & k_has_list) != 0) return c.write & ~k_has_list;
  std::uint32_t const list = now.lists.make();
  if (c.write != 0) now.lists.add(list, {c.write, c.write_pc, c.write_call, 0, k_all_bytes, true, false, false});
  section_id const read = c.read & ~k_is_local;
  if (read != 0) now.lists.add(list, {read, c.read_pc, c.read_call, 0, k_all_bytes, false, false, false});
  c.write = list | k_has_list;
  c.read &= k_is_local;
  return list;
}

lock_set with_atomic_lock(lock_set set) noexcept {
  static lock_set before = 0;
  static lock_set with = with_lock(0, {k_atomic_lock, 0, false});
  if (set != before) with = with_lock(before = set, {k_atomic_lock, 0, false});
  return with;
}

/// The same access once more, as one of a list.
void check_in_list(cell& c, address a, access const& mine) noexcept {
  std::uint32_t const list = list_of(c);
  std::uint8_t covered = 0;
  now.lists.for_each(list, [&](access& other) {
    auto const common = static_cast<std::uint8_t>(other.bytes & mine.bytes);
    if (common == 0) return;
    bool const is_own = other.section == mine.section;
    if (!is_own && now.sets.is_parallel(other.section)) {
      if (is_dead(other.section, a)) {
        other.bytes &= static_cast<std::uint8_t>(~mine.bytes);
        return;
      }
      // A lock in such memory is another one for each of both.
      auto const is_one = [&](address lock) { return !is_dead(other.section, lock); };
      if ((other.writes || mine.writes) && !protects(other.locks, mine.locks, is_one)) report_race(a, other, mine);
      if (other.writes >= mine.writes && is_subset(other.locks, mine.locks)) covered |= common;
    } else if (is_own && other.writes >= mine.writes && is_subset(other.locks, mine.locks)) {
      covered |= common;
    } else if (mine.writes >= other.writes && is_subset_of_any_hold(mine.locks, other.locks)) {
      other.bytes &= static_cast<std::uint8_t>(~mine.bytes);
    }
  });
  access added = mine;
  added.bytes &= static_cast<std::uint8_t>(~covered);
  if (added.bytes != 0) now.lists.add(list, added);
}

/// A whole word without locks, in which something parallel was seen.
void check_in_cell(cell& c, address a, access const& mine) noexcept {
  if (c.write != mine.section && now.sets.is_parallel(c.write)) {
    if (is_dead(c.write, a)) {
      c.write = 0;
    } else {
      report_race(a, {c.write, c.write_pc, c.write_call, 0, k_all_bytes, true, false, false}, mine);
    }
  }
  bool const read_is_parallel = c.read != mine.section && now.sets.is_parallel(c.read);
  bool const read_is_dead = read_is_parallel && is_dead(c.read, a);
  if (mine.writes) {
    if (read_is_parallel && !read_is_dead) {
      report_race(a, {c.read, c.read_pc, c.read_call, 0, k_all_bytes, false, false, false}, mine);
    }
    if (read_is_parallel) c.read = 0;
    c.write = mine.section;
    c.write_pc = mine.pc;
    c.write_call = mine.call;
  } else if (!read_is_parallel || read_is_dead) {
    c.read = mine.section;
    c.read_pc = mine.pc;
    c.read_call = mine.call;
  }
}

void renumber() noexcept {
  section_sets& sets = now.sets;
  sets.begin_numbering();
  now.shadow.for_all([&](cell* c, std::size_t n) {
    for (; n != 0; --n, ++c) {
      constexpr std::uint32_t k_marks = k_is_local | k_is_double;
      c->read = sets.number(c->read & ~k_marks) | (c->read & k_marks);
      if ((c->write & k_has_list) == 0) {
        c->write = sets.number(c->write & ~k_is_double) | (c->write & k_is_double);
      } else {
        now.lists.for_each(c->write & ~k_has_list, [&](access& a) { a.section = sets.number(a.section); });
      }
    }
  });
  now.section = sets.number(now.section);
  for (fork_place* p = sets.newest(); p != nullptr; p = p->outer) {
    p->parent = sets.number(p->parent);
    p->parallel = sets.number(p->parallel);
  }
  sets.end_numbering();
  // Sections that go on get ids of their own. Else an older access of their set would look like one of theirs.
  auto const renew = [&](section_id& id) {
    if (id == 0) return;
    section_id const fresh = sets.begin();
    sets.unite(id, fresh);
    id = fresh;
  };
  renew(now.section);
  for (fork_place* p = sets.newest(); p != nullptr; p = p->outer) renew(p->parent);
}

}  // namespace

void make_tables() noexcept {
  now.sets.reserve();
  now.shadow.reserve();
  now.lists.reserve();
  now.section = now.sets.begin();
}

void check_slow(address a, std::size_t bytes, access_kind kind, address pc) noexcept {
  bool const writes = kind != access_kind::read && kind != access_kind::atomic_read;
  bool const is_atomic = kind == access_kind::atomic_read || kind == access_kind::atomic_write;
  bool const locks_itself = is_atomic && !now.reports_atomics;
  access mine{now.section, static_cast<std::uint32_t>(pc), me.calls->current(), 0, 0, writes,
              is_atomic,   kind == access_kind::free};
  address const end = a + bytes;
  while (a < end) {
    address const word = a & ~(k_word - 1);
    address const stop = std::min(word + k_word, end);
    mine.bytes = static_cast<std::uint8_t>(((1u << (stop - a)) - 1) << (a - word));
    cell& c = now.shadow.word_at(a);
    bool const is_local = (c.read & k_is_local) != 0;
    mine.locks = is_local ? now.local_locks : now.locks;
    if (locks_itself) mine.locks = with_atomic_lock(mine.locks);
    if (mine.bytes == k_all_bytes && mine.locks == 0 && !is_local && (c.write & k_has_list) == 0) {
      check_in_cell(c, a, mine);
    } else {
      check_in_list(c, a, mine);
    }
    a = stop;
  }
}

namespace {

template <bool Writes> void check_range_of(address a, address end, address pc) noexcept {
  constexpr access_kind k_kind = Writes ? access_kind::write : access_kind::read;
  while (a < end) {
    address const stop = std::min((a | (k_double - 1)) + 1, end);
    bool const is_whole = stop - a == k_double;
    if (!is_whole || !access_double<Writes>(*now.shadow.at(a), a, pc)) check_slow(a, stop - a, k_kind, pc);
    a = stop;
  }
}

void forget_cell(cell& c) noexcept {
  if ((c.write & k_has_list) != 0) now.lists.free(c.write & ~k_has_list);
  if (c.write != 0 || c.read != 0) c = {};
}

}  // namespace

void check_slow_range(address a, std::size_t bytes, access_kind kind, address pc) noexcept {
  switch (kind) {
    case access_kind::read: return check_range_of<false>(a, a + bytes, pc);
    case access_kind::write: return check_range_of<true>(a, a + bytes, pc);
    case access_kind::atomic_read:
    case access_kind::atomic_write:
    case access_kind::free: return check_slow(a, bytes, kind, pc);
  }
}

void forget(address from, address end) noexcept {
  from &= ~(k_word - 1);
  end = (end + k_word - 1) & ~(k_word - 1);
  auto const forget_word = [](address a) {
    if (now.shadow.existing(a) != nullptr) forget_cell(now.shadow.word_at(a));
  };
  if (from < end && from % k_double != 0) {
    forget_word(from);
    from += k_word;
  }
  if (from < end && end % k_double != 0) forget_word(end -= k_word);
  now.shadow.for_existing(from, end, [](cell* first, std::size_t n) {
    for (; n != 0; --n, ++first) {
      if ((first->write & k_is_double) == 0) forget_cell(shadow_memory::second(*first));
      forget_cell(*first);
    }
  });
}

void mark_local(address from, address end) noexcept {
  if (from == end) return;
  for (address a = from & ~(k_word - 1); a < end; a += k_word) now.shadow.word_at(a).read |= k_is_local;
}

void end_section() noexcept {
  now.has_local = now.dropped_last = false;
  now.local_locks = now.locks;
}

void renumber_if_full() noexcept {
  if (now.sets.is_nearly_full()) [[unlikely]]
    renumber();
}

}  // namespace filch::races

// Forks, joins, scopes and groups, as Filch's headers report them (filch/detail/race_hooks.hpp). Each one begins a
// section, or ends one. Protocol: protocol.md.
#include <filch/detail/caught.hpp>
#include <filch/detail/race_hooks.hpp>

#include "races/checker.hpp"
#include "races/runs.hpp"

#include <algorithm>

// The stack pointer of the function that calls the one with this, and where it continues.
#if defined(__x86_64__)
#define FILCH_CALLERS_STACK (reinterpret_cast<filch::races::address>(__builtin_frame_address(0)) + 16)
#else
#define FILCH_CALLERS_STACK (reinterpret_cast<filch::races::address>(__builtin_dwarf_cfa()))
#endif
#define FILCH_CALLERS_PC (reinterpret_cast<filch::races::address>(__builtin_return_address(0)))

namespace filch::races {
namespace {

enum : std::uint8_t { k_in_order, k_join, k_scope };

bool forks_here() noexcept { return me.checks && now.stays == 0; }

void begin_section() noexcept {
  end_section();
  now.section = now.sets.begin();
}

void set_locks(lock_set locks) noexcept { now.locks = now.local_locks = locks; }

void open_place(fork_place& place, std::uint8_t kind) noexcept {
  renumber_if_full();
  end_section();
  if (now.locks != 0) set_locks(across_fork(now.locks));
  place.kind = kind;
  place.depth = me.calls->depth();
  place.locks = now.locks;
  now.sets.add(place);
}

/// The place has tasks, and another one begins where `stack` is free.
void note_task(fork_place& place, address stack, address pc) noexcept {
  if (place.parallel != 0 && place.stack != stack) {
    // Writes of tasks between both are dead for one of them.
    forget(std::min(place.stack, stack), std::max(place.stack, stack));
    stack = std::min(place.stack, stack);
  }
  place.stack = stack;
  place.pc = pc;
  place.depth = me.calls->depth();
}

/// Runs a task of a place on the checked thread, whose frames are below `stack`. Returns its exception.
std::exception_ptr run_task(fork_place& place, address stack, void (*task)(void*), void* argument) noexcept {
  renumber_if_full();
  end_section();
  ++now.forks;
  fork_place inside{};  // holds the parent's id, which may get another number meanwhile
  now.sets.add(inside);
  inside.parent = now.section;
  if (now.locks != 0) set_locks(across_fork(now.locks));
  lock_set const locks = now.locks;
  std::uint32_t const depth = me.calls->depth();
  begin_section();
  me.calls->enter(place.pc, FILCH_CALLERS_STACK);
  std::exception_ptr failure;
  try {
    task(argument);
  } catch (...) {
    off_the_record const here;
    failure = detail::caught_exception();
  }
  me.calls->return_to(depth);
  // The place knows the lowest stack of its tasks only: frames of this one above it are dead, too.
  if (place.stack < stack) forget(place.stack, stack);
  now.sets.make_parallel(now.section, place);
  set_locks(locks);
  begin_section();
  now.sets.unite(inside.parent, now.section);
  now.sets.remove(inside);
  return failure;
}

void join_tasks(fork_place& place) noexcept {
  end_section();
  if (place.parallel == 0) return;
  now.sets.unite(now.section, place.parallel);
  place.parallel = 0;
}

}  // namespace

bool run_record::is_entered(void const* p) const noexcept {
  for (run_record const* r = this; r != nullptr; r = r->outer) {
    if (r->pool == p) return true;
  }
  return false;
}

void open_detached(fork_place& place) noexcept {
  open_place(place, k_scope);
  place.stack = now.stack_high;
}
void join_detached(fork_place& place) noexcept { join_tasks(place); }
/// The tasks of a call become those of its pool.
void keep_detached(fork_place& of_call, fork_place& of_pool) noexcept {
  now.sets.make_parallel(of_call.parallel, of_pool);
  of_call.parallel = 0;
}

}  // namespace filch::races

namespace filch::inline FILCH_ABI::detail {

using namespace races;

void race_join_begins(race_place& place) noexcept {
  place.kind = k_in_order;
  if (!forks_here()) return;
  open_place(place, k_join);
  place.stack = FILCH_CALLERS_STACK;
  place.pc = FILCH_CALLERS_PC;
  place.parent = now.section;
  ++now.forks;
  begin_section();
}

void race_join_turns(race_place& place) noexcept {
  if (place.kind == k_in_order) return;
  me.calls->return_to(place.depth);
  now.sets.make_parallel(now.section, place);
  set_locks(place.locks);
  begin_section();
}

void race_join_ends(race_place& place) noexcept {
  if (place.kind == k_in_order) return;
  now.sets.unite(place.parent, now.section);
  if (place.parallel != 0) now.sets.unite(place.parent, place.parallel);
  now.sets.remove(place);
  now.section = place.parent;
  set_locks(place.locks);
  end_section();
}

race_scope::race_scope() noexcept : place_{}, stays_(stays_here()) {
  if (forks_here()) open_place(place_, k_scope);
}

race_scope::~race_scope() {
  if (place_.kind == k_in_order) return;
  join_tasks(place_);
  now.sets.remove(place_);
}

void race_scope::spawn(void (*task)(void*), void* argument) {
  unsigned const number = spawned_++;
  std::exception_ptr failure;
  bool const is_in_inner_stay = stays_ != stays_here();
  if (place_.kind == k_in_order || !me.checks || is_in_inner_stay) {
    if (is_in_inner_stay) return task(argument);
    try {
      task(argument);
    } catch (...) {
      failure = caught_exception();
    }
  } else {
    note_task(place_, FILCH_CALLERS_STACK, FILCH_CALLERS_PC);
    failure = run_task(place_, FILCH_CALLERS_STACK, task, argument);
  }
  if (!failure) return;
  off_the_record const here;  // to the check the exception is the task's
  failure_.keep(failure, number);
  failure = nullptr;
}

void race_scope::sync() {
  spawned_ = 0;
  if (place_.kind != k_in_order) join_tasks(place_);
  failure_.throw_if_any();
}

void race_detach(void (*task)(void*), void* argument) noexcept {
  run_record* const run = my_run();
  if (run == nullptr || !run->is_checked || !forks_here()) return task(argument);
  note_task(run->detached, FILCH_CALLERS_STACK, FILCH_CALLERS_PC);
  if (run_task(run->detached, FILCH_CALLERS_STACK, task, argument)) std::terminate();
}

void race_barrier() noexcept {
  run_record* const run = my_run();
  if (run != nullptr && run->is_checked && forks_here()) join_tasks(run->detached);
}

race_staying::race_staying() noexcept {
  ++stays_here();
  if (me.checks) ++now.stays;
}
race_staying::~race_staying() {
  --stays_here();
  if (me.checks) --now.stays;
}

void race_locked(void const* lock) noexcept {
  if (!me.checks) return;
  now.locks = with_lock(now.locks, {name_of(lock), 0, false});
  now.local_locks = now.has_local ? with_lock(now.locks, {k_local_lock, 0, false}) : now.locks;
}

void race_unlocked(void const* lock) noexcept {
  if (!me.checks) return;
  now.locks = without_lock(now.locks, name_of(lock));
  now.local_locks = now.has_local ? with_lock(now.locks, {k_local_lock, 0, false}) : now.locks;
}

void race_has_local(void const* value, std::size_t bytes) noexcept {
  if (!me.checks) return;
  if (!now.has_local) {
    now.has_local = true;
    now.local_locks = with_lock(now.locks, {k_local_lock, 0, false});
  }
  auto const a = reinterpret_cast<address>(value);
  mark_local(a, a + bytes);
}

}  // namespace filch::inline FILCH_ABI::detail

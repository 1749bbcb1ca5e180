// libc's locks, and code that runs once, in place of libc's. The program calls them; each one tells locks.hpp what
// the thread holds.
#include <pthread.h>
#include <sched.h>

#include <cerrno>
#include <ctime>

#include <filch/detail/race_hooks.hpp>

#include "races/libc.hpp"
#include "races/once_words.hpp"

namespace filch::races {
namespace {

void locked(void const* lock, bool is_shared = false) noexcept {
  if (!me.checks) return;
  if (is_shared) {
    now.locks = with_lock(now.locks, {name_of(lock), 0, true});
    now.local_locks = now.has_local ? with_lock(now.locks, {k_local_lock, 0, false}) : now.locks;
  } else {
    detail::race_locked(lock);
  }
}

/// A section that runs code which all others wait for: it is parallel to those before it only. They may be nested.
class once_section {
 public:
  void begin() noexcept {
    renumber_if_full();
    place_ = {};
    now.sets.add(place_);
    place_.parent = now.section;
    now.section = now.sets.begin();
  }
  void end() noexcept {
    section_id const after = now.sets.begin();
    now.sets.unite(place_.parent, after);
    now.section = after;
    now.sets.remove(place_);
  }

 private:
  fork_place place_{};
};

constexpr unsigned k_most_once = 64;
constinit once_section running[k_most_once];
constinit unsigned once_depth = 0;

bool once_begins() noexcept {
  if (!me.checks || once_depth == k_most_once) return false;
  running[once_depth++].begin();
  return true;
}
void once_ends(bool has_begun) noexcept {
  if (has_begun && me.checks) running[--once_depth].end();
}

struct once_call {
  void (*routine)();
  once_call* outer;
};
constinit thread_local once_call* calls = nullptr;

void call_routine() {
  struct ends {
    bool const has_begun = once_begins();
    ~ends() { once_ends(has_begun); }
  } const here;
  calls->routine();
}

template <class Fn> Fn real(char const* name) noexcept { return reinterpret_cast<Fn>(original(name)); }

}  // namespace
}  // namespace filch::races

using namespace filch::races;

// A robust mutex whose holder has died is locked, too.
#define FILCH_LOCK_AFTER(name, type, is_shared, parameters, arguments)                     \
  FILCH_WRAPPER int name parameters {                                                      \
    static auto const call = real<int(*) parameters>(#name);                               \
    int const result = call arguments;                                                     \
    if (result == 0 || result == EOWNERDEAD)                                               \
      locked(const_cast<void const*>(static_cast<void const volatile*>(lock)), is_shared); \
    return result;                                                                         \
  }
#define FILCH_LOCK(name, type, is_shared) FILCH_LOCK_AFTER(name, type, is_shared, (type * lock), (lock))
#define FILCH_TIMED_LOCK(name, type, is_shared) \
  FILCH_LOCK_AFTER(name, type, is_shared, (type * lock, timespec const* until), (lock, until))
#define FILCH_CLOCK_LOCK(name, type, is_shared) \
  FILCH_LOCK_AFTER(name, type, is_shared, (type * lock, clockid_t clock, timespec const* until), (lock, clock, until))
#define FILCH_UNLOCK(name, type)                                                                    \
  FILCH_WRAPPER int name(type* lock) {                                                              \
    static auto const call = real<int (*)(type*)>(#name);                                           \
    filch::detail::race_unlocked(const_cast<void const*>(static_cast<void const volatile*>(lock))); \
    return call(lock);                                                                              \
  }

FILCH_LOCK(pthread_mutex_lock, pthread_mutex_t, false)
FILCH_LOCK(pthread_mutex_trylock, pthread_mutex_t, false)
FILCH_TIMED_LOCK(pthread_mutex_timedlock, pthread_mutex_t, false)
FILCH_CLOCK_LOCK(pthread_mutex_clocklock, pthread_mutex_t, false)
FILCH_UNLOCK(pthread_mutex_unlock, pthread_mutex_t)
FILCH_LOCK(pthread_spin_lock, pthread_spinlock_t, false)
FILCH_LOCK(pthread_spin_trylock, pthread_spinlock_t, false)
FILCH_UNLOCK(pthread_spin_unlock, pthread_spinlock_t)
FILCH_LOCK(pthread_rwlock_wrlock, pthread_rwlock_t, false)
FILCH_LOCK(pthread_rwlock_trywrlock, pthread_rwlock_t, false)
FILCH_LOCK(pthread_rwlock_rdlock, pthread_rwlock_t, true)
FILCH_LOCK(pthread_rwlock_tryrdlock, pthread_rwlock_t, true)
FILCH_TIMED_LOCK(pthread_rwlock_timedwrlock, pthread_rwlock_t, false)
FILCH_TIMED_LOCK(pthread_rwlock_timedrdlock, pthread_rwlock_t, true)
FILCH_CLOCK_LOCK(pthread_rwlock_clockwrlock, pthread_rwlock_t, false)
FILCH_CLOCK_LOCK(pthread_rwlock_clockrdlock, pthread_rwlock_t, true)
FILCH_UNLOCK(pthread_rwlock_unlock, pthread_rwlock_t)

FILCH_WRAPPER int pthread_once(pthread_once_t* control, void (*routine)()) {
  static auto const call = real<int (*)(pthread_once_t*, void (*)())>("pthread_once");
  once_call mine{routine, calls};
  struct leaves {
    ~leaves() { calls = calls->outer; }
  } const here;
  calls = &mine;
  return call(control, call_routine);
}

// Guards of static variables: the ABI gives the first byte a meaning, and leaves the others to these functions.
// Compilers know them with another type of argument.
FILCH_WRAPPER int guard_acquire(unsigned char*) __asm__("__cxa_guard_acquire");
FILCH_WRAPPER void guard_release(unsigned char*) __asm__("__cxa_guard_release");
FILCH_WRAPPER void guard_abort(unsigned char*) __asm__("__cxa_guard_abort");

FILCH_WRAPPER int guard_acquire(unsigned char* guard) {
  while (true) {
    switch (take_guard(guard)) {
      case guard_state::is_done: return 0;
      case guard_state::is_mine: guard[2] = once_begins(); return 1;
      case guard_state::is_taken: sched_yield();
    }
  }
}
FILCH_WRAPPER void guard_release(unsigned char* guard) {
  once_ends(guard[2] != 0);
  leave_guard(guard, true);
}
FILCH_WRAPPER void guard_abort(unsigned char* guard) {
  once_ends(guard[2] != 0);
  leave_guard(guard, false);
}

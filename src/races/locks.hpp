// Sets of held locks. Two accesses are protected from each other by a lock that both hold, unless one hold spans the
// fork that made them parallel. Paper: G.-I. Cheng, M. Feng, C. Leiserson, K. Randall, A. Stark, Detecting data races
// in Cilk programs that use locks, SPAA 1998.
#pragma once

#include "races/tables.hpp"

namespace filch::races {

/// A set, by number. 0 is the empty one. Sets are never forgotten.
using lock_set = std::uint32_t;

/// The address of a lock; above it, how often memory there was given back.
using lock_name = address;

struct held_lock {
  lock_name lock;
  std::uint32_t fork;  // 0, or the number of the fork that this hold spans
  bool is_shared;      // for readers
  friend bool operator==(held_lock const&, held_lock const&) = default;
};

/// Locks that are no objects of the program.
inline constexpr address k_atomic_lock = 1;  // an atomic access is under it
inline constexpr address k_local_lock = 2;   // a section that has a value of a worker_local

lock_name name_of(void const* lock);
inline address address_of(lock_name lock) { return lock & ((address{1} << 48) - 1); }
/// Memory was given back: a lock that is made there is another one.
void forget_locks(address from, address end);

lock_set with_lock(lock_set set, held_lock const& lock);
lock_set without_lock(lock_set set, lock_name lock);
bool holds(lock_set set, lock_name lock);
/// For a section that holds these and forks: for itself from then on, and for the branches.
lock_set across_fork(lock_set set);

/// The locks for which accesses under a and b exclude each other.
void for_common_locks(lock_set a, lock_set b, void (*f)(lock_name, void*), void* argument);
/// Is there one that is_one says to be one lock, not two at the same address?
template <class IsOne> bool protects(lock_set a, lock_set b, IsOne is_one) {
  if (a == 0 || b == 0) return false;
  struct {
    IsOne& is_one;
    bool is_found;
  } search{is_one, false};
  for_common_locks(
      a, b,
      [](lock_name lock, void* p) {
        auto& s = *static_cast<decltype(search)*>(p);
        s.is_found = s.is_found || s.is_one(address_of(lock));
      },
      &search);
  return search.is_found;
}
bool is_subset_slow(lock_set a, lock_set b);
inline bool is_subset(lock_set a, lock_set b) { return a == 0 || a == b || (b != 0 && is_subset_slow(a, b)); }
/// The same for accesses that are serial: of which holds they are does not matter.
bool is_subset_of_any_hold(lock_set a, lock_set b);

}  // namespace filch::races

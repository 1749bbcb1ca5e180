// Numbers for sets of locks, so that a word has room for one. mutexes.cpp and atomics.cpp tell which locks are taken;
// checker.cpp asks whether two accesses have a lock in common.
#include "races/locks.hpp"

#include "races/off_the_record.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <vector>

namespace filch::races {
namespace {

using locks = std::vector<held_lock>;

struct by_lock {
  bool operator()(held_lock const& a, held_lock const& b) const noexcept {
    if (a.lock != b.lock) return a.lock < b.lock;
    return a.fork != b.fork ? a.fork < b.fork : a.is_shared < b.is_shared;
  }
};
struct in_order {
  bool operator()(locks const& a, locks const& b) const noexcept {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), by_lock());
  }
};

/// The map counts, for each lock that was ever held, how often memory there was given back.
std::map<address, std::uint16_t>& generations() {
  static auto* const all = new std::map<address, std::uint16_t>;
  return *all;
}

struct known_sets {
  std::deque<locks> all{locks()};
  std::map<locks, lock_set, in_order> numbers{{locks(), 0}};
};

known_sets& known() {
  static known_sets* const sets = new known_sets;
  return *sets;
}

lock_set number_of(locks const& set) {
  known_sets& sets = known();
  auto const [at, is_new] = sets.numbers.try_emplace(set, static_cast<lock_set>(sets.all.size()));
  if (is_new) sets.all.push_back(set);
  return at->second;
}

}  // namespace

lock_name name_of(void const* lock) {
  off_the_record const here;
  auto const a = reinterpret_cast<address>(lock);
  return a | address{generations()[a]} << 48;
}

void forget_locks(address from, address end) {
  off_the_record const here;
  auto& all = generations();
  for (auto at = all.lower_bound(from); at != all.end() && at->first < end; ++at) ++at->second;
}

lock_set with_lock(lock_set set, held_lock const& lock) {
  off_the_record const here;
  locks all = known().all[set];
  all.insert(std::upper_bound(all.begin(), all.end(), lock, by_lock()), lock);
  return number_of(all);
}

lock_set without_lock(lock_set set, lock_name lock) {
  off_the_record const here;
  locks all = known().all[set];
  auto const at = std::find_if(all.begin(), all.end(), [lock](held_lock const& l) { return l.lock == lock; });
  if (at == all.end()) return set;
  all.erase(at);
  return number_of(all);
}

bool holds(lock_set set, lock_name lock) {
  if (set == 0) return false;
  off_the_record const here;
  locks const& all = known().all[set];
  return std::any_of(all.begin(), all.end(), [lock](held_lock const& l) { return l.lock == lock; });
}

lock_set across_fork(lock_set set) {
  static std::uint32_t forks = 0;
  off_the_record const here;
  locks all = known().all[set];
  bool const is_new = std::any_of(all.begin(), all.end(), [](held_lock const& l) { return l.fork == 0; });
  if (!is_new) return set;
  ++forks;
  std::erase_if(all, [](held_lock const& l) { return l.lock == k_local_lock; });
  for (held_lock& each : all) {
    if (each.fork == 0) each.fork = forks;
  }
  std::sort(all.begin(), all.end(), by_lock());
  return number_of(all);
}

void for_common_locks(lock_set a, lock_set b, void (*f)(lock_name, void*), void* argument) {
  for (held_lock const& x : known().all[a]) {
    for (held_lock const& y : known().all[b]) {
      bool const is_one_hold = x.fork == y.fork && x.fork != 0;
      if (x.lock == y.lock && !is_one_hold && !(x.is_shared && y.is_shared)) f(x.lock, argument);
    }
  }
}

bool is_subset_slow(lock_set a, lock_set b) {
  locks const& small = known().all[a];
  locks const& large = known().all[b];
  return std::includes(large.begin(), large.end(), small.begin(), small.end(), by_lock());
}

bool is_subset_of_any_hold(lock_set a, lock_set b) {
  if (is_subset(a, b)) return true;
  locks const& large = known().all[b];
  return std::ranges::all_of(known().all[a], [&](held_lock const& x) {
    return std::ranges::any_of(large,
                               [&](held_lock const& y) { return x.lock == y.lock && x.is_shared == y.is_shared; });
  });
}

}  // namespace filch::races

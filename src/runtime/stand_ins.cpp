// filch::blocking: while a worker waits in the system, a stand-in works. blocked_workers calls begin_blocking() and
// end_blocking() for each team in which the calling thread is a worker.
#include "runtime/stand_ins.hpp"

#include <filch/blocking.hpp>

#include "os/linux/overflow.hpp"
#include "os/linux/processors.hpp"
#include "runtime/checks.hpp"
#include "runtime/pools.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <span>

namespace filch::runtime {

namespace {

/// Under the mutex.
void check_counts(stand_ins const& s) noexcept {
  check("pool's stand-ins", [&s] { return team_checks::of_stand_ins(s); });
}

}  // namespace

void team::begin_blocking() noexcept { one_more(&stand_ins::blocked); }
void team::end_blocking() noexcept { one_less(&stand_ins::blocked); }
void team::begin_sleep_in_join() noexcept { one_more(&stand_ins::joining); }
void team::end_sleep_in_join() noexcept { one_less(&stand_ins::joining); }
void team::groups_open() noexcept { one_more(&stand_ins::groups); }
void team::groups_close() noexcept { one_less(&stand_ins::groups); }

void team::one_more(unsigned stand_ins::* count) noexcept {
  if (!alive() || is_measured()) return;
  stand_ins& s = *stand_ins_;
  std::lock_guard const lock(s.mutex);
  check_counts(s);
  unsigned const before = s.waiting();
  ++(s.*count);
  for (unsigned n = before; n < s.waiting(); ++n) want_stand_in(s);
}

/// Under the mutex, after a worker began to wait.
void team::want_stand_in(stand_ins& s) noexcept {
  if (s.is_over || !s.should_work()) return;
  s.wanted.notify_one();
  // Free threads that have yet to come are for workers that waited before.
  bool const are_too_few = s.waiting() - s.working > s.free();
  if (are_too_few && s.threads.size() < places_.stand_ins()) {
    try {
      // It works for any worker, so it is bound to no processor, even if the worker that starts it is.
      s.threads.emplace_back([this, number = static_cast<unsigned>(s.threads.size()), begins_bound = os::is_bound()] {
        if (begins_bound) os::run_on_all(settings_.processors);
        stand_in(number);
      });
    } catch (std::exception const&) {  // one worker fewer for a while
    }
  }
}

void team::one_less(unsigned stand_ins::* count) noexcept {
  if (!alive() || is_measured()) return;
  stand_ins& s = *stand_ins_;
  std::lock_guard const lock(s.mutex);
  check_counts(s);
  --(s.*count);
  for (unsigned i = 0; i < s.each.size() && s.working > s.waiting(); ++i) {
    if (!s.each[i].works || s.each[i].leaves.is_set()) continue;
    --s.working;
    s.each[i].leaves.set();
    idle_.wake(places_.stand_in(i));
  }
}

/// The loop of a stand-in's thread.
void team::stand_in(unsigned number) noexcept {
  os::need_signal_stack();
  ++teams_entered;
  stand_ins& s = *stand_ins_;
  unsigned const place = places_.stand_in(number);
  std::unique_lock lock(s.mutex);
  for (;;) {
    s.wanted.wait(lock, [&s] { return s.is_over || s.should_work(); });
    if (s.is_over) return;
    stand_ins::state& mine = s.each[number];
    ++s.working;
    ++s.busy;
    mine.works = true;
    mine.leaves.clear();
    lock.unlock();
    places_.enter_as_stand_in(place);
    bool const has_place = has_memory(place);
    if (has_place) work_as(place, mine.leaves);
    if (!alive()) child_can_t_go_on();  // its task forked, and another thread of the parent may have the lock
    leave_place(place);
    lock.lock();
    check_counts(s);
    if (!mine.leaves.is_set()) --s.working;
    if (!has_place) {
      mine.leaves.set();  // and it stays busy: this thread is gone
      return;
    }
    mine.works = false;
    --s.busy;
  }
}

}  // namespace filch::runtime

namespace filch::inline FILCH_ABI::detail {

namespace {
constinit thread_local blocked_workers* innermost = nullptr;
}  // namespace

// Neither is inlined into code that changes threads in between, where an optimiser of whole programs may keep the
// variable's address.
[[gnu::noinline]] blocked_workers::blocked_workers() noexcept : outer_(innermost) {
  innermost = this;
  for (auto const& each : runtime::all_hideables()) {
    std::array<runtime::team*, k_most> found;
    std::size_t const count = each.block(found);
    for (runtime::team* const of : std::span(found).first(count)) {
      if (number_ == k_most || has(of)) continue;
      teams_[number_++] = of;
      of->begin_blocking();
    }
  }
}

[[gnu::noinline]] blocked_workers::~blocked_workers() {
  while (number_ > 0) static_cast<runtime::team*>(teams_[--number_])->end_blocking();
  innermost = outer_;
}

bool blocked_workers::has(void const* team) const noexcept {
  if (std::find(teams_.begin(), teams_.begin() + number_, team) != teams_.begin() + number_) return true;
  return outer_ && outer_->has(team);
}

}  // namespace filch::inline FILCH_ABI::detail

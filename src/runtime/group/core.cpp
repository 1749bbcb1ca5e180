// A task group: adds tasks, runs them, counts them, waits for the last one. filch::task_group calls it, and workers
// that find no other task call help(). Protocol: ../task_groups.md.
#include <filch/blocking.hpp>
#include <filch/detail/caught.hpp>
#include <filch/detail/group_words.hpp>
#include <filch/detail/task_cancelled.hpp>

#include "os/linux/futex.hpp"
#include "runtime/account.hpp"
#include "runtime/exceptions_in_flight.hpp"
#include "runtime/forced_steals.hpp"
#include "runtime/fork_generation.hpp"
#include "runtime/group/checks.hpp"
#include "runtime/group/spares.hpp"
#include "runtime/group/state.hpp"
#include "runtime/nesting.hpp"
#include "runtime/pools.hpp"

#include <chrono>
#include <future>
#include <utility>

namespace filch::inline FILCH_ABI {

task_cancelled::~task_cancelled() = default;

namespace detail {

using runtime::group_list;

namespace {

// A waiter spins for about as long as a wake-up would take, then sleeps.
constexpr unsigned k_looks_before_sleep = 200;

/// Sleeps, while a stand-in works. With forced steals a fiber that has one of the last tasks may wait for this
/// worker: it has given way, and gives way again soon.
void sleep_on(std::atomic<std::uint32_t>& word, std::uint32_t seen) noexcept {
  blocked_workers const meanwhile;
  if constexpr (runtime::k_steals_are_forced) {
    os::futex_wait_for(word, seen, std::chrono::milliseconds(1));
  } else {
    os::futex_wait(word, seen);
  }
}

void append(std::vector<std::exception_ptr>& failures, std::exception_ptr e) noexcept {
  try {
    failures.push_back(std::move(e));
  } catch (std::bad_alloc const&) {  // wait() throws the first one
    drop_caught_exception();
  }
}
// Tasks that run at once, each inside another one.
constexpr int k_most_nested = 128;

group_list& list_of(runtime::group_state& s, unsigned worker) noexcept {
  return s.lists[worker == k_no_worker ? 0 : worker % s.number_of_lists];
}

void wake(runtime::waiters_word& waiters) noexcept {
  if (!waiters.anybody()) return;
  waiters.change();
  os::futex_wake_all(waiters.futex());
}

}  // namespace

group_core::group_core(unsigned (*worker_index)() noexcept, unsigned* (*tasks_on_stack)() noexcept)
    : worker_index_(worker_index), tasks_on_stack_(tasks_on_stack) {}

group_core::~group_core() {
  if (state_ && has_its_threads()) {
    detach();
    runtime::check("group's end", [this] { return runtime::group_checks::of_end(*state_); });
    for (unsigned i = 0; i < state_->number_of_lists; ++i) state_->lists[i].end();
    if (runtime::group_spares* const s = spares()) s->keep(std::move(state_), worker_index_());
  }
  if (destroy_) destroy_(token_);
}

void group_core::begin() {
  unsigned const worker = worker_index_();
  if (runtime::group_spares* const s = spares()) state_ = s->take(worker);
  if (!state_) {
    auto made = std::make_unique<runtime::group_state>();
    made->number_of_lists = workers();
    made->lists = std::make_unique<group_list[]>(made->number_of_lists);
    state_ = std::move(made);
  }
  open(worker);
}

void group_core::cancelled_by(void* token, bool (*is_stopped)(void const*) noexcept,
                              void (*destroy)(void*) noexcept) noexcept {
  token_ = token;
  is_stopped_ = is_stopped;
  destroy_ = destroy;
}

// ---- adding -------------------------------------------------------------------------------------

group_task* group_core::take_place() noexcept {
  // In a child of fork() the holder of a list's lock may not exist: tasks run at once.
  if (!has_its_threads()) return nullptr;
  bool const at_any_size = state_->has_futures.get() || state_->at_once.get() >= k_most_nested;
  return list_of(*state_, worker_index_()).take_place(at_any_size);
}
void group_core::drop_place(group_task& t) noexcept { list_of(*state_, worker_index_()).drop_place(t); }

void group_core::add(group_task& t) noexcept {
  runtime::group_state& s = *state_;
  helpers_call const helpers(*this);
  group_list& list = list_of(s, worker_index_());
  bool const wakes = list.add(t, [&] {
    wake(s.waiters);
    return helpers.is_due();
  });
  if (!wakes) return;  // the group may be gone
  helpers.wake();
  list.woken();  // edge group-7: release. The group and the pool may be gone
}

bool group_core::take_if_newest(group_task& t) noexcept {
  return has_its_threads() && list_of(*state_, worker_index_()).take_if_newest(t);
}

void group_core::has_futures() noexcept { state_->has_futures.set(true); }
void group_core::has_dropped() noexcept { state_->has_dropped.set(true); }

void group_core::begins_at_once() noexcept { state_->at_once.begin(); }
void group_core::ends_at_once() noexcept {
  runtime::group_state& s = *state_;
  if (!has_its_threads()) return s.at_once.end();
  list_of(s, worker_index_()).finish_at_once([&s] {
    s.at_once.end();
    wake(s.waiters);
  });  // the group may be gone
}

// ---- running ------------------------------------------------------------------------------------

bool group_core::has_tasks() const noexcept {
  for (unsigned i = 0; i < state_->number_of_lists; ++i) {
    if (state_->lists[i].size() != 0) return true;
  }
  return false;
}

group_task* group_core::pop() noexcept {
  if (!has_its_threads()) return nullptr;  // in a child of fork() they are its parent's
  unsigned const worker = worker_index_();
  group_list& own = list_of(*state_, worker);
  if (group_task* const t = own.take_newest()) return t;
  for (unsigned i = 0; i < state_->number_of_lists; ++i) {
    group_task* const first = state_->lists[i].take_oldest();
    if (!first) continue;
    if (group_task* const others = std::exchange(first->newer, nullptr)) {
      // edge group-3: a waiter that looked meanwhile has not seen them.
      own.put(others);
      wake(state_->waiters);
      helpers_call const helpers(*this);
      if (helpers.is_due()) helpers.wake();
    }
    return first;
  }
  return nullptr;
}

bool group_core::run_one() noexcept {
  group_task* const t = pop();
  if (!t) return false;
  auto outcome = group_outcome::ran;
  {
    lone_waits_here const here(stack_count());
    try {
      outcome = t->run(*t, !is_cancelled());
    } catch (...) {
      failed(caught_exception());
    }
  }
  if (outcome == group_outcome::dropped) has_dropped();
  if (outcome != group_outcome::elsewhere) finish(*t);
  return true;
}

void group_core::finish(group_task& t) noexcept {
  if (!has_its_threads()) return;
  runtime::group_state& s = *state_;
  list_of(s, worker_index_()).finish(t, [&s] { wake(s.waiters); });
}

void group_core::help() noexcept {
  // It looks for other tasks in between, and a stand-in may have to leave.
  constexpr runtime::cycles k_most_at_once = 100'000;
  runtime::cycles const begin = runtime::time_stamp();
  while (run_one() && runtime::time_stamp() - begin < k_most_at_once) {
  }
}

// ---- waiting ------------------------------------------------------------------------------------

/// edge group-2: first tasks that run at once, then those that are over, then those that were added.
bool group_core::is_over() const noexcept {
  if (state_->at_once.get() != 0) return false;
  std::uint64_t over = 0;
  std::uint64_t added = 0;
  for (unsigned i = 0; i < state_->number_of_lists; ++i) over += state_->lists[i].over();
  for (unsigned i = 0; i < state_->number_of_lists; ++i) added += state_->lists[i].added();
  return over == added;
}

void group_core::wait() noexcept {
  runtime::exceptions_set_aside const from_tasks;
  for (unsigned looks = 0;;) {
    if (run_one()) {
      looks = 0;
    } else if (is_over()) {
      return;
    } else if (!has_its_threads()) {
      runtime::child_can_t_go_on();
    } else if (looks < k_looks_before_sleep && runtime::gives_way()) {
      ++looks;
    } else if (++looks < k_looks_before_sleep) {
      runtime::pause_for_look(looks, false);
    } else {
      sleep_until_something();
      looks = 0;
    }
  }
}

void group_core::sleep_until_something() noexcept {
  std::uint32_t const seen = state_->waiters.announce();
  // edge group-3: the last look, after the announcement.
  if (!has_tasks() && !is_over()) sleep_on(state_->waiters.futex(), seen);
  state_->waiters.retract();
}

void wait_for(future_word& word) noexcept {
  for (unsigned looks = 0; looks < k_looks_before_sleep && !word.is_over(); ++looks) {
    runtime::pause_for_look(looks, false);
  }
  for (unsigned times = 0; !word.is_over();) {
    if (word.made_in() != process_generation()) runtime::child_can_t_go_on();
    if (times++ < k_looks_before_sleep && runtime::gives_way()) continue;
    times = 0;
    if (word.begin_sleep()) sleep_on(word.futex(), future_word::k_awaited);
  }
}

unsigned process_generation() noexcept { return runtime::fork_generation(); }

void no_future_state() { throw std::future_error(std::future_errc::no_state); }

void wake_sleepers(future_word& word) noexcept { os::futex_wake_all(word.futex()); }

// ---- cancelling ---------------------------------------------------------------------------------

void group_core::failed(std::exception_ptr e) noexcept {
  cancel();
  if (!has_its_threads()) {
    std::unique_lock const lock(state_->failing_in_child, std::try_to_lock);
    if (lock && !state_->first_in_child) state_->first_in_child = std::move(e);
    return;
  }
  std::lock_guard const lock(state_->failing);
  if (!state_->first) state_->first = e;
  append(state_->failures, std::move(e));
}

void group_core::cancel() noexcept { state_->is_cancelled.set(true); }

bool group_core::is_cancelled() const noexcept {
  return state_->is_cancelled.get() || (is_stopped_ && is_stopped_(token_));
}

std::uint64_t group_core::ended_waits() const noexcept { return state_->ended_waits.get(); }

bool group_core::begin_anew(std::uint64_t ended_before, std::vector<std::exception_ptr>& failures,
                            std::exception_ptr& first) noexcept {
  runtime::group_state& s = *state_;
  std::vector<std::exception_ptr> earlier;  // they end without the lock
  if (has_its_threads()) {
    std::lock_guard const lock(s.failing);
    // A wait at the same time has put its exceptions there.
    if (s.ended_waits.get() == ended_before) earlier.swap(failures);
    take_failures(failures, first);
    return takes_tasks_again(ended_before, first != nullptr);
  }
  std::unique_lock const lock(s.failing_in_child, std::try_to_lock);
  if (s.ended_waits.get() == ended_before) earlier.swap(failures);
  // Tasks that had failed before the fork count, unless a thread of the parent was adding one.
  std::unique_lock const of_parent(s.failing, std::try_to_lock);
  if (of_parent) take_failures(failures, first);
  std::exception_ptr in_child;
  if (lock) in_child = std::exchange(s.first_in_child, nullptr);
  if (in_child) append(failures, in_child);
  if (!first) first = std::move(in_child);
  return takes_tasks_again(ended_before, first != nullptr);
}

/// Under failing.
void group_core::take_failures(std::vector<std::exception_ptr>& failures, std::exception_ptr& first) noexcept {
  if (failures.empty()) failures.swap(state_->failures);
  for (auto& e : state_->failures) append(failures, std::move(e));
  state_->failures.clear();
  first = std::exchange(state_->first, nullptr);
}

/// Was a task left out, or did one throw to another wait, since the caller's wait began?
bool group_core::takes_tasks_again(std::uint64_t ended_before, bool has_failed) noexcept {
  runtime::group_state& s = *state_;
  s.is_cancelled.set(false);
  s.ended_waits.set(s.ended_waits.get() + 1);
  if (s.has_dropped.get() || has_failed) s.last_with_loss = s.ended_waits.get();
  s.has_dropped.set(false);
  return s.last_with_loss > ended_before;
}

}  // namespace detail
}  // namespace filch::inline FILCH_ABI

// The list of a worker's waiting tasks in a task group: tasks are added, taken and counted. core.cpp calls it.
// Protocol: ../task_groups.md, "Steps".
#include "runtime/group/checks.hpp"
#include "runtime/group/state.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace filch::runtime {

namespace {
/// Under its lock, before it changes.
void check_list(group_list const& l) noexcept {
  check("group's list", [&l] { return group_checks::of_list(l); });
}
}  // namespace

group_list::~group_list() {
  while (free_) delete std::exchange(free_, free_->older);
}

void group_list::keep_few_places() noexcept {
  for (; free_count_ > k_most_free_of_spare; --free_count_) delete std::exchange(free_, free_->older);
}

void group_state::forget() noexcept {
  for (unsigned i = 0; i < number_of_lists; ++i) lists[i].keep_few_places();
  is_cancelled.set(false);
  has_dropped.set(false);
  has_futures.set(false);
  failures.clear();
  first = nullptr;
}

group_task* group_list::take_place(bool at_any_size) noexcept {
  {
    std::lock_guard const lock(lock_);
    check_list(*this);
    if (!at_any_size && size_.own() >= k_most) return nullptr;
    if (free_) {
      --free_count_;
      return std::exchange(free_, free_->older);
    }
  }
  return new (std::nothrow) group_task;
}

void group_list::drop_place(group_task& t) noexcept {
  std::lock_guard const lock(lock_);
  keep_free(t);
}

void group_list::keep_free(group_task& t) noexcept {
  if (free_count_ == k_most_free) {
    delete &t;
    return;
  }
  ++free_count_;
  t.older = std::exchange(free_, &t);
}

void group_list::link(group_task& t) noexcept {
  check_list(*this);
  added_.add_one();
  t.newer = nullptr;
  t.older = newest_;
  (newest_ ? newest_->newer : oldest_) = &t;
  newest_ = &t;
  size_.add_one();
}

group_task* group_list::take_newest() noexcept {
  if (size_.get() == 0) return nullptr;
  std::lock_guard const lock(lock_);
  check_list(*this);
  return newest_ ? unlink_newest() : nullptr;
}

bool group_list::take_if_newest(group_task& t) noexcept {
  std::lock_guard const lock(lock_);
  check_list(*this);
  return newest_ == &t && unlink_newest();
}

group_task* group_list::unlink_newest() noexcept {
  group_task* const t = newest_;
  newest_ = t->older;
  (newest_ ? newest_->newer : oldest_) = nullptr;
  size_.set(size_.own() - 1);
  return t;
}

group_task* group_list::take_oldest() noexcept {
  constexpr std::uint64_t k_most_at_once = 32;
  if (size_.get() == 0) return nullptr;
  std::lock_guard const lock(lock_);
  check_list(*this);
  if (!oldest_) return nullptr;
  std::uint64_t const taken = std::min((size_.own() + 1) / 2, k_most_at_once);
  group_task* const first = oldest_;
  group_task* last = first;
  for (std::uint64_t i = 1; i < taken; ++i) last = last->newer;
  oldest_ = last->newer;
  (oldest_ ? oldest_->older : newest_) = nullptr;
  last->newer = nullptr;
  size_.set(size_.own() - taken);
  return first;
}

void group_list::put(group_task* oldest) noexcept {
  std::lock_guard const lock(lock_);
  check_list(*this);
  std::uint64_t number = 0;
  for (group_task* t = oldest; t; ++number) {
    group_task* const next = t->newer;
    t->newer = nullptr;
    t->older = newest_;
    (newest_ ? newest_->newer : oldest_) = t;
    newest_ = t;
    t = next;
  }
  size_.set(size_.own() + number);
}

}  // namespace filch::runtime

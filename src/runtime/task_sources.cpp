// The list of a team's open task groups, and what a group needs of its team. Called by the worker loop and by
// group/core.cpp. Protocol: task_groups.md, "Steps", 5.
#include "runtime/task_sources.hpp"

#include "runtime/team.hpp"

#include <bit>
#include <utility>

namespace filch::runtime {

bool task_sources::add(source& s, unsigned worker) noexcept {
  s.list_ = worker % open_lists::k_lists;
  list& l = lists_[s.list_];
  std::lock_guard const lock(l.lock);
  s.older_ = l.newest;
  (l.newest ? l.newest->newer_ : l.oldest) = &s;
  l.newest = &s;
  return !s.older_ && l.leaving == 0 && open_.set(s.list_);
}

/// Holder of the list's lock, which a source has left. True: it was the last one of all lists.
bool task_sources::is_empty_now(list const& l) noexcept {
  return !l.oldest && l.leaving == 0 && open_.clear(static_cast<unsigned>(&l - lists_.data()));
}

bool task_sources::remove(source& s) noexcept {
  list& l = lists_[s.list_];
  {
    std::lock_guard const lock(l.lock);
    (s.older_ ? s.older_->newer_ : l.oldest) = s.newer_;
    (s.newer_ ? s.newer_->older_ : l.newest) = s.older_;
    if (s.helpers_ == 0) return is_empty_now(l);
    ++l.leaving;  // the list is not empty until they have left: end_call() looks for helpers
  }
  bool is_last = false;
  for (spin_wait spin; !has_left(l, s, is_last); spin.once()) {
  }
  return is_last;
}

bool task_sources::has_left(list& l, source const& s, bool& is_last) noexcept {
  std::lock_guard const lock(l.lock);
  if (s.helpers_ != 0) return false;
  --l.leaving;
  is_last = is_empty_now(l);
  return true;
}

/// The oldest one of a list: the first of nested groups has the largest tasks.
task_sources::source* task_sources::find(of_root wanted, bool begins_to_help) noexcept {
  for (std::uint32_t left = open_.get(); left != 0; left &= left - 1) {
    list& l = lists_[static_cast<unsigned>(std::countr_zero(left))];
    std::lock_guard const lock(l.lock);
    for (source* s = l.oldest; s; s = s->newer_) {
      bool const may = wanted.root == k_any_root || (wanted.root == s->root_ && wanted.call == s->call_);
      if (!may || !s->has_tasks()) continue;
      if (begins_to_help) ++s->helpers_;
      return s;
    }
  }
  return nullptr;
}

task_sources::taken task_sources::take(of_root wanted) noexcept {
  if (wanted.root == k_any_root) return {find(wanted, true), k_any_root};
  std::lock_guard const lock(mutex_);
  source* const s = find(wanted, true);
  if (!s) return {nullptr, k_any_root};
  ++held(wanted.root).helpers;  // edge group-6: acquire, the lock
  return {s, wanted.root};
}

void task_sources::done(source& s, bool is_of_call) noexcept {
  if (is_of_call) {
    std::lock_guard const lock(mutex_);
    held_place& place = held(s.root_);
    if (--place.helpers == 0 && std::exchange(place.is_left, false)) places_.leave(s.root_);
  }
  std::lock_guard const lock(lists_[s.list_].lock);
  --s.helpers_;  // the source may be gone when the lock is left
}

bool task_sources::end_call(unsigned place) noexcept {
  if (!any()) {  // a group that was made in the call would be open
    places_.end_call(place);
    return true;
  }
  std::lock_guard const lock(mutex_);
  places_.end_call(place);  // edge group-6: release, the lock
  held_place& here = held(place);
  here.is_left = here.helpers != 0;
  return !here.is_left;
}

bool task_sources::any_with_tasks(of_root wanted) noexcept { return find(wanted, false) != nullptr; }

// ---- the team -----------------------------------------------------------------------------------

void team::attach(detail::task_source& s, std::uint16_t root) noexcept {
  if (!alive()) return;  // in a child of fork() it has no threads
  s.team_ = this;
  s.root_ = root;
  s.call_ = root == k_any_root ? 0 : places_.call_at(root);
}

task_sources::of_root team::groups_for(unsigned me) const noexcept {
  std::uint16_t const root = places_.root_limit(me);
  return {root, root == k_any_root ? 0 : places_.call_at(root)};
}

/// One look at the open groups, after a search in vain; true if tasks were run.
bool team::help_a_group(unsigned me) {
  if (!sources_.any()) return false;
  auto const [s, root] = sources_.take(groups_for(me));
  if (!s) return false;
  bool const is_of_call = root != k_any_root;
  if (!is_free_for_call(me)) {
    sources_.done(*s, is_of_call);
    return false;
  }
  has_work(me);
  note(me, trace::kind::takes, me);
  // The call may end on another worker.
  run_call(me, root, is_of_call ? &help_group<true> : &help_group<false>, s);
  note(me, trace::kind::returns);
  return true;
}

template <bool IsOfCall> void team::help_group(void* p) {
  auto& source = *static_cast<detail::task_source*>(p);
  task_sources& all = source.team_->sources_;
  source.help();
  // A child that the task forked ends at the next search for tasks: another thread of its parent may have the lock.
  if (source.team_->alive()) all.done(source, IsOfCall);
}

/// A group's root, while its call lasts.
std::uint16_t team::root_of_group(std::uint16_t root, std::uint32_t call) const noexcept {
  return root != k_any_root && places_.call_at(root) != call ? k_any_root : root;
}

bool team::anybody_sleeps_for(std::uint16_t root, std::uint32_t call) noexcept {
  return anybody_sleeps(root_of_group(root, call));
}

void team::group_has_more(std::uint16_t root, std::uint32_t call) noexcept {
  static_cast<void>(idle_.wake_for_root(root_of_group(root, call)) || idle_.wake_one());
}

}  // namespace filch::runtime

namespace filch::inline FILCH_ABI::detail {

task_source::~task_source() = default;

void task_source::open(unsigned worker) noexcept {
  if (!team_ || team_->is_measured()) return;  // in a measured pool all is run by its caller
  is_open_ = true;
  if (team_->sources_.add(*this, worker)) team_->groups_open();
}

bool task_source::helpers_call::is_due() const noexcept {
  return team_ && team_->alive() && team_->anybody_sleeps_for(root_, call_);
}

void task_source::helpers_call::wake() const noexcept { team_->group_has_more(root_, call_); }

void task_source::detach() noexcept {
  if (!is_open_ || !team_->alive()) return;
  if (team_->sources_.remove(*this)) team_->groups_close();
}

runtime::group_spares* task_source::spares() const noexcept {
  return team_ && team_->alive() ? &team_->group_spares_ : nullptr;
}

unsigned task_source::workers() const noexcept { return team_ ? team_->workers() : 1; }

bool task_source::has_its_threads() const noexcept { return !team_ || team_->alive(); }

}  // namespace filch::inline FILCH_ABI::detail

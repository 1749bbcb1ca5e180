// Scopes: many spawned tasks, one join counter, and tickets that keep the order of spawns. User code calls it through
// cactus_frame.hpp. Protocol: protocol.md, cactus-5.
#include "runtime/pools.hpp"
#include "schedulers/cactus/checks.hpp"
#include "schedulers/cactus/profile.hpp"

#include <bit>
#include <new>
#include <utility>

namespace filch::inline FILCH_ABI::detail {

void cactus_frame::begin() noexcept {
  worker_ = &fiber_self();
  if (worker_->kind != k_cactus_tag) return;
  auto& m = static_cast<cactus_member&>(*worker_);
  fiber_ = m.stack;
  forks_ = open_forks(m);
}

/// The place of the next task: at the worker, or it runs here. On a fiber that is not the frame's it runs here, and
/// the frame is not touched.
cactus_frame::where cactus_frame::place_for_next() noexcept {
  fiber_worker& w = fiber_self();
  // Only the frame's own fiber may look further.
  if (w.kind != k_cactus_tag) return !fiber_ && &w == worker_ ? where::here : where::foreign;
  auto& m = static_cast<cactus_member&>(w);
  if (m.stack != fiber_) return where::foreign;
  if (open_forks(m) != forks_) return where::here;
  if (pushed_ == k_pending_most && !forget_stolen()) return where::here;
  if (team_of(m).has_room(m) && has_place_for_next()) return where::for_others;
  if (m.profile) m.profile->of_thread().no_room();
  return where::here;
}

/// The place of a task by its number: the first few, then twice as many in each array of more_tasks_.
cactus_frame::waiting*& cactus_frame::place_of(unsigned number) noexcept {
  if (number < k_few) return first_tasks_[number];
  unsigned const array = static_cast<unsigned>(std::bit_width(number / k_few)) - 1;
  return (*more_tasks_)[array][number - (k_few << array)];
}

bool cactus_frame::has_place_for_next() noexcept {
  // Each array begins at a power of two.
  if (pushed_ < k_few || !std::has_single_bit(pushed_)) return true;
  try {
    if (!more_tasks_) more_tasks_.reset(new more_places());
    auto& array = (*more_tasks_)[static_cast<unsigned>(std::bit_width(pushed_ / k_few)) - 1];
    if (!array) array.reset(new waiting*[pushed_]);
    return true;
  } catch (std::bad_alloc const&) {
    return false;
  }
}

/// All tasks have ended, so no worker reads their number.
void cactus_frame::begin_anew() noexcept {
  pushed_ = 0;
  begun_.begin_anew();
}

/// Owner, which has just taken a ticket back.
unsigned cactus_frame::next_number(cactus_member const& w) noexcept {
  // Tickets that were stolen may lie on another worker, or at places before the present ones. If all lie here, and
  // the oldest is private, none was ever public.
  bool const was_any_public = w.index_of_head() < w.open.peek().end + pending_;
  return was_any_public ? begun_.begin_next() : begun_.begin_next_alone();
}

/// The taker of a ticket. As many tickets were taken as tasks have begun, so there is a task.
join_counter& cactus_frame::run_oldest(fiber_task& t) noexcept {
  cactus_frame& frame = static_cast<ticket&>(t).frame;
  waiting& task = *frame.place_of(frame.begun_.begin_next());
  return task.run(task);
}

/// The scope is full. True if all tasks were stolen and are done. Else thieves get more of the waiting tasks, since
/// the next one runs in place.
bool cactus_frame::forget_stolen() noexcept {
  auto& w = static_cast<cactus_member&>(fiber_self());
  if (w.profile) [[unlikely]] {
    run_measured(w, [&](std::uint32_t first, auto const& run) { w.profile->run_early(w, first, run); });
    return true;
  }
  if (runtime::fiber_team::have_arrived(counter_, pending_)) {
    close_forks(w, pending_);
    forks_ -= std::exchange(pending_, 0);
    begin_anew();
    return true;
  }
  if (cactus_split(w).is_above(w.head - 1)) cactus_pushed_slow();
  return false;
}

void cactus_frame::push(waiting& task) noexcept {
  fiber_worker& w = fiber_self();
  // edge cactus-5: written before the ticket, whose publication is a release (cactus-1).
  place_of(pushed_++) = &task;
  *w.head++ = &ticket_;
  ++pending_;
  ++forks_;
  if (auto* const p = static_cast<cactus_member&>(w).profile) [[unlikely]]
    return p->pushed(static_cast<cactus_member&>(w), reinterpret_cast<void const*>(task.run));
  if (cactus_split(w).is_above(w.head - 1)) cactus_pushed_slow();
}

/// Where FILCH_PROFILE measures: how(first, run) runs all tasks. Their tickets stay where they lie, so what the tasks
/// spawn into this frame runs in place.
template <class How> void cactus_frame::run_measured(cactus_member& w, How const& how) noexcept {
  constexpr std::uint64_t k_never = ~std::uint64_t{0};
  std::uint32_t const first = w.index_of_head() - pending_;
  std::uint64_t const forks = std::exchange(forks_, k_never);
  how(first, [this](std::uint32_t number) {
    waiting& task = *place_of(number);
    task.run(task);
  });
  w.head = w.base + first;
  forks_ = forks - std::exchange(pending_, 0);
  begin_anew();
}

void cactus_frame::drain() noexcept {
  runtime::fiber_member* const self = runtime::member_of_fiber();
  if (!self || self->kind != k_cactus_tag || self->stack != fiber_) runtime::not_the_scope_s_owner();
  while (pending_) {
    auto& w = static_cast<cactus_member&>(runtime::this_member());
    check(w);
    // All newer forks have ended, so the newest is the frame's; else this is f of a join.
    if (open_forks(w) != forks_) runtime::not_the_scope_s_owner();
    if (w.profile) [[unlikely]]
      return run_measured(w, [&](std::uint32_t first, auto const& run) { w.profile->sync(w, first, run); });
    if (team_of(w).take_back(w)) {
      --pending_;
      --forks_;
      waiting& task = *place_of(next_number(w));
      task.run(task);
    } else {
      unsigned const stolen = std::exchange(pending_, 0);
      forks_ -= stolen;
      counter_.begun_on = w.index;
      team_of(w).wait_for_thieves(counter_, stolen);
    }
  }
  begin_anew();
}

}  // namespace filch::inline FILCH_ABI::detail

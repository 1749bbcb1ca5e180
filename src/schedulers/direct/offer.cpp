// The owner makes tasks public: at a fork whose compare failed, and on request between forks. join_slow() in join.cpp
// and scopes (frame.cpp) call publish(), too. Protocol: "Fork" and direct-5 in protocol.md.
#include "schedulers/direct/checks.hpp"
#include "schedulers/direct/profile.hpp"
#include "schedulers/direct/worker.hpp"

#include <algorithm>

namespace filch::inline FILCH_ABI::detail {
namespace {

// An owner publishes half of its private tasks at a request, and so many at most: each costs an exchange at its join.
constexpr std::ptrdiff_t k_publish_most = 32;

}  // namespace

void direct_stack::pushed_slow(direct_worker& owner, direct_task& t) noexcept {
  direct_member& w = member(owner);
  if (w.profile) [[unlikely]]
    return w.profile->pushed(w, t);
  check_worker(w, w.top);
  check_private(w, t);
  if (&t < w.public_end.get()) {
    w.team->offer_in_place(w, t);
  } else if (w.split.is_requested()) {
    w.team->publish(w, &t + 1);
  }
}

/// A fork in a public place: its task is public. That answers a request, if there is one.
void direct_team::offer_in_place(direct_member& w, direct_task& t) noexcept {
  t.state.offer();
  bool const was_requested = w.split.is_requested();
  if (was_requested) {
    w.split.answer(w.public_end.get());
    note(w.index, runtime::trace::kind::gives);
  }
  has_offered(w, was_requested, &t + 1);
}

/// Makes the oldest private tasks public, which answers a request. There is at least one below `below`.
void direct_team::publish(direct_member& w, direct_task* below) noexcept {
  direct_task* const first = w.public_end.get();
  direct_task* end = first;
  // Thieves begin behind the tasks that a scope has run: `bot` is the owner's where it points to a private task.
  if (w.bot.is_at(first)) {
    while (end != below && is_emptied(*end)) (end++)->state.pass();
  }
  direct_task* const oldest = end;
  for (std::ptrdiff_t left = std::min((below - oldest + 1) / 2, k_publish_most); left > 0 && end != below; ++end) {
    end->state.publish();
    if (!is_emptied(*end)) --left;
  }
  w.public_end.raise(end);
  // Before the task behind them can be joined as stolen.
  if (oldest != first) w.bot.move_to(oldest);
  if (end == oldest) return w.split.move(first, end);  // nothing else is left to offer: a request stays
  w.split.answer(end);
  w.inlined_in_a_row = 0;
  counted(w.index).publications.bump();
  note(w.index, runtime::trace::kind::gives);
  has_offered(w, true, end);
}

/// All tasks below `end` are public. Wakes a sleeper, and requests the next fork for workers that have yet to come.
void direct_team::has_offered(direct_member& w, bool was_requested, direct_task const* end) noexcept {
  if (offers_next(w.index, was_requested, w.unasked, untaken(w, end))) w.split.request();
}

void direct_stack::answer(direct_worker& owner) noexcept {
  direct_member& w = member(owner);
  if (w.profile) [[unlikely]]
    return w.profile->of_thread().no_room();
  w.team->serve_thieves(w);
}

/// A task of this team enters another pool, or stays, or spawns into a full scope. What it forked here would wait, so
/// thieves get some of it now.
void direct_team::serve_thieves(direct_member& w) noexcept {
  if (w.profile) [[unlikely]]
    return;
  check_worker(w, w.top);
  if (w.split.is_requested() && w.top > w.public_end.get()) publish(w, w.top);
}

/// The worker is about to wait in the system: offers all tasks that it has.
void direct_team::offer_all(direct_member& w) noexcept {
  if (!alive() || w.profile) return;
  check_worker(w, w.top);
  while (w.top > w.public_end.get()) publish(w, w.top);
}

}  // namespace filch::inline FILCH_ABI::detail

// The owner: the slow paths of fork and join. It publishes tasks, takes them back, or waits on another stack. User
// code calls it through cactus_join.hpp. Protocol: protocol.md, "Steps" and cactus-4.
#include "schedulers/cactus/checks.hpp"
#include "schedulers/cactus/profile.hpp"

#include <algorithm>

namespace filch::inline FILCH_ABI::detail {
namespace {

// The most private tasks that an owner publishes at a request, else half of them: each costs an exchange when it is
// taken back.
constexpr std::uint32_t k_publish_most = 32;
// So many public tasks are enough, whatever the next forks are.
constexpr std::uint32_t k_public_enough = 1024;

cactus_member& member(fiber_worker& w) noexcept { return static_cast<cactus_member&>(w); }

}  // namespace

void cactus_pushed_slow() noexcept {
  cactus_member& w = member(fiber_self());
  if (w.profile) [[unlikely]]
    return w.profile->pushed(w, reinterpret_cast<void const*>(w.head[-1]->run));
  check(w);
  if (w.can_offer_more()) team_of(w).publish(w);
}

cactus_outcome cactus_join_slow(join_counter& counter) noexcept {
  cactus_member& w = static_cast<cactus_member&>(runtime::this_member());  // a fork() may have hidden it
  if (w.profile) [[unlikely]]
    return w.profile->join(w);
  check(w);
  if (team_of(w).take_back(w)) return cactus_outcome::run_it;
  team_of(w).wait_for_thieves(counter, 1);
  return cactus_outcome::met;
}

void cactus_team::wait_for_thieves(join_counter& m, unsigned stolen) noexcept {
  close_forks(static_cast<cactus_member&>(runtime::this_member()), stolen);
  wait_for_parts(m, stolen);
  // Another worker has just ended its task, and the next fork may come before it requests.
  ask(runtime::this_member());
}

/// Takes the newest task off, if it was not stolen.
bool cactus_team::take_back(cactus_member& w) noexcept {
  hand_over_offers(w);
  std::uint32_t const head = w.index_of_head();
  std::uint32_t const place = head - 1;
  runtime::open_places left;
  // edge cactus-3: the task is the owner's, or a thief has it.
  switch (w.open.take_back(head, left)) {
    case runtime::taken_back::is_stolen:  // older tasks, too: this worker has no tasks
      w.taken_back_in_a_row = 0;
      start_over_if_far(w);
      return false;
    case runtime::taken_back::was_private:  // but a thief requests, or did
      w.head = w.base + place;
      if (w.requests().is_to_be_answered()) {
        if (w.can_offer_more()) publish(w);
      } else if (w.requests().state() == split_state::still_requested && !goes_on_being_public(w)) {
        make_quiet(w, w.base + left.end);
      }
      return true;
    case runtime::taken_back::is_owners:
      w.head = w.base + place;
      // Else the request stands, or its answer does: the next fork is public.
      if (w.requests().state() == split_state::quiet || !goes_on_being_public(w)) make_quiet(w, w.head);
      return true;
  }
  __builtin_unreachable();
}

bool cactus_team::goes_on_being_public(cactus_member& w) noexcept {
  w.taken_back_in_a_row = (w.taken_back_in_a_row + 1) % cactus_member::k_taken_back_until_private;
  if (w.taken_back_in_a_row != 0) return true;
  bool const is_for_others = should_ask_itself(w);
  if (is_for_others) ask(w);
  return is_for_others;
}

void cactus_team::make_quiet(cactus_member& w, fiber_task** first_private) noexcept {
  w.requests().make_quiet(first_private);
  request_if_others_look(w);
}

/// Called after the request was taken away: edge cactus-4.
void cactus_team::request_if_others_look(cactus_member& w) noexcept {
  if (should_ask_itself(w)) ask(w);
}

/// For a worker that can offer more. Answers a request: makes the oldest private tasks public. The request stands for
/// the next forks, too: the task that is forked last before a long one may be wanted later.
void cactus_team::publish(cactus_member& w) noexcept {
  std::uint32_t const first = w.open.peek().end;
  std::uint32_t const count = std::min((w.end_of_offers() - first + 1) / 2, k_publish_most);
  for (std::uint32_t i = first; i != first + count; ++i) {
    // This removes the task's place: its join calls take_back().
    static_cast<cactus_task*>(w.base[i])->counter = {0, w.index, nullptr};
  }
  // Also without a request, so that no join takes its task for private.
  bool const is_answer = w.requests().is_to_be_answered();
  if (is_answer || w.requests().state() == split_state::quiet) {
    static_cast<void>(w.requests().answer());
    w.taken_back_in_a_row = 0;
  }
  // edge cactus-1: the tasks are written before they are offered.
  w.open.offer_to(first + count);
  counted(w.index).publications.bump();
  has_offered(w, is_answer);
  if (w.open.look().size() >= k_public_enough) [[unlikely]]
    make_quiet(w, w.base + first + count);
}

/// Stolen tasks leave their places used. After many of them, an owner without tasks starts over at the first place,
/// once all thieves have read the tasks that they took.
void cactus_team::start_over_if_far(cactus_member& w) noexcept {
  if (w.index_of_head() < w.places / 4 || !alive()) return;
  std::uint32_t const tail = w.open.look().tail;
  runtime::spin_wait spin;
  while (!w.taken.are(tail)) spin.once([this] { return oversubscribed(); });
  w.taken.begin_anew();
  w.open.restart_at(0);
  static_cast<void>(open_forks(w));
  w.head = w.counted = w.base;
  make_quiet(w, w.base);
}

void cactus_team::request_for_sleepers(runtime::fiber_member& m) noexcept {
  if (sleepers().anybody() || (m.stack && sleepers().sleeps_for_root(m.stack->root))) {
    ask(m);
  } else {
    auto& w = static_cast<cactus_member&>(m);
    w.taken_back_in_a_row = 0;
    w.requests().make_public();
  }
}

void cactus_team::takes_up(runtime::fiber_member& m) noexcept {
  auto& w = static_cast<cactus_member&>(m);
  w.counted = w.head;
  w.open.set_root(w.stack->root);  // nothing is public (I2)
}

void cactus_team::gives_up(runtime::fiber_member& m) noexcept {
  static_cast<void>(open_forks(static_cast<cactus_member&>(m)));
}

bool cactus_team::has_room(cactus_member& w) noexcept {
  if (w.index_of_head() < w.places / 2) return true;
  if (w.open.look().tail == w.index_of_head()) start_over_if_far(w);
  return w.index_of_head() < w.places / 2;
}

}  // namespace filch::inline FILCH_ABI::detail

// The victim: answers steal requests with tasks, passes them on, keeps those that it has nothing for.
#include "schedulers/channel/worker.hpp"

#include <algorithm>
#include <cstdlib>

namespace filch::inline FILCH_ABI::detail {
namespace {

constexpr std::size_t k_many = 16;             // tasks
constexpr std::size_t k_most_detached = 1024;  // in an answer: they are counted off one by one

bool has_nothing(channel_member const& w) noexcept {
  return w.received.is_empty() && w.top <= w.bottom && w.detached.is_empty();
}

}  // namespace

/// Answers requests, passes on those that it has nothing for, and keeps those that stand.
void channel_team::serve(channel_member& w) noexcept {
  if (!alive()) return;  // in a child of fork() there are no thieves
  own_declined(w);
  if (w.doorbell.is_kept() && has_nothing(w)) return;
  channel_task* const bottom = w.bottom;
  request_channel& mine = requests_[w.index];
  // edge channel-1: before the looks.
  w.doorbell.hush(bottom);
  bool keeps_some = false;
  w.sets_aside = false;
  all().each_in_use_from(w.random.next(), [&](unsigned thief) {
    if (thief == w.index) return;  // its own, come back: see ask()
    auto const r = mine.take(thief);
    if (!r) return;
    answer const given = answer_to(w, *r);
    if (given != answer::nothing_to_give && given != answer::of_another_root) return;
    if (!r->stands) return pass_on(w, *r);
    mine.put_back(*r);
    // Forks look again at what is kept: their tasks may be for it. What is set aside waits for another root.
    (given == answer::nothing_to_give ? keeps_some : w.sets_aside) = true;
  });
  if (keeps_some) w.doorbell.keep(bottom);
  if (w.bottom != bottom) w.doorbell.move(bottom, w.bottom);
}

/// Tasks right below `bottom` that came back declined are private again. The caller hushes or moves the doorbell.
void channel_team::own_declined(channel_member& w) noexcept {
  while (w.bottom != w.floor && w.bottom[-1].future.peek() == future_state::declined) (--w.bottom)->future.clear();
}

/// Before it runs a task of those that it was given, which may last: who asks gets some of the rest.
void channel_team::share_rest(channel_member& w) noexcept {
  bool const has_rest = !w.received.is_empty() || !w.detached.is_empty();
  if (has_rest && w.doorbell.has_rung()) serve(w);
}

/// The oldest tasks, where a scope has run them: they are passed over. The caller moves the doorbell.
void channel_team::pass_emptied(channel_member& w) noexcept {
  while (w.bottom < w.top && w.bottom->run == &channel_run_nothing) (w.bottom++)->future.pass();
}

channel_team::answer channel_team::answer_to(channel_member& w, request r) noexcept {
  task_channel& to = tasks_[r.thief];
  // edge channel-1: after the request was taken: if this is an old one, the thief leaves the next here later.
  std::optional<task_root> const wanted = to.wanted();
  if (!wanted) return answer::nobody_waits;
  if (!w.root.is_any() && !wanted->admits(w.root)) return answer::of_another_root;
  pass_emptied(w);
  if (has_nothing(w)) return answer::nothing_to_give;
  if (!to.claim(w.root)) return answer::nobody_waits;
  batch b = give(w, r);
  b.is_for_any_root = wanted->is_any();
  if (!b.detached.is_empty()) add_to_census(w);
  counted(w.index).tasks_sent.add(b.size());
  to.send(b);
  leave_census(w);
  counted(w.index).publications.bump();
  if (sleepers().wake(r.thief)) counted(w.index).wakeups.bump();
  return answer::given;
}

/// The oldest tasks that it has.
batch channel_team::give(channel_member& w, request r) noexcept {
  auto const share_of = [&](std::size_t n) {
    bool const takes_half = r.wants == portion::half || (r.wants == portion::half_of_many && n >= k_many);
    return takes_half ? (n + 1) / 2 : 1;
  };
  auto const from = static_cast<std::uint16_t>(w.index);
  if (!w.received.is_empty()) {
    channel_task* const first = w.received.first;
    w.received.first += share_of(w.received.size());
    return {.first = first, .last = w.received.first, .owner = w.received.owner, .from = from, .of = w.root};
  }
  if (w.top <= w.bottom)
    return {.from = from,
            .detached = w.detached.take(std::min(share_of(w.detached.size()), k_most_detached)),
            .of = w.root};
  channel_task* const first = w.bottom;
  w.bottom += share_of(static_cast<std::size_t>(w.top - w.bottom));
  for (channel_task* t = first; t != w.bottom; ++t) t->future.expect_from(r.thief);
  return {.first = first, .last = w.bottom, .owner = w.index, .from = from, .of = w.root};
}

/// To the next victim; back to the thief where there is none, or the request has been everywhere.
void channel_team::pass_on(channel_member& w, request r) noexcept {
  unsigned const next = ++r.passed_on < all().in_use() ? choose_victim(w, r) : k_nobody;
  requests_[next == k_nobody ? r.thief : next].pass_on(r);
  counted(w.index).forwards.bump();
}

/// May the worker at that place have tasks for a thief that waits for these? A caller has those of its own call.
bool channel_team::may_have(unsigned place, task_root wanted) const noexcept {
  return wanted.is_any() || wanted.place() == place || !all().is_callers(place);
}

/// Somebody whose request channel is open, neither w nor the thief; k_nobody if there is none.
unsigned channel_team::choose_victim(channel_member& w, request r) noexcept {
  task_root const wanted = tasks_[r.thief].wanted().value_or(task_root::any());
  auto const count = static_cast<int>(all_places());
  auto const may_be = [&](int victim) {
    auto const v = static_cast<unsigned>(victim);
    return victim >= 0 && victim < count && v != w.index && v != r.thief && requests_[v].is_open() &&
           may_have(v, wanted);
  };
  if (r.order == victim_order::nearest) {
    // By their distance from the thief, on both sides in turn: those after w, then again from the nearest.
    int const thief = r.thief;
    int at = static_cast<int>(w.index);
    for (int i = 0; i < 2 * count; ++i) {
      int const distance = std::abs(at - thief);
      at = distance >= count ? thief - 1 : at < thief ? thief + distance : thief - distance - 1;
      if (may_be(at)) return static_cast<unsigned>(at);
    }
    return k_nobody;
  }
  unsigned chosen = k_nobody;
  static_cast<void>(all().any_in_use(w.random.next(), [&](unsigned victim) {
    if (may_be(static_cast<int>(victim))) chosen = victim;
    return chosen != k_nobody;
  }));
  return chosen;
}

/// Where others have the processors, a thief is late for long. It was told of tasks that were taken back, and will
/// ask anew when it runs. Until then its note is here on its behalf: the next fork is for it.
void channel_team::note_late_thieves(channel_member& w) noexcept {
  if (!oversubscribed()) return;
  bool is_any = false;
  for (unsigned thief = 1; thief < workers(); ++thief) {
    if (thief == w.index || !tasks_[thief].is_emptied()) continue;
    requests_[w.index].put_back({.thief = static_cast<std::uint16_t>(thief), .stands = true});
    is_any = true;
  }
  if (is_any) w.doorbell.ring();
}

bool channel_team::is_asked(channel_member& w) noexcept {
  if (!alive()) return false;
  auto const somebody_asks = [&] {
    return all().any_in_use(0, [&](unsigned i) {
      if (i == w.index || !requests_[w.index].peek(i)) return false;
      std::optional<task_root> const wanted = tasks_[i].wanted();
      return wanted && wanted->admits(w.root);
    });
  };
  if (w.doorbell.is_kept() && somebody_asks()) return true;
  // edge channel-1: before the looks.
  w.doorbell.hush(w.bottom);
  w.sets_aside = true;  // perhaps
  if (!somebody_asks()) return false;
  w.doorbell.ring();  // some may have to be passed on
  return true;
}

}  // namespace filch::inline FILCH_ABI::detail

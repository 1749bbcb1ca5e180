// The victim: answers steal requests with tasks, passes them on, or holds them. The owner's slow paths and the loops
// of idle and waiting workers call serve(). Protocol: protocol.md, "Serve".
#include "schedulers/channel/checks.hpp"
#include "schedulers/channel/profile.hpp"

#include <algorithm>
#include <cstdlib>

namespace filch::inline FILCH_ABI::detail {
namespace {

constexpr std::size_t k_many = 16;             // tasks
constexpr std::size_t k_most_detached = 1024;  // in a message: they are counted off one by one

/// How many of n tasks the thief gets.
std::size_t portion_of(std::size_t n, portion amount) noexcept {
  bool const takes_half = amount == portion::half || (amount == portion::half_of_many && n >= k_many);
  return takes_half ? (n + 1) / 2 : 1;
}

}  // namespace

void channel_poll_slow(channel_worker& owner) noexcept {
  channel_member& w = member(owner);
  w.team->serve(w);
}

bool channel_wanted_slow(channel_worker& owner) noexcept {
  channel_member& w = member(owner);
  if (w.profile) [[unlikely]]
    return w.profile->loops_split();
  return w.team->is_requested(w);
}

/// Answers requests, passes on those that it has nothing for, and puts broadcast ones back.
void channel_team::serve(channel_member& w) noexcept {
  if (!alive() || w.profile) return;  // a child of fork() has no thieves, nor has a measured worker
  check(w);
  reclaim_declined(w);
  if (w.doorbell.has_only_seen() && w.has_no_task()) return;
  channel_task* const bottom = w.bottom;
  request_channel& requests = w.own->requests;
  // edge channel-1: before the looks.
  w.doorbell.clear(bottom);
  bool holds_some = false;
  w.has_deferred = false;
  all().each_in_use_from(w.random.next(), [&](unsigned thief) {
    if (thief == w.index) return;  // its own, come back: see request_tasks()
    auto const r = requests.take(thief);
    if (!r) return;
    runtime::check("channel request", [&] { return broken(*r, thief, w); });
    answer_result const result = answer(w, *r);
    if (result != answer_result::nothing_to_give && result != answer_result::other_root) return;
    if (!r->is_broadcast) return pass_on(w, *r);
    requests.put_back(*r);
    // The next fork looks at the requests that are held. A deferred one waits for tasks of another root.
    (result == answer_result::nothing_to_give ? holds_some : w.has_deferred) = true;
  });
  if (holds_some) w.doorbell.mark_seen(bottom);
  if (w.bottom != bottom) w.doorbell.move(bottom, w.bottom);
}

channel_team::answer_result channel_team::answer(channel_member& w, request r) noexcept {
  sender_end const thief = channels_.to(r.thief);
  // edge channel-1: after the request was taken out. If it is an old one, the thief leaves its next one here later.
  std::optional<task_root> const wanted = thief.wanted();
  if (!wanted) return answer_result::not_wanted;
  if (!w.root.is_any() && !wanted->admits(w.root)) return answer_result::other_root;
  pass_emptied(w);
  if (w.has_no_task()) return answer_result::nothing_to_give;
  std::optional<task_root> const claimed = thief.claim(w.root);
  if (!claimed) return answer_result::not_wanted;
  batch b = take_oldest(w, r);
  b.is_for_any_root = claimed->is_any();
  if (!b.detached.is_empty()) add_to_call(w);
  w.counts.tasks_sent.add(b.size());
  thief.send(b);
  subtract_if_last(w);
  counted(w.index).publications.bump();
  note(w.index, runtime::trace::kind::gives);
  if (sleepers().wake(r.thief)) counted(w.index).wakeups.bump();
  return answer_result::given;
}

/// The oldest tasks at the bottom may be ones that a scope has run and emptied: they count as returned. The caller
/// moves the doorbell.
void channel_team::pass_emptied(channel_member& w) noexcept {
  while (w.bottom < w.top && w.bottom->run == &channel_run_nothing) (w.bottom++)->future.mark_returned();
}

/// Takes the oldest of the tasks that it has: received ones, then its own, then detached ones. A task that a lone
/// wait may be for is alone in its message: others before it might wait for the waiting worker.
batch channel_team::take_oldest(channel_member& w, request r) noexcept {
  batch b{.owner = w.index, .from = static_cast<std::uint16_t>(w.index), .root = w.root};
  if (!w.received.is_empty()) {
    b.owner = w.received.owner;
    b.first = w.received.first;
    b.last = w.received.first += portion_of(w.received.size(), r.amount);
    b.is_lone = w.received.is_lone;
  } else if (w.top > w.bottom) {
    channel_task* const lone = w.waits_alone() ? std::min(w.lone_from, w.top) : w.top;  // from there on
    b.is_lone = w.bottom >= lone;
    b.first = w.bottom;
    b.last = w.bottom += b.is_lone ? 1 : portion_of(static_cast<std::size_t>(lone - w.bottom), r.amount);
    for (channel_task* t = b.first; t != b.last; ++t) t->future.expect_from(r.thief);
  } else {
    b.detached = w.detached.take(std::min(portion_of(w.detached.size(), r.amount), k_most_detached));
  }
  return b;
}

/// To the next victim; back to the thief if there is none, or every worker has passed the request on.
void channel_team::pass_on(channel_member& w, request r) noexcept {
  unsigned const next = ++r.hops < all().in_use() ? choose_victim(w, r) : k_no_victim;
  channels_.to(next == k_no_victim ? r.thief : next).pass_on(r);
  w.counts.forwards.bump();
}

/// May the worker at that place have tasks for a thief that wants this root? A caller has tasks of its own call only.
bool channel_team::may_have(unsigned place, task_root wanted) const noexcept {
  return wanted.is_any() || wanted.place() == place || !all().is_callers(place);
}

/// A worker whose request channel is open, other than w and the thief; k_no_victim if there is none.
unsigned channel_team::choose_victim(channel_member& w, request r) noexcept {
  task_root const wanted = channels_.to(r.thief).wanted().value_or(task_root::any());
  return r.order == victim_order::nearest ? nearest_victim(w, r, wanted) : random_victim(w, r, wanted);
}

bool channel_team::may_be_victim(channel_member const& w, unsigned victim, request r, task_root wanted) noexcept {
  return victim != w.index && victim != r.thief && channels_.to(victim).is_open() && may_have(victim, wanted);
}

/// By the distance from the thief, on both sides in turn: the places after w, then from the nearest again.
unsigned channel_team::nearest_victim(channel_member const& w, request r, task_root wanted) noexcept {
  auto const count = static_cast<int>(all_places());
  int const thief = r.thief;
  int at = static_cast<int>(w.index);
  for (int i = 0; i < 2 * count; ++i) {
    int const distance = std::abs(at - thief);
    at = distance >= count ? thief - 1 : at < thief ? thief + distance : thief - distance - 1;
    bool const is_place = at >= 0 && at < count;
    if (is_place && may_be_victim(w, static_cast<unsigned>(at), r, wanted)) return static_cast<unsigned>(at);
  }
  return k_no_victim;
}

unsigned channel_team::random_victim(channel_member& w, request r, task_root wanted) noexcept {
  unsigned chosen = k_no_victim;
  static_cast<void>(all().any_in_use(w.random.next(), [&](unsigned victim) {
    if (may_be_victim(w, victim, r, wanted)) chosen = victim;
    return chosen != k_no_victim;
  }));
  return chosen;
}

/// A thief without a processor is late for long. If tasks were taken back from its channel, it requests anew only
/// when it runs. Until then this worker holds a request on its behalf, and the next fork serves it.
void channel_team::request_for_late_thieves(channel_member& w) noexcept {
  if (!oversubscribed()) return;
  bool is_any = false;
  for (unsigned thief = 1; thief < workers(); ++thief) {
    if (thief == w.index || !channels_.to(thief).was_taken_back()) continue;
    w.own->requests.put_back({.thief = static_cast<std::uint16_t>(thief), .is_broadcast = true});
    is_any = true;
  }
  if (is_any) w.doorbell.ring();
}

/// Does a thief wait for tasks that this worker may have?
bool channel_team::is_requested(channel_member& w) noexcept {
  if (!alive()) return false;
  check(w);
  auto const some_thief_waits = [&] {
    return all().any_in_use(0, [&](unsigned i) {
      if (i == w.index || !w.own->requests.has_request_of(i)) return false;
      std::optional<task_root> const wanted = channels_.to(i).wanted();
      return wanted && wanted->admits(w.root);
    });
  };
  // Short loops ask again and again while a thief waits: then the doorbell stays as it is.
  if (some_thief_waits()) return true;
  // edge channel-1: before the looks.
  w.doorbell.clear(w.bottom);
  w.has_deferred = true;  // perhaps
  if (!some_thief_waits()) return false;
  w.doorbell.ring();  // some requests may have to be passed on
  return true;
}

/// Before a worker runs a received or detached task, which may be long: waiting thieves get some of the rest.
void channel_team::share_rest(channel_member& w) noexcept {
  bool const has_rest = !w.received.is_empty() || !w.detached.is_empty();
  if (has_rest && w.doorbell.is_requested()) serve(w);
}

/// Before a task of this team enters another pool's run, a stay, or a full scope: its forks would wait there.
void channel_team::serve_thieves(channel_member& w) noexcept {
  if (w.doorbell.is_requested()) serve(w);
}

/// Before the worker waits in the system, where it can answer no requests.
void channel_team::offer_all(channel_member& w) noexcept {
  serve_thieves(w);
  give_back_received(w);
}

}  // namespace filch::inline FILCH_ABI::detail

// The victim answers a request: it offers its continuations (offer.cpp), or puts the request off since thieves have
// cost it too much, or tells thieves to come later. Called at a fork whose poll is set, by the handler of an
// interrupt (interrupt.cpp), and where a frame continues (barrier.cpp, frame.cpp). See protocol.md, "What a thief may
// cost its victim", and edges implicit-5 and implicit-6.
#include "schedulers/implicit/checks.hpp"
#include "schedulers/implicit/probes.hpp"
#include "schedulers/implicit/worker.hpp"

#include <algorithm>

namespace filch::inline FILCH_ABI::detail {
namespace {

// A walk over at most this many bytes costs what each offer costs: a join whose child was just called is that near.
constexpr std::uint64_t k_near = 8192;
// Charged in advance for each offer: to take it back.
constexpr runtime::cycles k_taking_back = 300;
// An offer that took longer was interrupted, or was the first to read the tables. A longer walk gets this much more
// for each byte.
constexpr runtime::cycles k_longest_offer = 2 * runtime::account::k_steal;
constexpr runtime::cycles k_slowest_walk = 4;
// And this for each frame of a library whose tables were compared: libraries may be unloaded.
constexpr runtime::cycles k_slowest_check = 10'000;
// For so long a request for a long walk is put off at first (some 0.7 ms), then for as long again as the worker has
// paid for the walk: its stack may be short by then.
constexpr runtime::cycles k_first_delay = runtime::cycles{1} << 21;

bool const volatile throws_indeed = false;

/// Bytes of the stack over which a walk from there goes.
std::uint64_t length_of_walk(implicit_member const& w, frame_registers const& there) noexcept {
  stack_bounds const bounds = bounds_of(w);
  std::uint64_t const begin = there[frame_registers::rsp];
  implicit_record const* const newest = w.offers.own()->newest();
  std::uint64_t const end = newest ? newest->rank : bounds.high;
  return begin >= bounds.low && begin < end ? end - begin : 0;
}

/// 0: next to nothing.
runtime::cycles expected_cost(implicit_member const& w, std::uint64_t length) noexcept {
  return length > k_near ? static_cast<runtime::cycles>(length * w.walk_cost / 1024) : 0;
}

}  // namespace

/// True: thieves have cost the worker too much for this walk, and know when to come again.
bool implicit_team::puts_off(implicit_member& w, frame_registers const& there) noexcept {
  if constexpr (runtime::k_steals_at_any_pace) return false;
  // Without interrupts this fork may be the last one for long. The walk is charged, so the next request comes later.
  if (!interrupts_) return false;
  runtime::cycles const expected = expected_cost(w, length_of_walk(w, there));
  runtime::cycles const now = runtime::time_stamp();
  // A walk that costs more than any credit is paid from the first request on.
  runtime::cycles const since = w.pays_since == 0 ? now : runtime::unless_set_back(w.pays_since, now);
  runtime::cycles const due = std::max(w.account.paid_at(expected), runtime::account::paid_from(since, expected));
  if (runtime::time_until(due) == 0) [[likely]] {
    w.pays_since = 0;
    return false;
  }
  w.pays_since = since;
  put_off(w, std::min(due, now + std::max(k_first_delay, now - since)));
  return true;
}

void implicit_team::put_off(implicit_member& w, runtime::cycles due) noexcept {
  w.put_off_until.set(due);
  w.pause.reset();  // it was in vain while the request stood, which a fork would have answered
  w.interrupted.answer();
  static_cast<void>(w.request().take_away());
  task_is_public(w.index, root_of(w));
}

template <class Publish>
void implicit_team::publish_and_charge(implicit_member& w, frame_registers const& there, Publish publish) noexcept {
  probes::timed_victim const t;
  runtime::cycles const begin = runtime::time_stamp();
  std::uint64_t const length = length_of_walk(w, there);
  implicit_stack const& s = *w.offers.own();
  std::uint64_t const checks = w.frames.checks();
  begin_change(w);
  std::uint32_t const before = s.number_of_records();
  walked const walk = publish();
  std::uint32_t const after = s.number_of_records();
  runtime::cycles const end = runtime::time_stamp();
  auto const bytes = static_cast<runtime::cycles>(length > k_near ? length : 0);
  auto const checked = static_cast<runtime::cycles>(w.frames.checks() - checks);
  runtime::cycles const cost =
      std::min(end - begin, k_longest_offer + k_slowest_walk * bytes + k_slowest_check * checked) +
      (after > before ? after - before : 0) * k_taking_back;
  w.account.charge(end, cost, expected_cost(w, length));
  if (length > k_near) w.walk_cost = static_cast<std::uint64_t>(cost) * 1024 / length + 1;
  end_change(w);
  if (walk == walked::cut_short) [[unlikely]] {
    answer_later(w);
  } else if (after > before) {
    w.pause.reset();
  } else if (after == 0) {
    w.pause.was_in_vain();
  }
}

void implicit_team::publish(implicit_member& w) noexcept {
  frame_registers here;
  filch_implicit_registers(&here);
  if (!puts_off(w, here)) publish_and_charge(w, here, [&] { return publish_from(w, walk_of(w, here, true)); });
}

void implicit_team::publish_at_any_cost(implicit_member& w) noexcept {
  frame_registers here;
  filch_implicit_registers(&here);
  publish_and_charge(w, here, [&] { return publish_from(w, walk_of(w, here, true)); });
}

void implicit_team::publish_callers(implicit_member& w, frame_registers at) noexcept {
  if (puts_off(w, at)) return;
  publish_and_charge(w, at, [&] {
    bool const has_caller = step(at, w.frames.at(at.ip), bounds_of(w));
    return has_caller ? publish_from(w, walk_of(w, at, true)) : walked::cut_short;
  });
}

void implicit_team::publish_interrupted(implicit_member& w, frame_registers const& there) noexcept {
  if (puts_off(w, there)) return;
  publish_and_charge(w, there, [&] { return publish_from(w, walk_of(w, there, false)); });
}

/// A thief that sent an interrupt, or saw that another one had, may sleep by now: one sleeper has to come again.
void implicit_team::answer_later(implicit_member& w) noexcept {
  w.pause.lengthen();
  w.interrupted.answer_later();
  task_is_public(w.index, root_of(w));
}

/// Its next fork offers.
void implicit_team::request_for_sleepers(runtime::fiber_member& m) noexcept {
  auto& w = static_cast<implicit_member&>(m);
  if (request_if_due(w) > 0) task_is_public(w.index, root_of(w));  // one of them has to come again
}

/// Tasks that were forked here would wait until this worker comes back, so thieves that have requested get some now.
void implicit_team::serve_thieves(runtime::fiber_member& m) noexcept {
  auto& w = static_cast<implicit_member&>(m);
  // A call for which there is no stack runs on none.
  if (w.stack && w.request().is_set()) publish_at_any_cost(w);
}

/// Each walk offers the oldest continuations that are left. In a stay nothing can be offered.
void implicit_team::offer_all(runtime::fiber_member& m) noexcept {
  auto& w = static_cast<implicit_member&>(m);
  if (!w.stack || !alive() || &fiber_self() != &w) return;
  implicit_stack const& s = *w.offers.own();
  for (std::uint32_t before = 0;;) {
    before = s.number_of_records();
    publish_at_any_cost(w);
    if (s.number_of_records() == before) return;
  }
}

void implicit_team::settle(implicit_record const& r, runtime::cycles waited) noexcept {
  static_cast<implicit_member&>(member(r.counter.begun_on)).account.settle_steal(waited - r.lasted);
}

implicit_polled_as implicit_polled() {
  // Never thrown. But no compiler, not even one that sees the whole program, may find that a child throws nothing.
  if (throws_indeed) throw continuation{};
  fiber_worker& w = fiber_self();
  if (w.kind == k_implicit_tag) {
    auto& m = static_cast<implicit_member&>(w);
    check_barrier(m);
    team_of(m).publish(m);
    return implicit_polled_as::worker;
  }
  return w.kind == fiber_kind::staying ? implicit_polled_as::worker : implicit_polled_as::outside;
}

}  // namespace filch::inline FILCH_ABI::detail

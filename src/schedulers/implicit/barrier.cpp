// The return barrier: it moves from the newest offered frame to the next older one, ends f of its frame, and
// continues the frame's join behind the landing pad. Runs on the frame's own stack. See protocol.md, "The return
// barrier".
#include "schedulers/implicit/barrier.hpp"

#include <filch/detail/caught.hpp>

#include "runtime/pools.hpp"
#include "schedulers/implicit/checks.hpp"
#include "schedulers/implicit/worker.hpp"

#include <cstring>
#include <new>
#include <utility>

namespace filch::inline FILCH_ABI::detail {
namespace {

/// The record of the frame that continues at its landing pad next, on this thread.
constinit thread_local implicit_record* resumed __attribute__((tls_model("initial-exec"))) = nullptr;
/// From a handler to the rest of its join: an exception_ptr, as its bits.
constinit thread_local void* caught __attribute__((tls_model("initial-exec"))) = nullptr;

bool is_on_worker() noexcept { return fiber_self().kind == k_implicit_tag; }

}  // namespace

// Not inlined: after a wait the code may be on another thread, where the variable has another address.
[[gnu::noinline]] void continue_at_pad(implicit_record& r) noexcept { resumed = &r; }

void implicit_stack::put_barrier(implicit_record& r) noexcept {
  barrier_slot = r.return_slot;
  hidden_return = r.hidden_return;
  order_for_handler();
  *r.return_slot = barrier;
}

void implicit_stack::pop() noexcept {
  barrier_slot = nullptr;
  known_end = &record(number_of_records());
  for (std::uint32_t i = number_of_records(); i-- > 0;) {
    if (!record(i).is_join()) continue;
    put_barrier(record(i));
    return;
  }
}

// ---- f is done ----------------------------------------------------------------------------------

namespace {

implicit_stack& stack_at(void const* on_stack, unsigned bits) noexcept {
  return *reinterpret_cast<implicit_stack*>(reinterpret_cast<std::uint64_t>(on_stack) >> bits << bits);
}

/// To leave a stack and come back to it costs two workers more than this.
void wait_a_little(join_counter& m) noexcept {
  constexpr int k_looks = 32;
  for (int i = 0; i < k_looks && m.arrived() == 0; ++i) runtime::relax();
}

/// The newest offer was stolen: waits for its thief. Continues on any worker.
void wait_for_thief(implicit_team& team, implicit_stack& s, implicit_record& r) noexcept {
  this_member().change.end();
  runtime::cycles const begin = runtime::time_stamp();
  wait_a_little(r.counter);
  team.wait_for_parts(r.counter, 1);
  team.settle(r, runtime::time_stamp() - begin);
  this_member().change.begin();
  s.open.forget_stolen(1);
}

enum class [[nodiscard]] offer_was { taken_back, stolen };

/// In a worker its `change` is set until the frame continues.
offer_was take_back_or_wait(implicit_stack& s, implicit_record& r) noexcept {
  if (!is_on_worker()) {  // in a child of fork(), which has no thieves: their tasks are lost
    runtime::open_places left;
    if (s.open.take_back(s.open.peek().end, left) == runtime::taken_back::is_stolen) runtime::child_can_t_go_on();
    return offer_was::taken_back;
  }
  implicit_member& w = this_member();
  w.change.begin();
  implicit_team& team = team_of(w);
  check_stack(w);
  if (team.take_back(w, s)) return offer_was::taken_back;
  wait_for_thief(team, s, r);
  // Else the thief could not enter the landing pad, and gave the frame back.
  return r.has_entered_pad ? offer_was::stolen : offer_was::taken_back;
}

/// After an offer was taken back. Mostly nothing is left to be offered until the next fork. But a frame without
/// unwind information may have hidden some, and a sleeping thief would not request again.
void continue_where_f_returns(implicit_stack& s, implicit_record& r, implicit_returned const& returned) noexcept {
  r.~implicit_record();
  s.pop();
  if (!is_on_worker()) return;
  implicit_member& w = this_member();
  end_change(w);
  implicit_team& team = team_of(w);
  if (team.somebody_sleeps(w)) team.publish_callers(w, returned.frame());
}

implicit_state* continue_at_pad_with(implicit_record& r, offer_was what) noexcept {
  enter_pad_as_owner(r, nullptr);
  r.outcome.is_stolen = what == offer_was::stolen;
  r.exceptions = runtime::take_exceptions();
  continue_at_pad(r);
  return &r.state;
}

}  // namespace

implicit_state* child_returned(implicit_returned const& returned, unsigned bits) noexcept {
  implicit_stack& s = stack_at(&returned, bits);
  implicit_record& r = *s.newest();
  offer_was const what = take_back_or_wait(s, r);
  if (!r.has_entered_pad) {
    continue_where_f_returns(s, r, returned);
    return nullptr;
  }
  r.outcome.f = returned.results;
  return continue_at_pad_with(r, what);
}

implicit_state* child_threw(void const* on_stack, unsigned bits, std::exception_ptr thrown) noexcept {
  implicit_stack& s = stack_at(on_stack, bits);
  implicit_record& r = *s.newest();
  offer_was const what = take_back_or_wait(s, r);
  r.outcome.f_threw = std::move(thrown);
  return continue_at_pad_with(r, what);
}

// ---- the rest of the join, behind its landing pad -----------------------------------------------

void implicit_caught() noexcept {
  if (resumed) return;
  std::exception_ptr p = caught_exception();
  static_assert(sizeof p == sizeof caught);
  std::memcpy(&caught, static_cast<void const*>(&p), sizeof caught);
  ::new (static_cast<void*>(&p)) std::exception_ptr;
}

implicit_outcome implicit_resumed() noexcept {
  implicit_record* const of = std::exchange(resumed, nullptr);
  if (!of) {
    implicit_outcome outcome{};
    std::memcpy(static_cast<void*>(&outcome.f_threw), &caught, sizeof caught);
    return outcome;
  }
  implicit_record& r = *of;
  runtime::put_exceptions(r.exceptions);
  implicit_outcome outcome = std::move(r.outcome);
  if (r.what == implicit_record::kind::outside) {
    end_outside(r);
    return outcome;
  }
  implicit_stack& s = *r.stack;
  r.~implicit_record();
  s.pop();
  if (is_on_worker()) {
    implicit_member& w = this_member();
    end_change(w);
    // A thief that requested while the fiber waited may sleep by now.
    if (w.request().is_set()) team_of(w).publish(w);
  }
  return outcome;
}

}  // namespace filch::inline FILCH_ABI::detail

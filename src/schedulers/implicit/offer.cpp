// The victim offers frames: a walk finds the oldest continuations on its stack, records are made of them, the return
// barrier is put in front of the newest, and the records become public. Called by answer.cpp. And the victim takes an
// offer back: called by the return barrier (barrier.cpp) and by scopes (frame.cpp). See protocol.md, "Offering".
#include "schedulers/implicit/checks.hpp"
#include "schedulers/implicit/probes.hpp"
#include "schedulers/implicit/worker.hpp"

#include <algorithm>

namespace filch::inline FILCH_ABI::detail {
namespace {

// Most offers for a request, half of the continuations if that is less. To take one back costs a misprediction and an
// exchange.
constexpr std::size_t k_offer_most = 8;
// From this many join frames on a request gets this part of them: each walk passes all of them.
constexpr std::size_t k_share_begins = 256;
constexpr std::size_t k_share = 16;
// Bytes from a fiber's first frame, at which each walk ends, to the high end of the stack.
constexpr std::uint64_t k_above_first_frame = 64;
// Where steals are forced: bytes that a walk without a request goes.
constexpr std::uint64_t k_newest_fork = 8192;

/// A landing pad that can't be read is run now, by the frame's owner.
void make_join_record(implicit_record& place, implicit_stack& s, join_frame const& frame) noexcept {
  implicit_record& r = implicit_record::make(&place, implicit_record::kind::join);
  r.stack = &s;
  r.frame = frame;
  r.return_slot = frame.return_slot();
  r.hidden_return = *r.return_slot;
  r.rank = frame.rsp;
  if (frame.pad_is == pad_use::run && !may_run_pad(frame.pad)) {
    r.frame.pad_is = pad_use::unfit;  // a breakpoint was set there. The taker of the offer gives it back
  } else if (frame.pad_is == pad_use::run || probes::runs_pads()) {
    enter_pad_as_owner(r, nullptr);  // perhaps in a handler, in the middle of a use of the cache
  }
}

/// As long as a thief may be on its way.
void wait_for_thief(implicit_stack const& s) noexcept {
  constexpr int k_looks = 32;
  for (int i = 0; i < k_looks && s.open.peek().size() != 0; ++i) runtime::relax();
}

}  // namespace

join_frame_walk implicit_team::walk_of(implicit_member& w, frame_registers const& begin,
                                       bool begins_after_call) noexcept {
  implicit_stack& s = *w.offers.own();
  stack_bounds bounds = bounds_of(w);
  // A stack of the program's own may lie in a task's frame. Code on this stack is below every open scope.
  if (s.newest_scope && begin[frame_registers::rsp] >= s.newest_scope->rank_) bounds = {};
  if (w.stale_pads.take()) [[unlikely]]
    w.frames.forget_all();
  // The walk ends at the newest record. If both lie at the same place, the spawned task is the older one.
  implicit_record const* const newest = s.newest();
  std::uint64_t stop = bounds_of(w).high;
  if (newest) stop = newest->is_join() ? newest->rank : newest->rank + 1;
  // Where steals are forced each fork is offered at once: there are older ones to find only if a thief requests.
  if (runtime::k_each_fork_offers && !w.request().is_requested()) {
    stop = std::min(stop, begin[frame_registers::rsp] + k_newest_fork);
  }
  return {begin, begins_after_call, bounds, stop, &w.frames};
}

/// Makes records of the oldest few, join frames and spawned tasks in one order: the fewer an owner keeps that meets a
/// thief, the less it could still offer. Returns how many.
std::uint32_t implicit_team::make_oldest(implicit_member& w, implicit_stack& s, join_frame_walk const& walk,
                                         bool& saw_all) noexcept {
  // All records are in use, perhaps by tasks that are done.
  if (implicit_record* const newest = s.number_of_records() == places_ ? s.newest() : nullptr) {
    if (!newest->is_join()) newest->scope->forget_stolen();
  }
  std::uint32_t const first = s.number_of_records();
  oldest_join_frames& found = w.found;
  {
    w.walks.bump();
    probes::timed_walk const t;
    found.find(walk);
  }
  saw_all = found.reach() >= bounds_of(w).high - k_above_first_frame;
  std::size_t const at_most = probes::offers_at_most();
  if (found.found() > k_share_begins && !s.oldest_scope && at_most == 0) return make_share(s, walk, found.found());
  // The scopes between the newest offer and the part of the stack that the walk could not see.
  implicit_frame* scope = s.oldest_scope;
  while (scope && (scope->position_ >= found.reach() || !scope->may_follow_newest())) scope = scope->newer_;
  std::size_t all = found.found();
  for (implicit_frame* f = scope; f && all < 2 * k_offer_most; f = f->newer_) all += f->waiting_;
  std::size_t const usual = runtime::k_each_fork_offers ? all : (all + 1) / 2;
  std::size_t const wanted = std::min(usual, at_most ? std::min(at_most, k_offer_most) : k_offer_most);
  auto const count = static_cast<std::uint32_t>(std::min<std::size_t>(wanted, places_ - first));
  std::size_t frames = 0;
  for (std::uint32_t i = 0; i != count; ++i) {
    implicit_record& place = s.record(first + i);
    if (scope && (frames == found.found() || scope->rank_ >= found.from_oldest(frames).rsp)) {
      implicit_frame& f = *scope;
      if (f.waiting_ == 1) scope = f.newer_;
      implicit_record& r = implicit_record::make(&place, implicit_record::kind::spawned);
      ++f.offered_;
      r.task = &f.take_oldest();
      r.rank = f.rank_;
      r.scope = &f;
    } else {
      make_join_record(place, s, found.from_oldest(frames++));
    }
  }
  return count;
}

/// The walk found very many frames: makes records of the oldest part, so that the next walk is shorter. Returns how
/// many.
std::uint32_t implicit_team::make_share(implicit_stack& s, join_frame_walk const& from, std::size_t all) noexcept {
  join_frame_walk walk = from;
  std::uint32_t const first = s.number_of_records();
  auto const count = static_cast<std::uint32_t>(std::min<std::size_t>(all / k_share, places_ - first));
  join_frame frame;
  for (std::size_t left = all; left > count; --left) static_cast<void>(walk.next(frame));
  for (std::uint32_t i = count; i-- > 0 && walk.next(frame);) make_join_record(s.record(first + i), s, frame);
  return count;
}

implicit_team::walked implicit_team::publish_from(implicit_member& w, join_frame_walk const& walk) noexcept {
  implicit_stack& s = *w.offers.own();
  std::uint32_t const before = s.number_of_records();
  w.interrupted.answer();
  bool saw_all = true;
  if (std::uint32_t const ready = make_oldest(w, s, walk, saw_all)) make_public(w, s, ready);
  if (probes::victims_wait()) wait_for_thief(s);
  if (s.number_of_records() == before) return saw_all ? walked::complete : walked::cut_short;
  counted(w.index).publications.bump();
  return walked::complete;
}

/// Offers this many records, which are ready behind those that are public.
void implicit_team::make_public(implicit_member& w, implicit_stack& s, std::uint32_t count) noexcept {
  std::uint32_t const first = s.number_of_records();
  for (std::uint32_t i = 0; i != count; ++i) s.record(first + i).counter.begun_on = w.index;
  s.known_end = &s.record(first + count);
  for (std::uint32_t i = count; i-- > 0;) {
    implicit_record& r = s.record(first + i);
    if (!r.is_join()) continue;
    // An unwinder that was interrupted may be on its way past the old place: now it knows both.
    order_for_handler();
    if (s.barrier_slot) *s.barrier_slot = s.hidden_return;
    s.put_barrier(r);
    break;
  }
  // The request goes before the offer comes: a thief that finds nothing left requests anew, and that one stays.
  bool const was_requested = w.request().take_away();
  s.open.offer_to(first + count);  // edge implicit-1: with the records
  has_offered(w, was_requested);
}

bool implicit_team::take_back(implicit_member& w, implicit_stack& s) noexcept {
  probes::timed_victim const t;
  hand_over_offers(w);
  runtime::open_places left;
  // edge implicit-3: the offer is the owner's, or a thief has it. All records are offers: none is private.
  if (s.open.take_back(s.number_of_records(), left) == runtime::taken_back::is_stolen) return false;
  if (left.is_empty()) took_own_offer(w);
  return true;
}

}  // namespace filch::inline FILCH_ABI::detail

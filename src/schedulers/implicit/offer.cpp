// The victim's side: offering join frames, and what happens when their children return.
#include <filch/detail/caught.hpp>
#include <filch/detail/implicit_trial.hpp>

#include "os/linux/thread_end.hpp"
#include "runtime/pools.hpp"
#include "schedulers/implicit/pad_reader.hpp"
#include "schedulers/implicit/pad_scanner.hpp"
#include "schedulers/implicit/worker.hpp"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <new>

extern "C" {
void filch_implicit_run_pad(filch::detail::implicit_state*, filch::detail::join_frame const*, _Unwind_Exception*);
/// Set while a landing pad is run by hand. It is assembly that reads it, and optimisers of whole programs do not see
/// that.
FILCH_API constinit thread_local filch::detail::implicit_state* filch_implicit_offering
    __attribute__((tls_model("initial-exec"), used)) = nullptr;
extern std::uint64_t const filch_implicit_barriers[];
extern char const filch_implicit_barrier_outside[];
}

namespace filch::inline FILCH_ABI::detail {
namespace {

// How many continuations an owner offers at a request: half of them, as long as that is not many; each costs a
// misprediction and an exchange when it is taken back.
constexpr std::size_t k_offer_most = 8;
// From so many join frames on, which are as many to walk past, a share of them.
constexpr std::size_t k_share_begins = 256;
constexpr std::size_t k_share = 16;

constinit implicit_trial trials;

/// Adds the cycles of its life to a counter, while a measurement asks.
class timed {
 public:
  explicit timed(runtime::counter& c) noexcept : counter_(c), begin_(now()) {}
  timed(timed const&) = delete;
  timed& operator=(timed const&) = delete;
  ~timed() {
    if (begin_ != 0) counter_.add(now() - begin_);
  }

 private:
  // relaxed: it does not change while a pool runs.
  static std::uint64_t now() noexcept {
    return trials.counts_cycles.load(std::memory_order_relaxed) ? __builtin_ia32_rdtsc() : 0;
  }
  runtime::counter& counter_;
  std::uint64_t begin_;
};
// Where a fiber's first frame, at which every walk ends, has its stack pointer: so far from the stack's high end.
constexpr std::uint64_t k_above_first_frame = 64;
// So far from the newest frame, in bytes, is a join's child that was just called. A walk over no more costs what all
// do.
constexpr std::uint64_t k_near = 8192;
// What an owner is charged for each offer in advance: taking it back.
constexpr runtime::cycles k_taking_back = 300;
// An offer that takes longer was interrupted, or was the first look at the tables; so does a longer walk at so many
// cycles a byte.
constexpr runtime::cycles k_longest_offer = 2 * runtime::account::k_steal;
constexpr runtime::cycles k_slowest_walk = 4;

class signals_blocked {
 public:
  signals_blocked() noexcept {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  signals_blocked(signals_blocked const&) = delete;
  signals_blocked& operator=(signals_blocked const&) = delete;
  ~signals_blocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

// The frame that goes on at its landing pad next, on this thread.
constinit thread_local implicit_record* resumed __attribute__((tls_model("initial-exec"))) = nullptr;
/// From a handler to the rest of its join: an exception_ptr, as its bits.
constinit thread_local void* caught __attribute__((tls_model("initial-exec"))) = nullptr;
// The offer of a frame outside all pools whose child is about to return.
constinit thread_local implicit_record* outside_done __attribute__((tls_model("initial-exec"))) = nullptr;

bool const volatile throws_indeed = false;

[[gnu::noinline]] void set_resumed(implicit_record* r) noexcept { resumed = r; }

// What the unwinder calls at the end of a handler of the marker: it belongs to the record.
void keep_marker(_Unwind_Reason_Code, _Unwind_Exception*) {}

void make_ready(implicit_record& r, implicit_record::kind what) noexcept {
  ::new (static_cast<void*>(&r)) implicit_record;
  r.what = what;
  r.counter.balance = 0;
}

/// Is the landing pad to be run, not read?
bool must_run(join_frame const& frame) noexcept {
  return frame.pad_is == pad_use::run || trials.runs_pads.load(std::memory_order_relaxed);  // relaxed: as above
}

/// But for registers that nobody wrote: in what was read they are zero.
bool is_same(implicit_state const& read, implicit_state const& run) noexcept {
  auto const may_be = [](std::uint64_t was_read, std::uint64_t was_run) {
    return was_read == 0 || was_read == was_run;
  };
  return std::memcmp(&read, &run, offsetof(implicit_state, r8)) == 0 && may_be(read.r8, run.r8) &&
         may_be(read.r9, run.r9) && may_be(read.r10, run.r10);
}

void put_marker(implicit_record& r) noexcept {
  std::memcpy(&r.marker.exception_class, "FILCHC++", sizeof r.marker.exception_class);
  r.marker.exception_cleanup = keep_marker;
}

void run_pad(implicit_record& r, join_frame const& frame) noexcept {
  signals_blocked const for_now;
  filch_implicit_run_pad(&r.state, &frame, &r.marker);
}

/// The pad's state says what it hands over.
void has_landed(implicit_record& r) noexcept {
  r.has_landed = true;
  r.run = reinterpret_cast<decltype(r.run)>(r.state.rdi);
  r.words[0] = r.state.rsi;
  r.words[1] = r.state.rdx;
  r.g_slot = reinterpret_cast<void*>(r.state.rcx);
}

/// By the frame's owner, who may run a pad that can't be read any more: a debugger stops there.
void land_as_owner(implicit_record& r) noexcept {
  if (land(r)) [[likely]]
    return;
  join_frame const frame = r.frame;
  run_pad(r, frame);
  has_landed(r);
}

/// A landing pad that has to be run is run now, by the frame's owner: the stack below it is in use.
void make_ready(implicit_record& r, implicit_stack& s, join_frame const& frame) noexcept {
  make_ready(r, implicit_record::kind::join);
  r.stack = &s;
  r.frame = frame;
  r.return_slot = frame.return_slot();
  r.hidden_return = *r.return_slot;
  r.rank = frame.rsp;
  if (frame.pad_is == pad_use::run && !may_run_pad(frame.pad)) {
    r.frame.pad_is = pad_use::unfit;  // by now: a breakpoint. Who takes it gives it back
  } else if (must_run(frame)) {
    land_as_owner(r);
  }
}

}  // namespace

implicit_trial& implicit_trials() noexcept { return trials; }

bool land(implicit_record& r) noexcept {
  if (r.has_landed) return true;
  join_frame const frame = r.frame;
  put_marker(r);
  if (frame.pad_is == pad_use::unfit) return false;
  bool const is_read = frame.pad_is == pad_use::read;
  implicit_state read;
  if (is_read && !read_pad(read, frame, &r.marker)) return false;
  if (!must_run(frame)) {
    r.state = read;
  } else {
    run_pad(r, frame);
    if (is_read && !is_same(read, r.state)) trials.misread_pads.fetch_add(1, std::memory_order_relaxed);
  }
  has_landed(r);
  return true;
}

/// The oldest few, join frames and spawned tasks in one order, so that who meets a thief has nothing left to offer.
/// Returns how many are ready.
std::uint32_t implicit_team::offer_oldest(implicit_member& w, implicit_stack& s, join_frame_walk const& walk,
                                          bool& saw_all) noexcept {
  // Full: perhaps of tasks that are done.
  if (implicit_record* const newest = s.number_of_records() == places_ ? s.newest() : nullptr) {
    if (newest->what == implicit_record::kind::spawned) newest->scope->forget_stolen();
  }
  std::uint32_t const first = s.number_of_records();
  oldest_join_frames& found = w.found;
  {
    counted(w.index).walks.bump();
    timed const t(counted(w.index).walk_cycles);
    found.find(walk);
  }
  saw_all = found.reach() >= reinterpret_cast<std::uint64_t>(w.stack->memory().high()) - k_above_first_frame;
  std::size_t const trial = trials.offers_at_most.load(std::memory_order_relaxed);  // relaxed: as above
  if (found.found() > k_share_begins && !s.oldest_scope && trial == 0) return offer_share(s, walk, found.found());
  // Of the scopes, those that come after what was offered, and before what the walk could not see.
  implicit_frame* scope = s.oldest_scope;
  while (scope && (scope->position_ >= found.reach() || !scope->may_follow_newest())) scope = scope->newer_;
  std::size_t all = found.found();
  for (implicit_frame* f = scope; f && all < 2 * k_offer_most; f = f->newer_) all += f->waiting_;
  std::size_t const usual = runtime::k_steals_are_forced ? all : (all + 1) / 2;
  std::size_t const wanted = std::min(usual, trial ? std::min(trial, k_offer_most) : k_offer_most);
  auto const count = static_cast<std::uint32_t>(std::min<std::size_t>(wanted, places_ - first));
  std::size_t frames = 0;
  for (std::uint32_t i = 0; i != count; ++i) {
    implicit_record& r = s.record(first + i);
    if (scope && (frames == found.found() || scope->rank_ >= found.from_oldest(frames).rsp)) {
      make_ready(r, implicit_record::kind::spawned);
      implicit_frame& f = *scope;
      if (f.waiting_ == 1) scope = f.newer_;
      ++f.offered_;
      r.task = &f.take_oldest();
      r.rank = f.rank_;
      r.scope = &f;
    } else {
      make_ready(r, s, found.from_oldest(frames++));
    }
  }
  return count;
}

/// Of very many frames, the oldest part of them, so that the next walk does not have to go all the way again. Returns
/// how many are ready.
std::uint32_t implicit_team::offer_share(implicit_stack& s, join_frame_walk const& from, std::size_t all) noexcept {
  join_frame_walk walk = from;
  std::uint32_t const first = s.number_of_records();
  auto const count = static_cast<std::uint32_t>(std::min<std::size_t>(all / k_share, places_ - first));
  join_frame frame;
  for (std::size_t left = all; left > count; --left) static_cast<void>(walk.next(frame));
  for (std::uint32_t i = count; i-- > 0 && walk.next(frame);) {
    make_ready(s.record(first + i), s, frame);
  }
  return count;
}

join_frame_walk implicit_team::walk_of(implicit_member& w, frame_registers const& begin,
                                       bool begins_after_call) noexcept {
  implicit_stack& s = *w.offers.load(std::memory_order_relaxed);
  auto const [low, high] = bounds_of(w);
  // relaxed: thieves that come meanwhile give back what they get.
  if (w.has_stale_pads.load(std::memory_order_relaxed)) [[unlikely]] {
    w.has_stale_pads.store(false, std::memory_order_relaxed);
    w.frames.forget_all();
  }
  // Newer ones than what was offered; of equals the spawned task is the older one.
  implicit_record const* const newest = s.newest();
  std::uint64_t stop = high;
  if (newest) stop = newest->what == implicit_record::kind::join ? newest->rank : newest->rank + 1;
  // Where steals are forced every fork is offered at once, and older ones need not be looked for unless a thief asks.
  if (runtime::k_steals_are_forced && w.poll.load(std::memory_order_relaxed) != k_requested) {
    stop = std::min(stop, begin[frame_registers::rsp] + k_near);
  }
  return {begin, begins_after_call, low, high, stop, &w.frames};
}

/// False: nothing was offered, and not all of the stack was seen: code without unwind information hides what the
/// worker holds. It may come back from there, and not fork.
bool implicit_team::publish_from(implicit_member& w, join_frame_walk const& walk) noexcept {
  implicit_stack& s = *w.offers.load(std::memory_order_relaxed);
  std::uint32_t const before = s.number_of_records();
  // edge implicit-5: before the request is taken away. Who asks anew may interrupt anew.
  w.is_interrupted.store(false, std::memory_order_release);
  bool saw_all = true;
  if (std::uint32_t const ready = offer_oldest(w, s, walk, saw_all)) make_public(w, s, ready);
  if (trials.victims_wait.load(std::memory_order_relaxed)) wait_for_thief(s);  // relaxed: as above
  if (s.number_of_records() == before) return saw_all;
  counted(w.index).publications.bump();
  return true;
}

/// As long as one may be on its way.
void implicit_team::wait_for_thief(implicit_stack const& s) noexcept {
  constexpr int k_looks = 32;
  auto const is_taken = [&s] {
    implicit_public const now = implicit_public::of(s.open.load(std::memory_order_relaxed));
    return now.tail == now.head;
  };
  for (int i = 0; i < k_looks && !is_taken(); ++i) runtime::relax();
}

/// So many records behind those that are public.
void implicit_team::make_public(implicit_member& w, implicit_stack& s, std::uint32_t count) noexcept {
  std::uint64_t word = s.open.load(std::memory_order_relaxed);
  std::uint32_t const first = implicit_public::of(word).head;
  for (std::uint32_t i = 0; i != count; ++i) s.record(first + i).counter.begun_on = w.index;
  s.known_end = &s.record(first + count);
  for (std::uint32_t i = count; i-- > 0;) {
    implicit_record& r = s.record(first + i);
    if (r.what != implicit_record::kind::join) continue;
    // An unwinder may be on its way past the old place; both are known.
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (s.barrier_slot) *s.barrier_slot = s.hidden_return;
    s.put_barrier(r);
    break;
  }
  // edge implicit-4: takes the request away, before the offer: who asks when this is taken already asks anew.
  bool const was_asked = w.poll.exchange(k_not_requested, std::memory_order_seq_cst) == k_requested;
  // edge implicit-1, and idle-1: the records are written before they are offered. Thieves move the tail meanwhile.
  while (!s.open.compare_exchange_weak(word, implicit_public::of(word).with_head(first + count).word(),
                                       std::memory_order_seq_cst, std::memory_order_relaxed)) {
  }
  has_offered(w, was_asked);
}

std::uint64_t implicit_team::length_of_walk(implicit_member const& w, frame_registers const& there) noexcept {
  auto const [low, high] = bounds_of(w);
  std::uint64_t const begin = there[frame_registers::rsp];
  implicit_record const* const newest = w.offers.load(std::memory_order_relaxed)->newest();
  std::uint64_t const end = newest ? newest->rank : high;
  return begin >= low && begin < end ? end - begin : 0;
}

runtime::cycles implicit_team::expected_cost(implicit_member const& w, std::uint64_t length) noexcept {
  return length > k_near ? static_cast<runtime::cycles>(length * w.walk_cost / 1024) : 0;
}

bool implicit_team::puts_off(implicit_member& w, frame_registers const& there) noexcept {
  if constexpr (runtime::k_steals_are_forced) return false;
  runtime::cycles const due = w.account.paid_at(expected_cost(w, length_of_walk(w, there)));
  if (runtime::time_stamp() >= due) [[likely]]
    return false;
  put_off(w, due);
  return true;
}

void implicit_team::put_off(implicit_member& w, runtime::cycles due) noexcept {
  w.put_off_until.store(due, std::memory_order_relaxed);
  // edge implicit-5: as in refuse().
  w.is_interrupted.store(false, std::memory_order_release);
  // edge implicit-6: who sees that the request is gone sees until when; and before the look for sleepers.
  static_cast<void>(w.poll.exchange(k_not_requested, std::memory_order_seq_cst));
  task_is_public(w.index, root_of(w));
}

template <class From>
void implicit_team::publish_or_refuse(implicit_member& w, frame_registers const& there, From from) noexcept {
  timed const t(counted(w.index).victim_cycles);
  runtime::cycles const begin = runtime::time_stamp();
  std::uint64_t const length = length_of_walk(w, there);
  implicit_stack const& s = *w.offers.load(std::memory_order_relaxed);
  std::uint32_t const before = s.number_of_records();
  w.begin_change();
  bool const is_answer = from();
  std::uint32_t const after = s.number_of_records();
  runtime::cycles const end = runtime::time_stamp();
  auto const bytes = static_cast<runtime::cycles>(length > k_near ? length : 0);
  runtime::cycles const cost = std::min(end - begin, k_longest_offer + k_slowest_walk * bytes) +
                               (after > before ? after - before : 0) * k_taking_back;
  w.account.charge(end, cost, expected_cost(w, length));
  if (length > k_near) w.walk_cost = static_cast<std::uint64_t>(cost) * 1024 / length + 1;
  w.end_change();
  if (!is_answer) [[unlikely]] {
    refuse(w);
  } else {
    w.pause.store(implicit_member::k_first_pause, std::memory_order_relaxed);
  }
}

void implicit_team::publish(implicit_member& w) noexcept {
  frame_registers here;
  filch_implicit_registers(&here);
  if (!puts_off(w, here)) publish_or_refuse(w, here, [&] { return publish_from(w, walk_of(w, here, true)); });
}

void implicit_team::publish_callers(implicit_member& w, implicit_returned const& of) noexcept {
  frame_registers at{{of.rbx, of.rbp, of.r12, of.r13, of.r14, of.r15, reinterpret_cast<std::uint64_t>(&of + 1)},
                     of.goes_on_at};
  if (puts_off(w, at)) return;
  publish_or_refuse(
      w, at, [&] { return step(at, w.frames.at(at.ip), bounds_of(w)) && publish_from(w, walk_of(w, at, true)); });
}

void implicit_team::publish_interrupted(implicit_member& w, frame_registers const& there) noexcept {
  if (puts_off(w, there)) return;
  publish_or_refuse(w, there, [&] { return publish_from(w, walk_of(w, there, false)); });
}

bool implicit_team::take_back(implicit_member& w, implicit_stack& s) noexcept {
  timed const t(counted(w.index).victim_cycles);
  if constexpr (runtime::k_steals_are_forced) hand_over_offers(w);
  // edge implicit-3: acquire, the steals so far.
  std::uint64_t word = s.open.load(std::memory_order_acquire);
  for (;;) {
    implicit_public const now = implicit_public::of(word);
    if (now.tail == now.head) return false;
    // edge implicit-3: the offer is the owner's again, or a thief has it: one word decides.
    if (!s.open.compare_exchange_weak(word, now.with_head(now.head - 1).word(), std::memory_order_seq_cst,
                                      std::memory_order_acquire)) {
      continue;
    }
    // edge implicit-4: while somebody sleeps, or is on the way, a request stands wherever nothing is offered.
    if (now.tail == now.head - 1 && should_ask_itself(w)) ask_itself(w);
    return true;
  }
}

void implicit_team::ask_itself(implicit_member& w) noexcept {
  // edge implicit-6: if that is put off one of them has to come again.
  if (ask_if_due(w) > 0) task_is_public(w.index, root_of(w));
}

void implicit_team::settle(implicit_record const& r, runtime::cycles waited) noexcept {
  static_cast<implicit_member&>(member(r.counter.begun_on)).account.settle_steal(waited - r.lasted);
}

void implicit_stack::put_barrier(implicit_record& r) noexcept {
  barrier_slot = r.return_slot;
  hidden_return = r.hidden_return;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  *r.return_slot = barrier;
}

/// After the newest record came to its end: the barrier moves to the next older join.
void implicit_stack::pop() noexcept {
  barrier_slot = nullptr;
  known_end = &record(number_of_records());
  for (std::uint32_t i = number_of_records(); i-- > 0;) {
    if (record(i).what != implicit_record::kind::join) continue;
    put_barrier(record(i));
    return;
  }
}

/// What a task forked here would wait for its return, so thieves that ask get some of it now.
void implicit_team::serve_thieves(runtime::fiber_member& m) noexcept {
  auto& w = static_cast<implicit_member&>(m);
  // Where no stack is to be had a call comes here that is on none.
  if (w.stack && w.poll.load(std::memory_order_relaxed) != 0) publish_at_any_cost(w);
}

/// What the worker waits for may be one of these.
void implicit_team::publish_at_any_cost(implicit_member& w) noexcept {
  frame_registers here;
  filch_implicit_registers(&here);
  publish_or_refuse(w, here, [&] { return publish_from(w, walk_of(w, here, true)); });
}

/// Each walk offers the oldest of what is left.
void implicit_team::offer_all(runtime::fiber_member& m) noexcept {
  auto& w = static_cast<implicit_member&>(m);
  if (!w.stack || !alive()) return;
  implicit_stack const& s = *w.offers.load(std::memory_order_relaxed);
  for (std::uint32_t before = 0;;) {
    before = s.number_of_records();
    publish_at_any_cost(w);
    if (s.number_of_records() == before) return;
  }
}

// ---- the child returned -----------------------------------------------------------------------

namespace {

/// In a child of fork() there are no thieves, and no workers but in name: what was not stolen is the caller's.
[[gnu::cold]] void take_back_in_child_of_fork(implicit_stack& s) noexcept {
  implicit_public const now = implicit_public::of(s.open.load(std::memory_order_relaxed));
  if (now.tail == now.head) runtime::child_can_t_go_on();
  s.open.store(now.with_head(now.head - 1).word(), std::memory_order_relaxed);
}

/// To leave a stack and come back to it costs two workers more than this.
void wait_a_little(join_counter& m) noexcept {
  constexpr int k_looks = 32;
  // relaxed: wait_for_parts() looks again.
  for (int i = 0; i < k_looks && std::atomic_ref(m.balance).load(std::memory_order_relaxed) == 0; ++i)
    runtime::relax();
}

/// After an offer was taken back. Mostly nothing is left to be offered until the next fork; what a frame without
/// unwind information hid may be, and who sleeps would not ask again.
void go_on(implicit_team& team, implicit_member& w, implicit_returned const& returned) noexcept {
  w.end_change();
  if (team.somebody_sleeps(w)) team.publish_callers(w, returned);
}

/// On the stack of an offered frame, below it, when its child has come to its end. Null: nobody has run g, and
/// the frame goes on where the child returned to, as if there had been none.
implicit_state* child_is_done(void const* on_stack, unsigned bits, implicit_returned const* returned,
                              std::exception_ptr thrown) noexcept {
  auto const header = reinterpret_cast<std::uint64_t>(on_stack) >> bits << bits;
  auto& s = *reinterpret_cast<implicit_stack*>(header);
  implicit_record& r = s.record(s.number_of_records() - 1);
  bool is_stolen = false;
  if (fiber_self().kind != fiber_kind::implicit) {
    take_back_in_child_of_fork(s);
  } else {
    implicit_member& w = this_member();
    w.begin_change();  // until implicit_resumed()
    implicit_team& team = team_of(w);
    is_stolen = !team.take_back(w, s);
    if (is_stolen) {
      w.end_change();
      runtime::cycles const begin = runtime::time_stamp();
      wait_a_little(r.counter);
      team.wait_for_parts(r.counter, 1);
      team.settle(r, runtime::time_stamp() - begin);
      this_member().begin_change();
      s.forget_stolen(1);
      is_stolen = r.has_landed;  // else the thief could not, and gave it back
    }
  }
  if (returned && !r.has_landed) {
    r.~implicit_record();
    s.pop();
    if (fiber_self().kind == fiber_kind::implicit) {
      implicit_member& w = this_member();
      go_on(team_of(w), w, *returned);
    }
    return nullptr;
  }
  land_as_owner(r);
  r.outcome.is_stolen = is_stolen;
  if (returned) r.outcome.f = returned->results;
  r.outcome.f_threw = std::move(thrown);
  r.exceptions = runtime::take_exceptions();
  set_resumed(&r);
  return &r.state;
}

}  // namespace

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
    delete &r;
  } else {
    implicit_stack& s = *r.stack;
    r.~implicit_record();
    s.pop();
    if (fiber_self().kind == fiber_kind::implicit) {
      implicit_member& w = this_member();
      w.end_change();
      // Who asked while the fiber waited sleeps, perhaps.
      if (w.poll.load(std::memory_order_relaxed) != 0) team_of(w).publish(w);
    }
  }
  return outcome;
}

implicit_polled_as implicit_polled() {
  // Never: but no compiler, not even one that sees the whole program, may find that a child throws nothing.
  if (throws_indeed) throw continuation{};
  fiber_worker& w = fiber_self();
  if (w.kind == fiber_kind::implicit) {
    auto& m = static_cast<implicit_member&>(w);
    team_of(m).publish(m);
    return implicit_polled_as::worker;
  }
  return w.kind == fiber_kind::staying ? implicit_polled_as::worker : implicit_polled_as::outside;
}

// ---- outside all pools ------------------------------------------------------------------------

namespace {

using outside_frames = sized_call_frame_cache<16>;
/// What a thread outside all pools remembers of the frames that its joins are in. On the heap: few threads join
/// there.
constinit thread_local outside_frames* frames_outside = nullptr;

void forget_frames(void*) { delete std::exchange(frames_outside, nullptr); }

/// Null without memory: then frames are worked out anew.
call_frame_cache* frames_of_thread_outside() noexcept {
  static os::at_thread_end const at_end(forget_frames);
  if (frames_outside || !at_end.is_there()) return frames_outside;
  frames_outside = new (std::nothrow) outside_frames;
  if (frames_outside && !at_end.pass(frames_outside)) forget_frames(nullptr);
  return frames_outside;
}

}  // namespace

implicit_offer* implicit_offer_to_pool() noexcept {
  frame_registers here;
  filch_implicit_registers(&here);
  join_frame frame;
  // Of the stack no more is known.
  std::uint64_t const low = here[frame_registers::rsp];
  constexpr std::uint64_t k_anywhere = ~std::uint64_t{0};
  if (!join_frame_walk(here, true, low, k_anywhere, k_anywhere, frames_of_thread_outside()).next_of_any_use(frame)) {
    return nullptr;
  }
  if (frame.pad_is == pad_use::unfit) return nullptr;
  auto* const r = new (std::nothrow) implicit_record;
  if (!r) return nullptr;
  make_ready(*r, implicit_record::kind::outside);
  r->frame = frame;
  r->return_slot = frame.return_slot();
  land_as_owner(*r);
  return r;
}

void implicit_return_to_pad(implicit_offer& o) noexcept {
  auto& r = static_cast<implicit_record&>(o);
  r.outcome.is_stolen = true;  // by the pool
  outside_done = &r;
  *r.return_slot = reinterpret_cast<std::uint64_t>(&filch_implicit_barrier_outside);
}

}  // namespace filch::inline FILCH_ABI::detail

// ---- called by the barrier --------------------------------------------------------------------

using filch::detail::implicit_state;

extern "C" {

[[gnu::visibility("hidden"), gnu::used]] implicit_state* filch_implicit_child_returned(
    filch::detail::implicit_returned const* returned, unsigned bits) noexcept {
  return filch::detail::child_is_done(returned, bits, returned, nullptr);
}

[[gnu::visibility("hidden"), gnu::used]] implicit_state* filch_implicit_child_threw(void* exception,
                                                                                    void const* on_stack,
                                                                                    unsigned bits) noexcept {
  abi::__cxa_begin_catch(exception);
  std::exception_ptr thrown = filch::detail::caught_exception();
  abi::__cxa_end_catch();
  return filch::detail::child_is_done(on_stack, bits, nullptr, std::move(thrown));
}

[[gnu::visibility("hidden"), gnu::used]] implicit_state* filch_implicit_returned_outside() noexcept {
  filch::detail::implicit_record& r = *std::exchange(filch::detail::outside_done, nullptr);
  r.exceptions = filch::runtime::take_exceptions();
  filch::detail::resumed = &r;
  return &r.state;
}

/// The barrier's: it takes whatever comes, as the join frame above it would. Its exception table has the landing pad
/// at a fixed place, counted from where the function begins (src/arch/x86_64/continuation.S).
[[gnu::visibility("hidden"), gnu::used]] _Unwind_Reason_Code filch_implicit_personality(int, _Unwind_Action actions,
                                                                                        _Unwind_Exception_Class,
                                                                                        _Unwind_Exception* exception,
                                                                                        _Unwind_Context* context) {
  if (actions & _UA_SEARCH_PHASE) return _URC_HANDLER_FOUND;
  if (!(actions & _UA_HANDLER_FRAME)) filch::runtime::no_cxx_exception();  // pthread_exit(), say
  _Unwind_SetGR(context, 0, reinterpret_cast<_Unwind_Word>(exception));
  constexpr std::size_t k_landing_pad_at = 12;
  std::uint32_t landing_pad = 0;
  std::memcpy(&landing_pad,
              reinterpret_cast<char const*>(_Unwind_GetLanguageSpecificData(context)) + k_landing_pad_at,
              sizeof landing_pad);
  _Unwind_SetIP(context, _Unwind_GetRegionStart(context) + landing_pad);
  return _URC_INSTALL_CONTEXT;
}

}  // extern "C"

// The pool: its members, the way in, and the default pool. pool_of.hpp and the team's threads call it. Protocol:
// protocol.md, "First requests".
#include "runtime/exceptions_in_flight.hpp"
#include "runtime/pool_of.hpp"
#include "runtime/profile/measured_runs.hpp"
#include "runtime/stack.hpp"
#include "runtime/workers_around.hpp"
#include "schedulers/channel/checks.hpp"
#include "schedulers/channel/profile.hpp"

#include <memory>
#include <utility>

namespace filch::inline FILCH_ABI {
namespace detail {

constinit thread_local channel_worker* channel_self = &channel_places::outside;

namespace {
channel_profile* profile_of_caller() noexcept {
  channel_member const* const m = channel_places::member_or_null(channel_self);
  return m ? m->profile : nullptr;
}
}  // namespace

template <> task_staying<channel_stack>::task_staying() : channel_worker(nullptr) {
  channel_places::begin_stay(*this);
  if (auto* const p = profile_of_caller()) [[unlikely]]
    p->of_thread().stay_begins();
}
template <> task_staying<channel_stack>::~task_staying() {
  if (auto* const p = profile_of_caller()) [[unlikely]]
    p->of_thread().stay_ends();
  channel_places::end_stay(*this);
}

bool channel_pays_to_wake(std::uint64_t ticks) noexcept {
  return profile_of_caller() || channel_places::pays_to_wake(ticks);
}
void channel_attach(task_source& s) { channel_places::attach(s, &channel::default_pool); }
void channel_ran_alone(std::uint64_t ticks) noexcept { channel_places::ran_alone(ticks); }
bool channel_works_alone() noexcept { return channel_places::works_alone(); }
template <> unsigned workers_around<channel>() noexcept { return channel_places::workers_around(); }

unsigned channel_worker_index() noexcept { return channel_places::index_of_caller(); }

channel_team::channel_team(runtime::settings s, channel_options const& own, bool tolerate_missing_threads)
    : team(runtime::profile::for_measuring(std::move(s)), tolerate_missing_threads),
      own_(own),
      members_(all_places()),
      channels_(all_places()) {
  runtime::named("channel_options::amount", own.amount, steal_amount::half);
  runtime::named("channel_options::victims", own.victims, victim_order::nearest);
  for (unsigned i = 0; i < workers(); ++i) make_place(i);
  channel_places::watch();
  request_for_threads();
  start();
  withdraw_for_missing_threads();
}

void channel_team::make_place(unsigned place) noexcept {
  auto* const m = make_member<channel_member>(place);
  channel_task* const base = channel_places::lay_out(*m, space(place).high());
  m->bottom = m->floor = base;
  m->doorbell.clear(base);
  m->team = this;
  m->own = &channels_.received_by(place);
  m->index = place;
  m->random = runtime::random_numbers(place);
  members_[place] = m;
  m->own->requests.attach(m->doorbell);
}

channel_team::~channel_team() { stop(); }

std::uint64_t channel_team::forks_of(unsigned worker) const noexcept { return counted_forks(*members_[worker]); }

void channel_team::add_to(channel_stats& all) const noexcept {
  for (unsigned i = 0; i < all_places(); ++i) {
    if (was_used(i)) members_[i]->counts.add_to(all);
  }
}

std::string channel_team::own_figures() const {
  channel_stats all;
  static_cast<pool_stats&>(all) = stats();
  add_to(all);
  if (all.requests == 0) return {};
  return std::to_string(all.requests) + " steal requests, passed on " + std::to_string(all.forwards) + " times, " +
         std::to_string(all.returns) + " came back; " + std::to_string(all.tasks_sent) + " tasks in " +
         std::to_string(all.publications) + " answers; " + std::to_string(all.updates) + " updates";
}

std::byte* channel_team::unused_above(unsigned me) noexcept { return reinterpret_cast<std::byte*>(self(me).top); }

channel_member* channel_team::place_of_caller() const noexcept { return channel_places::place_of_caller(*this); }

void channel_team::enter_or_nest(void (*call)(void*), void* argument) {
  channel_places::enter(*this, call, argument);
}

void channel_team::be_worker(unsigned me, void (*call)(void*), void* argument) {
  channel_member& w = self(me);
  begin_call_on_own_stack(me);
  if (all().is_callers(me)) {
    set_root(w, task_root::of_call(me, ++w.calls));
    w.own->calls.begin(w.root);
    request_for_late_thieves(w);
  }
  w.own->requests.reopen();
  channel_places::as_worker(w, [&] {
    if (is_measured()) [[unlikely]]
      return run_measured(w, call, argument);
    run_at(w, call, argument);
  });
  if (!alive()) return;
  check(w);
  w.root = task_root::any();
  w.own->requests.close();
}

void channel_team::run_at(channel_member& w, void (*call)(void*), void* argument) {
  struct {
    void (*call)(void*);
    void* argument;
    channel_team& team;
    channel_member& w;
  } run{call, argument, *this, w};
  runtime::call_on(
      space(w.index), w.index,
      [](void* p) {
        auto& mine = *static_cast<decltype(run)*>(p);
        mine.call(mine.argument);
        mine.team.give_back_received(mine.w);
        mine.team.leave_detached(mine.w);
      },
      &run);
}

void channel_team::run_in_order(void (*call)(void*), void* argument) {
  channel_staying const here;
  if (is_measured()) [[unlikely]]
    return runtime::profile::run_measured_in_order<channel>([&] { call(argument); });
  call(argument);
}

void channel_stack::enter_default(void (*call)(void*), void* argument) {
  channel::default_pool().run([=] { call(argument); });
}

template class pool_of<channel_team>;

}  // namespace detail

channel::pool& channel::default_pool() { return detail::make_default_pool<pool>(); }

}  // namespace filch::inline FILCH_ABI

// The pool of filch::direct: makes workers, and lets callers in and out. pool_of, team and task_places call these
// functions. Protocol: src/runtime/idle.md for callers, default-1 for the default pool.
#include "runtime/pool_of.hpp"
#include "runtime/stack.hpp"
#include "runtime/task_places.hpp"
#include "runtime/workers_around.hpp"
#include "schedulers/direct/checks.hpp"
#include "schedulers/direct/profile.hpp"
#include "schedulers/direct/worker.hpp"

#include <utility>

namespace filch::inline FILCH_ABI {
namespace detail {

using direct_places = task_places<direct_stack, direct_member>;

constinit thread_local direct_worker* direct_self = &direct_places::outside;

namespace {
direct_profile* profile_of_caller() noexcept {
  direct_member const* const m = direct_places::member_or_null(direct_self);
  return m ? m->profile : nullptr;
}
}  // namespace

template <> task_staying<direct_stack>::task_staying() : direct_worker(nullptr) {
  direct_places::begin_stay(*this);
  if (auto* const p = profile_of_caller()) [[unlikely]]
    p->of_thread().stay_begins();
}
template <> task_staying<direct_stack>::~task_staying() {
  if (auto* const p = profile_of_caller()) [[unlikely]]
    p->of_thread().stay_ends();
  direct_places::end_stay(*this);
}

void direct_poll_slow() noexcept { direct_places::serve_own_thieves(); }
bool direct_pays_to_wake(std::uint64_t ticks) noexcept {
  return profile_of_caller() || direct_places::pays_to_wake(ticks);
}
void direct_attach(task_source& s) { direct_places::attach(s, &direct::default_pool); }
void direct_ran_alone(std::uint64_t ticks) noexcept { direct_places::ran_alone(ticks); }
bool direct_works_alone() noexcept { return direct_places::works_alone(); }
template <> unsigned workers_around<direct>() noexcept { return direct_places::workers_around(); }

unsigned direct_worker_index() noexcept { return direct_places::index_of_caller(); }

direct_team::direct_team(runtime::settings s, bool tolerate_missing_threads)
    : team(runtime::profile::for_measuring(std::move(s)), tolerate_missing_threads) {
  members_.resize(all_places());
  for (unsigned i = 0; i < workers(); ++i) make_place(i);
  direct_places::watch();
  start();
}

void direct_team::make_place(unsigned place) noexcept {
  auto* const m = make_member<direct_member>(place);
  direct_task* const base = direct_places::lay_out(*m, space(place).high());
  m->bot.start_at(base);
  m->public_end.start_at(base);
  m->split.answer(base);
  // The request is for workers that have yet to come.
  if (workers() > 1) m->split.request();
  m->team = this;
  m->index = place;
  m->random = runtime::random_numbers(place);
  members_[place] = m;
}

direct_team::~direct_team() { stop(); }

std::uint64_t direct_team::forks_of(unsigned worker) const noexcept { return counted_forks(*members_[worker]); }

std::byte* direct_team::unused_above(unsigned me) noexcept { return reinterpret_cast<std::byte*>(members_[me]->top); }

direct_member* direct_team::place_of_caller() const noexcept { return direct_places::place_of_caller(*this); }

void direct_team::enter_or_nest(void (*call)(void*), void* argument) { direct_places::enter(*this, call, argument); }

void direct_team::be_worker(unsigned me, void (*call)(void*), void* argument) {
  direct_member& m = *members_[me];
  begin_call_on_own_stack(me);
  // Workers that slept while this place was unused have requested nothing here. direct-5: after the place was
  // entered.
  begins_task(m.unasked);
  ask_if_searched(m);
  direct_places::as_worker(m, [&] {
    if (is_measured()) [[unlikely]]
      return run_measured(m, call, argument);
    runtime::call_on(space(me), me, call, argument);
  });
  if (alive()) check_idle(m);
}

void direct_team::run_in_order(void (*call)(void*), void* argument) {
  direct_staying const here;
  if (is_measured()) [[unlikely]]
    return run_measured_in_order(call, argument);
  call(argument);
}

bool direct_stack::is_orphan(direct_worker& owner) noexcept { return !member(owner).team->alive(); }

void direct_stack::enter_default(void (*call)(void*), void* argument) {
  direct::default_pool().run([=] { call(argument); });
}

template class pool_of<direct_team>;

}  // namespace detail

direct::pool& direct::default_pool() { return detail::make_default_pool<pool>(); }

}  // namespace filch::inline FILCH_ABI

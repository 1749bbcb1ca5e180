// The pool: its members, the way in, and the default pool. pool_of.hpp and the fiber team call it. Protocol:
// src/runtime/idle.md for callers, default-1 for the default pool.
#include "runtime/fiber/nesting.hpp"
#include "runtime/pool_of.hpp"
#include "runtime/workers_around.hpp"
#include "schedulers/cactus/checks.hpp"
#include "schedulers/cactus/profile.hpp"

#include <algorithm>

namespace filch::inline FILCH_ABI {
namespace detail {

cactus_team::cactus_team(runtime::settings s, bool tolerate_missing_threads)
    : fiber_team(runtime::profile::for_measuring(std::move(s)), tolerate_missing_threads, nullptr) {
  for (unsigned i = 0; i < workers(); ++i) make_place(i);
  start();
}

void cactus_team::make_place(unsigned place) noexcept {
  auto* const m = make_member<cactus_member>(place);
  m->base = reinterpret_cast<fiber_task**>(m + 1);
  auto const room = static_cast<std::size_t>(space(place).high() - reinterpret_cast<std::byte*>(m->base));
  m->places =
      static_cast<std::uint32_t>(std::min<std::size_t>(room / sizeof(fiber_task*), runtime::open_range::k_most));
  m->head = m->base;
  // The request is for workers whose threads have yet to come.
  m->requests().begin(workers() > 1 ? split_state::still_requested : split_state::quiet, m->base);
  add(*m, place);
}

cactus_team::~cactus_team() { stop(); }

/// Tasks that were forked here would wait until this worker comes back, so thieves that request get some now.
void cactus_team::serve_thieves(runtime::fiber_member& m) noexcept {
  auto& w = static_cast<cactus_member&>(m);
  if (w.profile) [[unlikely]]
    return;
  check(w);
  if (w.requests().is_requested() && w.can_offer_more()) publish(w);
}

void cactus_team::offer_all(runtime::fiber_member& m) noexcept {
  if (!alive()) return;
  auto& w = static_cast<cactus_member&>(m);
  if (w.profile) [[unlikely]]
    return;
  check(w);
  while (w.can_offer_more()) publish(w);
}

void cactus_enter_default(void (*call)(void*), void* argument) {
  cactus::default_pool().run([=] { call(argument); });
}

void cactus_attach(task_source& s) {
  if (!runtime::fiber_team::attach_here(s, k_cactus_tag)) cactus::default_pool().attach(s);
}

template <> unsigned workers_around<cactus>() noexcept { return runtime::fiber_workers_around(); }

template class pool_of<cactus_team>;

}  // namespace detail

std::size_t cactus::pool::written_stack_bytes() const noexcept { return team().written_stack_bytes(); }

cactus::pool& cactus::default_pool() { return detail::make_default_pool<pool>(); }

}  // namespace filch::inline FILCH_ABI

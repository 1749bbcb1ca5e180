// A measured worker's hooks and calls: each fork and join reads the clocks of FILCH_PROFILE. The slow paths and
// frame.cpp call it. See profile.hpp.
#include "schedulers/cactus/profile.hpp"

#include "runtime/profile/measured_runs.hpp"

#include <algorithm>

namespace filch::inline FILCH_ABI::detail {

namespace profiling = runtime::profile;

cactus_profile::~cactus_profile() = default;

namespace {

/// A frame around each open join takes more of the stack.
constexpr std::size_t k_least_frame = 64;

/// Either value stays: nothing is published, and no thief requests.
void let_loops_split(cactus_member& w, bool split) noexcept {
  if (split) {
    w.requests().request();
  } else {
    static_cast<void>(w.requests().answer());
  }
}

}  // namespace

void cactus_profile::touch(cactus_member& w) noexcept {
  std::fill_n(w.base, touch_open_tasks(), nullptr);
  let_loops_split(w, true);
}

void cactus_profile::go_on(cactus_member& w, profiling::segment next) noexcept {
  if (loops_change()) let_loops_split(w, loops_split());
  record_->begins(next);
}

void cactus_profile::pushed(cactus_member& w, void const* code) noexcept {
  index const i = w.index_of_head() - 1;
  if (!has_record(i)) return record_->no_room();
  forked(i, code);
  go_on(w, profiling::segment::of_f);
}

cactus_outcome cactus_profile::join(cactus_member& w) noexcept {
  index const i = w.index_of_head() - 1;
  if (!has_record(i)) {
    --w.head;
    return cactus_outcome::run_it;
  }
  record_->f_ended(open(i));
  go_on(w, profiling::segment::of_g);
  fiber_task& task = *w.base[i];  // its place is in use meanwhile
  static_cast<void>(task.run(task));
  w.head = w.base + i;
  record_->g_ended(open(i));
  go_on(w, profiling::segment::after_join);
  return cactus_outcome::met;
}

void cactus_team::begin_profile(cactus_member& m) {
  auto const most = std::min<std::size_t>(m.places, stack_size() / k_least_frame);
  profiling::begin_profile<cactus>(
      std::make_unique<cactus_profile>(static_cast<std::ptrdiff_t>(most)), profile_at(m.index), m, m.profile,
      profiling::steal_rule::continuation,
      [&](void (*call)(void*), void* p) { fiber_team::be_worker(m.index, call, p); },
      [&] {
        return profiling::measured_steal<cactus>(asked_for(), [](runtime::settings s, void (*call)(void*), void* p) {
          cactus_team(std::move(s), true).enter_or_nest(call, p);
        });
      });
}

void cactus_team::be_worker(unsigned me, void (*call)(void*), void* argument) {
  if (!is_measured()) return fiber_team::be_worker(me, call, argument);
  auto& m = static_cast<cactus_member&>(member(me));
  profiling::run_measured<cactus>(
      m.profile, [&] { begin_profile(m); }, [&](void (*c)(void*), void* p) { fiber_team::be_worker(me, c, p); }, call,
      argument);
}

}  // namespace filch::inline FILCH_ABI::detail

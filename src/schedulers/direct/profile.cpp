// Calls of a measured pool: each fork and join reads the clocks of FILCH_PROFILE. The slow paths call it. See
// profile.hpp.
#include "schedulers/direct/profile.hpp"

#include "runtime/profile/measured_runs.hpp"
#include "runtime/stack.hpp"

namespace filch::inline FILCH_ABI::detail {

namespace profiling = runtime::profile;

direct_profile::~direct_profile() = default;

void direct_team::begin_profile(direct_member& m) {
  profiling::begin_profile<direct>(
      std::make_unique<direct_profile>(m.first_task(), m.end), profile_at(m.index), m, m.profile,
      profiling::steal_rule::leapfrog,
      [&](void (*call)(void*), void* p) { runtime::call_on(space(m.index), m.index, call, p); },
      [&] {
        return profiling::measured_steal<direct>(asked_for(), [](runtime::settings s, void (*call)(void*), void* p) {
          direct_team(std::move(s), true).enter_or_nest(call, p);
        });
      });
}

void direct_team::run_measured(direct_member& m, void (*call)(void*), void* argument) {
  profiling::run_measured<direct>(
      m.profile, [&] { begin_profile(m); },
      [&](void (*c)(void*), void* p) { runtime::call_on(space(m.index), m.index, c, p); }, call, argument);
}

void direct_team::run_measured_in_order(void (*call)(void*), void* argument) {
  profiling::run_measured_in_order<direct>([&] { call(argument); });
}

}  // namespace filch::inline FILCH_ABI::detail

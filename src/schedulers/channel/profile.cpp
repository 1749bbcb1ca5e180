// Calls of a measured pool: each fork and join reads the clocks of FILCH_PROFILE. The slow paths call it. See
// profile.hpp.
#include "schedulers/channel/profile.hpp"

#include "runtime/profile/measured_runs.hpp"

namespace filch::inline FILCH_ABI::detail {

namespace profiling = runtime::profile;

channel_profile::~channel_profile() = default;

void channel_team::begin_profile(channel_member& m) {
  profiling::begin_profile<channel>(
      std::make_unique<channel_profile>(m.first_task(), m.end), profile_at(m.index), m, m.profile,
      profiling::steal_rule::steal_half, [&](void (*call)(void*), void* p) { run_at(m, call, p); },
      [&] {
        return profiling::measured_steal<channel>(asked_for(), [](runtime::settings s, void (*call)(void*), void* p) {
          channel_team(std::move(s), {}, true).enter_or_nest(call, p);
        });
      });
}

void channel_team::run_measured(channel_member& m, void (*call)(void*), void* argument) {
  profiling::run_measured<channel>(
      m.profile, [&] { begin_profile(m); }, [&](void (*c)(void*), void* p) { run_at(m, c, p); }, call, argument);
}

}  // namespace filch::inline FILCH_ABI::detail

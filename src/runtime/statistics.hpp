// FILCH_STATS=1: what the workers counted, as a table when the process ends.
#pragma once

namespace filch::runtime {

class team;

/// From now on the team is in the table, if `print` (or another team's) asks for one.
void register_team(team& t, bool print);
/// The team is about to go: its figures are kept, the team is not looked at any more.
void retire_team(team& t) noexcept;

}  // namespace filch::runtime

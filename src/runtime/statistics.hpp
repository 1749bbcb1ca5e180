// FILCH_STATS=1: the workers' counters, as a table when the process ends.
#pragma once

namespace filch::runtime {

class team;

/// From now on the team is in the table, if `print` (or another team's) asks for one.
void register_team(team& t, bool print);
/// The team is about to end: its figures are kept, and the team is not read any more.
void retire_team(team& t) noexcept;

}  // namespace filch::runtime

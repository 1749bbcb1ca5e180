// What the command line asks for, checked: what throws bad_request here does so before anything is measured or
// printed.
#pragma once

#include "contender.hpp"
#include "options.hpp"
#include "program.hpp"

#include <fstream>
#include <string_view>
#include <vector>

namespace bench {

std::vector<sized_workload> wanted_workloads(options const& o);

/// Which schedulers a measurement takes; what it does not take is refused where it is named, and left out of all.
struct eligible {
  bool (*takes)(contender const& c);
  std::string_view rule;  // one line: for whom the measurement is
};
/// For the table, which takes all. Null: the other program's.
std::vector<contender const*> wanted_schedulers(options const& o);
/// At least one, none of them null. Peers are among them where they are named.
std::vector<contender const*> wanted_schedulers(options const& o, eligible const& which);
contender const* wanted_scheduler(std::string const& name, eligible const& which);
/// A peer, where it is built in, last: first what is asked for. Null: it is not.
contender const* add_peer(std::vector<contender const*>& to, std::string_view name);

/// 1 and as many as usual, if the command line does not say.
std::vector<unsigned> wanted_workers(options const& o);
/// 1, 2, 4 and so on, and as many as usual.
std::vector<unsigned> wanted_workers_by_powers(options const& o);
/// Two or more each.
std::vector<unsigned> wanted_workers_that_steal(options const& o);
unsigned most(std::vector<unsigned> const& workers);

/// A scheduler without workers has one row, beside others' rows on more. Throws where it stands alone: it would
/// ignore how many are asked for.
void check_has_workers(std::vector<contender const*> const& schedulers, options const& o, unsigned workers);

/// As --repeat says, else 3 with --quick, else as usual.
unsigned wanted_turns(options const& o, unsigned usual = 15);

/// A file that is written at the end. Without a name: none, and what is written is lost. Throws where it can't be
/// written.
std::ofstream opened(std::string const& name);
/// Throws where it can't be written. `name` is for the message.
void write(std::ofstream& file, std::string const& name, std::string const& text);

/// Throws what keeps pools of those that are Filch's from being made: a bad variable of the environment, say.
void check_pools(std::vector<contender const*> const& schedulers, unsigned workers);

}  // namespace bench

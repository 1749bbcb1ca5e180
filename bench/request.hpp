// Checks the requests of the command line. They throw bad_request before anything is measured or printed.
#pragma once

#include "contender.hpp"
#include "options.hpp"
#include "program.hpp"

#include <fstream>
#include <string_view>
#include <vector>

namespace bench {

std::vector<sized_workload> wanted_workloads(options const& o);

/// The schedulers that a measurement takes. Others are refused if they are named, and left out of "all".
struct eligible {
  bool (*takes)(contender const& c);
  std::string_view rule;  // one line: the schedulers that the measurement takes
};
/// For the table, which takes all schedulers. Null: the other program's.
std::vector<contender const*> wanted_schedulers(options const& o);
/// At least one, none of them null. Peers only if they are named.
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

/// A scheduler without workers has one row beside the rows of others. Throws if it stands alone: it would ignore the
/// number of workers.
void check_has_workers(std::vector<contender const*> const& schedulers, options const& o, unsigned workers);

/// The number of --repeat, else 3 with --quick, else `usual`.
unsigned wanted_turns(options const& o, unsigned usual = 15);

/// A file that is written at the end. Without a name there is no file, and the text is dropped. Throws if it can't be
/// written.
std::ofstream opened(std::string const& name);
/// Throws if it can't be written. `name` is for the message.
void write(std::ofstream& file, std::string const& name, std::string const& text);

/// Throws the error of a pool of Filch that can't be made: a bad variable of the environment, say.
void check_pools(std::vector<contender const*> const& schedulers, unsigned workers);

}  // namespace bench

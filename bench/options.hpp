// The command line. Combinations of options are checked here; names, sizes and numbers are checked in request.hpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bench {

struct options {
  std::vector<std::string> workloads{"all"};
  std::vector<std::string> schedulers{"all"};
  // empty: as usual
  std::vector<std::string> workers;
  std::string repeat;
  std::string format = "table";
  bool quick = false;
  bool published = false;
  bool is_long = false;  // the long table
  // files to write, too; empty: none
  std::string html;
  std::string json;
  // one of these, or none
  bool list = false;
  bool micro = false;
  bool space = false;
  bool stealing = false;
  bool server = false;
  bool loops = false;
  bool algorithms = false;
  std::string channels;  // the figure
  std::string against;   // the scheduler
  std::string help;      // text of --help, else empty
  std::string paper;     // the name, or all
  // of `paper`; empty: none
  std::string svg;       // the folder
  std::string markdown;  // the page
  // of --channels
  std::string victims = "last";
  bool early_requests = false;

  bool as_json() const { return format == "json"; }
  bool has_table() const { return format == "table"; }
  /// Is it --scheduler cluster?
  bool is_for_cluster() const { return schedulers.size() == 1 && schedulers[0] == "cluster"; }
};

/// Throws bad_request if an option is unknown, or the measurement would ignore it.
options read_options(int argc, char** argv);

}  // namespace bench

// Parses the command line, and refuses combinations of options that no measurement takes (options.hpp). main.cpp
// calls it.
#include "options.hpp"

#include "workload.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filch/pool_options.hpp>

namespace bench {
namespace {

/// The option of the measurement; empty: the table.
std::string_view measurement(options const& o) {
  if (o.micro) return "--micro";
  if (o.space) return "--space";
  if (o.stealing) return "--stealing";
  if (o.server) return "--server";
  if (o.loops) return "--loops";
  if (o.algorithms) return "--algorithms";
  if (!o.channels.empty()) return "--channels";
  if (!o.against.empty()) return "--against";
  return "";
}

void check_cluster(options const& o) {
  if (std::find(o.schedulers.begin(), o.schedulers.end(), "cluster") == o.schedulers.end()) return;
  if (!o.is_for_cluster())
    throw bad_request("--scheduler cluster excludes other schedulers: it measures the processes that mpirun started");
  auto const refuse = [](std::string_view option) {
    throw bad_request(std::string(option) + " does not apply to --scheduler cluster");
  };
  if (!measurement(o).empty()) refuse(measurement(o));
  if (o.quick) refuse("--quick");
  if (o.published) refuse("--published");
  if (o.format == "csv") refuse("--format csv");
#if !BENCH_WITH_CLUSTER
  throw bad_request("--scheduler cluster needs a build with -DFILCH_WITH_MPI=ON");
#endif
}

bool all_have_sizes(options const& o) {
  auto const has_size = [](std::string const& text) { return text.find('=') != std::string::npos; };
  return std::all_of(o.workloads.begin(), o.workloads.end(), has_size);
}

/// --quick sets the sizes of workloads that are named without one, and the number of their runs; --published the
/// sizes.
void check_quick(options const& o) {
  bool const sets_sizes = o.algorithms || !all_have_sizes(o);
  bool const sets_turns = o.repeat.empty() && !o.space;
  if (o.quick && !sets_sizes && !sets_turns) throw bad_request("--quick has no effect here: leave it out");
  if (o.published && all_have_sizes(o)) throw bad_request("--published has no effect here: leave it out");
}

void check_table(options const& o) {
  bool const is_table = measurement(o).empty() && o.has_table() && !o.is_for_cluster();
  if (o.is_long && !is_table) throw bad_request("--long applies to the table only");
  if (!o.json.empty() && !is_table) throw bad_request("--json applies to the table only; --format json prints JSON");
  if (!o.html.empty() && (!is_table || o.is_long)) throw bad_request("--html applies to the short table only");
}

/// In `options` an empty text is one that was not written.
void check_empty(CLI::App const& app) {
  for (CLI::Option const* const option : app.get_options()) {
    for (std::string const& text : option->results()) {
      if (text.empty()) throw bad_request(option->get_name() + " has an empty value");
    }
  }
}

/// No option stands before `paper`.
void check_alone(CLI::App const& app, CLI::App const& command) {
  for (CLI::Option const* const option : app.get_options()) {
    if (option->count() > 0) throw bad_request(command.get_name() + " excludes " + option->get_name());
  }
}

void check_alone(CLI::App const& app, CLI::Option const& one) {
  for (CLI::Option const* const other : app.get_options()) {
    if (other != &one && other->count() > 0) throw bad_request(one.get_name() + " excludes " + other->get_name());
  }
}

}  // namespace

// Long: a line for each option.
options read_options(int argc, char** argv) {
  options o;
  CLI::App app{"Measures Filch, the serial program and peers on recursive workloads, in interleaved pairs."};
  auto* const list = app.add_flag("--list", o.list, "name the workloads, their sizes and the schedulers");
  auto* const workload =
      app.add_option("--workload", o.workloads, "NAME or NAME=SIZE, comma separated; or all")->delimiter(',');
  auto* const scheduler = app.add_option("--scheduler", o.schedulers, "comma separated; or all")->delimiter(',');
  auto* const workers = app.add_option("--workers", o.workers,
                                       "numbers of workers, comma separated; default: 1, and the default of a pool")
                            ->delimiter(',');
  auto* const repeat = app.add_option("--repeat", o.repeat,
                                      "turns of a row; default: 5 for the short table, else 15, or 3 with --quick");
  app.add_option("--format", o.format, "table, json or csv")->check(CLI::IsMember({"table", "json", "csv"}));
  auto* const quick = app.add_flag("--quick", o.quick, "the main workloads at smaller sizes, about two minutes");
  auto* const published = app.add_flag(
      "--published", o.published, "the workloads of the five papers at the papers' own sizes, which takes hours");
  app.add_flag("--long", o.is_long, "the long table: a row for each scheduler on each number of workers");
  app.add_option("--html", o.html, "write the short table as a page with bar charts into this file, too");
  app.add_option("--json", o.json, "write all figures of the table as JSON into this file, too");
  auto* const micro = app.add_flag(
      "--micro", o.micro, "flat and greedy joins, the cost of entering a pool, processor time of an idle pool");
  auto* const space = app.add_flag("--space", o.space, "pages of stack beside their bound P(S1 + D + H)");
  auto* const channels =
      app.add_option("--channels", o.channels, "figure 3, 4 or 5 of the paper on channels: channel against direct")
          ->check(CLI::IsMember({"3", "4", "5"}));
  app.add_option("--victims", o.victims, "for --channels: the first victim of a thief: last, random or nearest")
      ->check(CLI::IsMember({"last", "random", "nearest"}))
      ->needs(channels);
  app.add_flag("--early-requests", o.early_requests, "for --channels: thieves request before their last task runs")
      ->needs(channels);
  micro->excludes(workload)->excludes(workers)->excludes(repeat)->excludes(quick);
  space->excludes(repeat)->excludes(micro);
  channels->excludes(scheduler)->excludes(micro)->excludes(space);
  auto* const server =
      app.add_flag("--server", o.server, "threads that call at once: latencies and throughput, in turn with oneTBB");
  auto* const loops =
      app.add_flag("--loops", o.loops, "loops: few long iterations, rounds, tiny loops; in turn with oneTBB");
  auto* const algorithms = app.add_flag(
      "--algorithms", o.algorithms,
      "algorithms beside plain loops and peers; --workload: sizes, tails, tiny, or NAME[=ELEMENTS], comma separated");
  auto* const against = app.add_option("--against", o.against, "the schedulers in turn with this one, and over it");
  server->excludes(workload)->excludes(workers)->excludes(micro)->excludes(space)->excludes(channels);
  loops->excludes(workload)->excludes(workers)->excludes(micro)->excludes(space)->excludes(channels)->excludes(
      server);
  algorithms->excludes(micro)->excludes(space)->excludes(channels)->excludes(server)->excludes(loops);
  published->excludes(quick)->excludes(micro)->excludes(channels)->excludes(server)->excludes(loops)->excludes(
      algorithms);
  against->excludes(micro)->excludes(space)->excludes(channels)->excludes(server)->excludes(loops)->excludes(
      algorithms);
#if FILCH_HAS_CACTUS
  app.add_flag("--stealing", o.stealing, "steals of implicit: their number, latency and cost for the victim")
      ->excludes(scheduler)
      ->excludes(micro)
      ->excludes(space)
      ->excludes(channels)
      ->excludes(server)
      ->excludes(loops)
      ->excludes(algorithms)
      ->excludes(against);
#endif
  auto* const paper = app.add_subcommand("paper", "a paper's tables and figures, beside ours");
  paper->add_option("name", o.paper, "wool, fibril, channels, trycatch, barriers or all")
      ->required()
      ->check(CLI::IsMember({"wool", "fibril", "channels", "trycatch", "barriers", "all"}));
  paper->add_option("--svg", o.svg, "write the figures into this folder, too");
  paper->add_option("--markdown", o.markdown, "put the paper's section into this page, too");
  paper->add_option("--repeat", o.repeat, "turns of a measurement; default: 5");
  paper->add_flag("--tiny", o.quick, "sizes that take milliseconds, to try the command");
  try {
    app.parse(argc, argv);
  } catch (CLI::CallForHelp const&) {
    o.help = app.help();
    return o;
  } catch (CLI::ParseError const& e) {
    throw bad_request(e.what());
  }
  check_empty(app);
  check_empty(*paper);
  if (paper->parsed()) {
    check_alone(app, *paper);
    return o;
  }
  if (o.list) check_alone(app, *list);
  check_cluster(o);
  check_quick(o);
  check_table(o);
  if (o.format == "csv" && !measurement(o).empty())
    throw bad_request(std::string(measurement(o)) + " has no CSV output");
  return o;
}

}  // namespace bench

// filch-bench: see README.md beside this file.
#include "against.hpp"
#include "channels.hpp"
#include "micro.hpp"
#include "report.hpp"
#include "space.hpp"
#if FILCH_HAS_CACTUS
#include "stealing.hpp"
#endif
#if BENCH_WITH_CLUSTER
#include "cluster/measure.hpp"
#endif

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>
#include <string_view>
#include <thread>

namespace bench {
namespace {

// Another program with other contenders, for runtimes that can't live in one process with ours.
#ifdef BENCH_LLVM_PROGRAM
constexpr std::string_view k_other_program = BENCH_LLVM_PROGRAM;
constexpr std::string_view k_other_contender = "openmp-llvm";
#else
constexpr std::string_view k_other_program;
constexpr std::string_view k_other_contender;
#endif

struct request {
  std::string workload;
  std::string size;
};

struct options {
  std::vector<std::string> workloads{"all"};
  std::vector<std::string> schedulers{"all"};
  std::vector<std::string> workers;
  std::string repeat;
  std::string format = "table";
  bool quick = false;
  bool list = false;
  bool micro = false;
  bool space = false;
  bool stealing = false;
  std::string channels;
  std::string victims = "last";
  bool early_requests = false;
  std::string against;
};

constexpr unsigned k_pairs = 15;
constexpr unsigned k_pairs_quick = 3;
// Peers are there for the order of magnitude: in the quick run they get one pair.
constexpr unsigned k_pairs_quick_peer = 1;
constexpr std::string_view k_quick_workloads[] = {"fib", "nqueens", "uts", "cilksort", "stress", "treesum"};

std::vector<contender> const& contenders() {
  static std::vector<contender> const all = {
      serial_contender(), direct_contender(),   channel_contender(),
#if FILCH_HAS_CACTUS
      cactus_contender(), implicit_contender(),
#endif
#if BENCH_WITH_TBB
      onetbb_contender(),
#endif
#if BENCH_WITH_OPENMP
      openmp_contender(),
#endif
  };
  return all;
}

workload const& find_workload(std::string_view name) {
  for (workload const& w : known_workloads()) {
    if (w.name == name) return w;
  }
  throw bad_request("unknown workload " + std::string(name) + "; --list names them");
}

contender const* find_contender(std::string_view name) {
  for (contender const& c : contenders()) {
    if (c.name == name) return &c;
  }
  return nullptr;
}

bool other_program_is_there() { return !k_other_program.empty() && access(k_other_program.data(), X_OK) == 0; }

void list() {
  fmt::print("workloads (sizes; the first is the default):\n");
  for (workload const& w : known_workloads()) {
    fmt::print("  {:<14} {}\n  {:<14} {}\n", w.name, w.about, "", fmt::join(w.sizes, " "));
  }
  fmt::print("schedulers:\n");
  for (contender const& c : contenders()) fmt::print("  {:<14} {}\n", c.name, c.about);
  if (!k_other_program.empty()) {
    fmt::print("  {:<14} OpenMP tasks, LLVM's runtime{}\n", k_other_contender,
               other_program_is_there() ? "" : " (not built: target bench-llvm)");
  }
#if BENCH_WITH_CLUSTER
  list_cluster_workloads();
#endif
}

std::vector<request> wanted_workloads(options const& o) {
  std::vector<request> wanted;
  for (std::string const& text : o.workloads) {
    if (text == "all") {
      if (o.quick) {
        for (auto name : k_quick_workloads)
          wanted.push_back({std::string(name), std::string(find_workload(name).quick_size)});
      } else {
        for (workload const& w : known_workloads()) wanted.push_back({std::string(w.name), std::string(w.sizes[0])});
      }
      continue;
    }
    auto const equals = text.find('=');
    workload const& w = find_workload(std::string_view(text).substr(0, equals));
    std::string_view const usual = o.quick ? w.quick_size : w.sizes[0];
    wanted.push_back(
        {std::string(w.name), equals == std::string::npos ? std::string(usual) : text.substr(equals + 1)});
  }
  return wanted;
}

std::vector<std::string> wanted_schedulers(options const& o) {
  std::vector<std::string> wanted;
  for (std::string const& name : o.schedulers) {
    if (name == "all") {
      for (contender const& c : contenders()) wanted.emplace_back(c.name);
      if (other_program_is_there()) wanted.emplace_back(k_other_contender);
    } else if (find_contender(name)) {
      wanted.push_back(name);
    } else if (!name.empty() && name == k_other_contender) {
      if (!other_program_is_there())
        throw bad_request(name + " is not built: cmake --build <folder> --target bench-llvm");
      wanted.push_back(name);
    } else {
      throw bad_request("unknown scheduler " + name + "; --list names them");
    }
  }
  return wanted;
}

std::vector<unsigned> wanted_workers(options const& o) {
  std::vector<unsigned> wanted;
  for (std::string const& text : o.workers)
    wanted.push_back(static_cast<unsigned>(parse_size("--workers", text, 1, 1024)));
  if (wanted.empty()) {
    wanted.push_back(1);
    unsigned const all = std::thread::hardware_concurrency();
    if (all > 1) wanted.push_back(all);
  }
  return wanted;
}

/// As asked for, or as usual.
unsigned turns_of(options const& o, unsigned usual) {
  return o.repeat.empty() ? usual : static_cast<unsigned>(parse_size("--repeat", o.repeat, 1, 100'000));
}

std::vector<row> from_other_program(request const& what, unsigned workers, unsigned pairs) {
  std::string const command =
      fmt::format("'{}' --workload '{}={}' --scheduler {} --workers {} --repeat {} --format json", k_other_program,
                  what.workload, what.size, k_other_contender, workers, pairs);
  std::string output;
  FILE* const pipe = popen(command.c_str(), "r");
  if (!pipe) return {};
  char buffer[4096];
  for (std::size_t n = 0; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;) output.append(buffer, n);
  if (pclose(pipe) != 0)
    throw bad_request("the program for " + std::string(k_other_contender) + " failed: " + command);
  std::vector<row> rows;
  for (auto const& j : nlohmann::ordered_json::parse(output)) rows.push_back(from_json(j));
  return rows;
}

std::vector<row> run(options const& o) {
  auto const schedulers = wanted_schedulers(o);
  auto const workers = wanted_workers(o);
  auto const requests = wanted_workloads(o);
  unsigned const asked = turns_of(o, 0);
  bool const table = o.format == "table";

  std::vector<row> rows;
  for (request const& what : requests) {
    meter m(find_workload(what.workload), what.size, *std::max_element(workers.begin(), workers.end()));
    m.count_tasks();
    if (table && rows.empty()) print_table_head();
    if (table) print_workload(what.workload, what.size, m.serial());
    for (std::string const& name : schedulers) {
      contender const* const c = find_contender(name);
      bool const peer = !c || c->is_peer;
      unsigned const pairs = asked ? asked : !o.quick ? k_pairs : peer ? k_pairs_quick_peer : k_pairs_quick;
      for (unsigned p : workers) {
        if (c && !c->has_workers && p != workers.front()) continue;
        if (c) {
          rows.push_back(m.measure(*c, c->has_workers ? p : 1, pairs));
          if (table) print_table_row(rows.back());
        } else {
          for (row& r : from_other_program(what, p, pairs)) {
            rows.push_back(std::move(r));
            if (table) print_table_row(rows.back());
          }
        }
      }
    }
  }
  return rows;
}

/// Of Filch's own schedulers that have workers.
void show_micro(options const& o) {
  if (o.format == "csv") throw bad_request("--micro has no csv");
  std::vector<contender> measured;
  for (std::string const& name : wanted_schedulers(o)) {
    contender const* const c = find_contender(name);
    if (c && !c->is_peer && c->has_workers) measured.push_back(*c);
  }
  if (measured.empty()) throw bad_request("--micro is for Filch's own schedulers that have workers");
  run_micro(measured, o.format == "json");
}

/// Pages of stack, of the schedulers whose strands have stacks of their own. False if the bound does not hold.
bool show_space(options const& o) {
  if (o.format == "csv") throw bad_request("--space has no csv");
  bool const as_json = o.format == "json";
  auto all = nlohmann::ordered_json::array();
  bool holds = true;
  std::vector<contender const*> measured;
  for (std::string const& name : wanted_schedulers(o)) {
    contender const* const c = find_contender(name);
    if (c && c->has_strands) measured.push_back(c);
  }
  if (measured.empty()) throw bad_request("--space is for cactus and implicit");
  if (!as_json) print_space_head();
  for (request const& what : wanted_workloads(o)) {
    for (contender const* const c : measured) {
      for (unsigned p : wanted_workers(o)) {
        space_row const r = measure_space(find_workload(what.workload), what.size, *c, p);
        holds = holds && r.holds();
        if (as_json) {
          all.push_back(to_json(r));
        } else {
          print_space_row(r);
        }
      }
    }
  }
  if (as_json) fmt::print("{}\n", all.dump(2));
  return holds;
}

/// 1, 2, 4 and so on, and all processors.
std::vector<std::string> powers_of_two_workers() {
  std::vector<std::string> wanted;
  unsigned const all = std::max(1u, std::thread::hardware_concurrency());
  for (unsigned p = 1; p < all; p *= 2) wanted.push_back(std::to_string(p));
  wanted.push_back(std::to_string(all));
  return wanted;
}

/// Figures of A. Prell, T. Rauber (Euro-Par 2014): `channel` against `direct`.
void show_channels(options o) {
  if (o.format == "csv") throw bad_request("--channels has no csv");
  bool const as_json = o.format == "json";
  if (o.workloads == std::vector<std::string>{"all"}) {
    o.workloads = channels_workloads(o.channels, o.quick);
  }
  if (o.workers.empty()) o.workers = powers_of_two_workers();
  auto const workers = wanted_workers(o);
  unsigned const turns = turns_of(o, o.quick ? k_pairs_quick : k_pairs);
  std::map<std::string_view, filch::victim_order> const orders = {{"last", filch::victim_order::last},
                                                                  {"random", filch::victim_order::random},
                                                                  {"nearest", filch::victim_order::nearest}};
  channels_contenders const compared{*find_contender("direct"), *find_contender("channel"), orders.at(o.victims),
                                     o.early_requests};
  std::vector<channels_row> rows;
  if (!as_json) print_channels_head();
  for (request const& what : wanted_workloads(o)) {
    workload const& w = find_workload(what.workload);
    meter m(w, what.size, *std::max_element(workers.begin(), workers.end()));
    for (unsigned p : workers) {
      for (channels_row& r : measure_channels(m, {&w, what.size}, compared, p, turns)) {
        if (!as_json) print_channels_row(r);
        rows.push_back(std::move(r));
      }
    }
  }
  if (as_json) {
    auto all = nlohmann::ordered_json::array();
    for (channels_row const& r : rows) all.push_back(to_json(r));
    fmt::print("{}\n", all.dump(2));
  } else {
    print_channels_means(rows);
  }
}

/// Schedulers against another one, in turn with it.
void show_against(options const& o) {
  if (o.format == "csv") throw bad_request("--against has no csv");
  bool const as_json = o.format == "json";
  contender const* const base = find_contender(o.against);
  if (!base) throw bad_request("unknown scheduler " + o.against + "; --list names them");
  // Peers' threads may go on spinning into the next one's run: only where they are asked for.
  bool const all = o.schedulers == std::vector<std::string>{"all"};
  std::vector<contender const*> others;
  for (std::string const& name : wanted_schedulers(o)) {
    contender const* const c = find_contender(name);
    if (c && c != base && c->has_workers && !(all && c->is_peer)) others.push_back(c);
  }
  if (!base->has_workers || others.empty()) throw bad_request("--against wants schedulers that have workers");
  auto const workers = wanted_workers(o);
  unsigned const turns = turns_of(o, o.quick ? k_pairs_quick : k_pairs);
  std::vector<against_row> rows;
  if (!as_json) print_against_head(base->name);
  for (request const& what : wanted_workloads(o)) {
    workload const& w = find_workload(what.workload);
    meter m(w, what.size, 1);
    for (unsigned p : workers) {
      for (against_row& r : measure_against(m, {&w, what.size}, *base, others, p, turns)) {
        if (!as_json) print_against_row(r);
        rows.push_back(std::move(r));
      }
    }
  }
  if (as_json) {
    auto listed = nlohmann::ordered_json::array();
    for (against_row const& r : rows) listed.push_back(to_json(r));
    fmt::print("{}\n", listed.dump(2));
  } else {
    print_against_means(rows, base->name);
  }
}

#if FILCH_HAS_CACTUS
/// Steals of `implicit`, and the latency of steals of both schedulers whose strands have stacks.
void show_stealing(options const& o) {
  if (o.format == "csv") throw bad_request("--stealing has no csv");
  bool const as_json = o.format == "json";
  unsigned const runs = turns_of(o, k_pairs);
  auto rows = nlohmann::ordered_json::array();
  auto latency = nlohmann::ordered_json::object();
  for (contender const& c : contenders()) {
    if (!c.has_strands) continue;
    steal_latency const l = measure_steal_latency(c);
    latency[std::string(c.name)] = to_json(l);
    if (!as_json) print(l, c.name);
  }
  if (!as_json) print_stealing_head();
  for (request const& what : wanted_workloads(o)) {
    for (unsigned p : wanted_workers(o)) {
      if (p < 2) continue;
      stealing_row const r =
          measure_stealing(find_workload(what.workload), what.size, *find_contender("implicit"), p, runs);
      rows.push_back(to_json(r));
      if (!as_json) print_stealing_row(r);
    }
  }
  if (as_json) fmt::print("{}\n", nlohmann::ordered_json{{"latency", latency}, {"rows", rows}}.dump(2));
}
#endif

#if BENCH_WITH_CLUSTER
bool mentions_cluster(int argc, char** argv) {
  return std::any_of(argv + 1, argv + argc, [](std::string_view text) { return text.find("cluster") != text.npos; });
}

/// In every process that mpirun started.
int run_cluster(filch::mpi_transport& mpi, options const& o) {
  if (o.format == "csv") throw bad_request("cluster has no csv");
  if (o.quick) throw bad_request("cluster has no --quick");
  auto const workers = o.workers.empty() ? std::vector<unsigned>{0} : wanted_workers(o);
  if (workers.size() > 1) throw bad_request("cluster wants one number of workers");
  unsigned const pairs = turns_of(o, k_pairs);
  return measure_cluster(mpi, {o.workloads, workers[0], pairs, o.format == "json"});
}
#endif

/// Sets `speaks` to false where another rank says what goes wrong on all.
int main_of(int argc, char** argv, [[maybe_unused]] bool& speaks) {
#if BENCH_WITH_CLUSTER
  // Before the request is read: it may be wrong.
  std::optional<filch::mpi_transport> mpi;
  if (mentions_cluster(argc, argv)) {
    mpi.emplace();
    speaks = mpi->rank() == 0;
  }
#endif
  options o;
  CLI::App app{"Measures Filch, the serial program and peers on recursive workloads, in interleaved pairs."};
  app.add_flag("--list", o.list, "name the workloads, their sizes and the schedulers");
  auto* const workload =
      app.add_option("--workload", o.workloads, "NAME or NAME=SIZE, comma separated; or all")->delimiter(',');
  auto* const scheduler = app.add_option("--scheduler", o.schedulers, "comma separated; or all")->delimiter(',');
  auto* const workers =
      app.add_option("--workers", o.workers, "numbers of workers, comma separated; 1 and all processors")
          ->delimiter(',');
  auto* const repeat = app.add_option("--repeat", o.repeat, "pairs a row; 15, or 3 with --quick");
  app.add_option("--format", o.format, "table, json or csv")->check(CLI::IsMember({"table", "json", "csv"}));
  auto* const quick = app.add_flag("--quick", o.quick, "the main workloads at smaller sizes, under two minutes");
  auto* const micro =
      app.add_flag("--micro", o.micro, "flat and greedy joins, the cost of entering a pool, the rest of an idle one");
  auto* const space = app.add_flag("--space", o.space, "pages of stack, and whether they stay within P(S1 + D + H)");
  auto* const channels =
      app.add_option("--channels", o.channels, "figure 3, 4 or 5 of the paper on channels: channel against direct")
          ->check(CLI::IsMember({"3", "4", "5"}));
  app.add_option("--victims", o.victims, "for --channels: whom thieves ask first, last, random or nearest")
      ->check(CLI::IsMember({"last", "random", "nearest"}))
      ->needs(channels);
  app.add_flag("--early-requests", o.early_requests, "for --channels: thieves ask before their last task runs")
      ->needs(channels);
  // What a measurement would ignore is refused.
  micro->excludes(workload)->excludes(workers)->excludes(repeat)->excludes(quick);
  space->excludes(repeat)->excludes(micro);
  channels->excludes(scheduler)->excludes(micro)->excludes(space);
  auto* const against = app.add_option("--against", o.against, "schedulers against this one, in turn with it");
  against->excludes(micro)->excludes(space)->excludes(channels);
#if FILCH_HAS_CACTUS
  app.add_flag("--stealing", o.stealing, "steals of implicit: how many, how fast, and what they cost their victims")
      ->excludes(scheduler)
      ->excludes(micro)
      ->excludes(space)
      ->excludes(channels)
      ->excludes(against);
#endif
  try {
    app.parse(argc, argv);
  } catch (CLI::CallForHelp const& e) {
    return speaks ? app.exit(e) : 0;
  } catch (CLI::ParseError const& e) {
    throw bad_request(e.what());
  }
  if (o.list) {
    if (speaks) list();
    return 0;
  }
  if (o.micro) {
    show_micro(o);
    return 0;
  }
  if (o.space) {
    if (show_space(o)) return 0;
    std::fputs("filch-bench: more pages of stack than P(S1 + D + H)\n", stderr);
    return 1;
  }
  if (!o.channels.empty()) {
    show_channels(o);
    return 0;
  }
  if (!o.against.empty()) {
    show_against(o);
    return 0;
  }
#if FILCH_HAS_CACTUS
  if (o.stealing) {
    show_stealing(o);
    return 0;
  }
#endif
#if BENCH_WITH_CLUSTER
  if (mpi && o.schedulers == std::vector<std::string>{"cluster"}) return run_cluster(*mpi, o);
  if (std::find(o.schedulers.begin(), o.schedulers.end(), "cluster") != o.schedulers.end()) {
    throw bad_request("--scheduler cluster stands alone: it measures the processes that mpirun started");
  }
#endif
  auto const rows = run(o);
  if (o.format == "json") {
    print_json(rows);
  } else if (o.format == "csv") {
    print_csv(rows);
  } else if (std::string const text = conclusion(rows); !text.empty()) {
    fmt::print("\n{}\n", text);
  }
  return 0;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  bool speaks = true;
  try {
    return bench::main_of(argc, argv, speaks);
  } catch (std::exception const& e) {
    if (!speaks) return 1;
    std::string line = e.what();
    for (char& c : line) c = c == '\n' ? ' ' : c;
    std::fprintf(stderr, "filch-bench: %s\n", line.c_str());
    return 1;
  }
}

// filch-bench: see README.md beside this file.
#include "against.hpp"
#include "channels.hpp"
#include "launcher.hpp"
#include "measure_short.hpp"
#include "micro.hpp"
#include "other_program.hpp"
#include "papers.hpp"
#include "report.hpp"
#include "request.hpp"
#include "server.hpp"
#include "show_loops.hpp"
#include "space.hpp"
#if FILCH_HAS_CACTUS
#include "stealing.hpp"
#endif
#if BENCH_WITH_CLUSTER
#include "cluster/measure.hpp"
#endif

#include <fmt/format.h>
#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>
#include <string_view>

namespace bench {
namespace {

void list() {
  fmt::print("workloads (sizes; the first is the default):\n");
  for (workload const& w : known_workloads()) {
    fmt::print("  {:<14} {}\n  {:<14} {}\n", w.name, w.about, "", fmt::join(w.sizes, " "));
    if (!w.published_sizes.empty()) fmt::print("  {:<14} published: {}\n", "", fmt::join(w.published_sizes, " "));
  }
  fmt::print("schedulers:\n");
  for (contender const& c : contenders()) fmt::print("  {:<14} {}\n", c.name, c.about);
  if (!other_contender().empty()) {
    fmt::print("  {:<14} OpenMP tasks, LLVM's runtime{}\n", other_contender(),
               other_program_is_there() ? "" : " (not built: target bench-llvm)");
  }
#if BENCH_WITH_CLUSTER
  list_cluster_workloads();
#endif
}

/// Peers show the order of magnitude: in the quick run they get one pair.
unsigned pairs_with(contender const* c, options const& o, unsigned usual) {
  bool const is_peer = !c || c->is_peer;
  return is_peer && o.quick && o.repeat.empty() ? 1 : usual;
}

/// A scheduler's row, or those that the other program prints.
std::vector<row> measure_rows(meter& m, sized_workload const& w, contender const* c, unsigned workers,
                              unsigned pairs) {
  if (!c) return from_other_program(w, workers, pairs);
  return {m.measure(*c, c->has_workers ? workers : 1, pairs)};
}

void print_rows(std::vector<row> const& rows, options const& o) {
  if (o.as_json()) {
    fmt::print("{}", json_text(rows));
  } else if (!o.has_table()) {
    print_csv(rows);
  } else if (std::string const text = conclusion(rows); !text.empty()) {
    fmt::print("\n{}\n", text);
  }
}

void show_long_table(options const& o) {
  auto const workloads = wanted_workloads(o);
  auto const schedulers = wanted_schedulers(o);
  auto const workers = wanted_workers(o);
  unsigned const turns = wanted_turns(o);
  check_pools(schedulers, most(workers));
  auto json = opened(o.json);

  std::vector<row> rows;
  if (o.has_table()) print_table_head();
  for (sized_workload const& w : workloads) {
    meter m(*w.what, w.size, most(workers));
    m.count_tasks();
    if (o.has_table()) print_workload(w.what->name, w.size, m.serial());
    for (contender const* const c : schedulers) {
      for (unsigned p : workers) {
        if (c && !c->has_workers && p != workers.front()) continue;
        for (row& r : measure_rows(m, w, c, p, pairs_with(c, o, turns))) {
          if (o.has_table()) print_table_row(r);
          rows.push_back(std::move(r));
        }
      }
    }
  }
  print_rows(rows, o);
  write(json, o.json, json_text(rows));
}

/// The short table, if the request fits into it and names no other form.
void show_table(options const& o) {
  auto const workers = wanted_workers(o);
  check_has_workers(wanted_schedulers(o), o, most(workers));
  auto const columns = o.has_table() && !o.is_long ? short_columns(o, workers) : std::nullopt;
  if (columns) return run_short_table(o, *columns);
  if (!o.html.empty())
    throw bad_request(
        fmt::format("--html has room for {} columns: name fewer schedulers that have "
                    "workers, or fewer numbers of workers",
                    k_most_short_columns));
  show_long_table(o);
}

/// Small measurements of Filch's own schedulers that have workers.
void show_micro(options const& o) {
  auto const measured = wanted_schedulers(o, {[](contender const& c) { return c.has_workers && !c.is_peer; },
                                              "--micro takes Filch's own schedulers that have workers"});
  check_pools(measured, 16);  // the most workers that it uses
  std::vector<contender> each;
  for (contender const* const c : measured) each.push_back(*c);
  run_micro(each, o.as_json());
}

/// Pages of stack under the schedulers whose fibers have stacks of their own. False if the bound does not hold.
bool show_space(options const& o) {
  auto const workloads = wanted_workloads(o);
  auto const measured =
      wanted_schedulers(o, {[](contender const& c) { return c.has_fibers; }, "--space takes cactus and implicit"});
  auto const workers = wanted_workers(o);
  check_pools(measured, most(workers));

  auto all = nlohmann::ordered_json::array();
  bool holds = true;
  if (!o.as_json()) print_space_head();
  for (sized_workload const& w : workloads) {
    for (contender const* const c : measured) {
      for (unsigned p : workers) {
        space_row const r = measure_space(*w.what, w.size, *c, p);
        holds = holds && r.holds();
        if (o.as_json()) {
          all.push_back(to_json(r));
        } else {
          print_space_row(r);
        }
      }
    }
  }
  if (o.as_json()) fmt::print("{}\n", all.dump(2));
  return holds;
}

template <class Row> void print_as_json(std::vector<Row> const& rows) {
  auto all = nlohmann::ordered_json::array();
  for (Row const& r : rows) all.push_back(to_json(r));
  fmt::print("{}\n", all.dump(2));
}

std::vector<sized_workload> wanted_channels_workloads(options o) {
  if (o.workloads == std::vector<std::string>{"all"}) o.workloads = channels_workloads(o.channels, o.quick);
  auto const wanted = wanted_workloads(o);
  for (sized_workload const& w : wanted) {
    if (w.what->can_poll && w.size.ends_with(":poll"))
      throw bad_request("--channels measures with and without :poll; name the size without it");
  }
  return wanted;
}

/// The options of `channel`'s pools.
channels_contenders wanted_channels_contenders(options const& o, unsigned workers) {
  std::map<std::string_view, filch::victim_order> const orders = {{"last", filch::victim_order::last},
                                                                  {"random", filch::victim_order::random},
                                                                  {"nearest", filch::victim_order::nearest}};
  auto const victims = orders.at(o.victims);
  if (workers == 1 && (victims != filch::victim_order::last || o.early_requests))
    throw bad_request("--victims and --early-requests need two workers or more");
  return {*find_contender("direct"), victims, o.early_requests};
}

/// Figures of A. Prell, T. Rauber (2014): `channel` against `direct`.
void show_channels(options const& o) {
  auto const workloads = wanted_channels_workloads(o);
  auto const workers = wanted_workers_by_powers(o);
  auto const compared = wanted_channels_contenders(o, most(workers));
  unsigned const turns = wanted_turns(o);
  check_pools({&compared.direct, find_contender("channel")}, most(workers));

  std::vector<channels_row> rows;
  if (!o.as_json()) print_channels_head();
  for (sized_workload const& w : workloads) {
    meter m(*w.what, w.size, most(workers));
    for (unsigned p : workers) {
      for (channels_row& r : measure_channels(m, w, compared, p, turns)) {
        if (!o.as_json()) print_channels_row(r);
        rows.push_back(std::move(r));
      }
    }
  }
  if (o.as_json()) {
    print_as_json(rows);
  } else {
    print_channels_means(rows);
  }
}

/// Schedulers against another one, in turn with it.
void show_against(options const& o) {
  auto const workloads = wanted_workloads(o);
  eligible const which{[](contender const& c) { return c.has_workers; },
                       "--against takes schedulers of this program that have workers"};
  contender const* const base = wanted_scheduler(o.against, which);
  auto others = wanted_schedulers(o, which);
  std::erase(others, base);
  if (others.empty()) throw bad_request(fmt::format("nothing to compare with {}", base->name));
  auto const workers = wanted_workers(o);
  unsigned const turns = wanted_turns(o);
  check_pools({base}, most(workers));
  check_pools(others, most(workers));

  std::vector<against_row> rows;
  if (!o.as_json()) print_against_head(base->name);
  for (sized_workload const& w : workloads) {
    meter m(*w.what, w.size, 1);
    for (unsigned p : workers) {
      for (against_row& r : measure_against(m, w, *base, others, p, turns)) {
        if (!o.as_json()) print_against_row(r);
        rows.push_back(std::move(r));
      }
    }
  }
  if (o.as_json()) {
    print_as_json(rows);
  } else {
    print_against_means(rows, base->name);
  }
}

/// Several threads that call at once.
void show_server(options const& o) {
  constexpr unsigned k_turns = 10;
  auto measured =
      wanted_schedulers(o, {[](contender const&) { return true; }, "--server takes this program's schedulers"});
  contender const* const base = add_peer(measured, "onetbb");
  unsigned const turns = wanted_turns(o, k_turns);
  unsigned const workers = usual_workers();
  check_pools(measured, workers);

  auto const scenes = server_scenes(workers, o.quick);
  std::vector<server_row> rows;
  if (!o.as_json()) print_server_head(scenes, base);
  for (server_scene const& scene : scenes) {
    for (server_row& r : measure_server(scene, measured, base, turns)) {
      if (!o.as_json()) print_server_row(r);
      rows.push_back(std::move(r));
    }
  }
  if (o.as_json()) print_as_json(rows);
}

#if FILCH_HAS_CACTUS
/// Steals of `implicit`, and the latency of steals of both schedulers whose fibers have stacks.
void show_stealing(options const& o) {
  auto const workloads = wanted_workloads(o);
  auto const workers = wanted_workers_that_steal(o);
  unsigned const runs = wanted_turns(o);
  contender const* const measured = find_contender("implicit");
  check_pools({measured}, most(workers));

  auto rows = nlohmann::ordered_json::array();
  auto latency = nlohmann::ordered_json::object();
  for (contender const& c : contenders()) {
    if (!c.has_fibers) continue;
    steal_latency const l = measure_steal_latency(c);
    latency[std::string(c.name)] = to_json(l);
    if (!o.as_json()) print(l, c.name);
  }
  if (!o.as_json()) print_stealing_head();
  for (sized_workload const& w : workloads) {
    for (unsigned p : workers) {
      stealing_row const r = measure_stealing(*w.what, w.size, *measured, p, runs);
      rows.push_back(to_json(r));
      if (!o.as_json()) print_stealing_row(r);
    }
  }
  if (o.as_json()) fmt::print("{}\n", nlohmann::ordered_json{{"latency", latency}, {"rows", rows}}.dump(2));
}
#endif

#if BENCH_WITH_CLUSTER
bool mentions_cluster(int argc, char** argv) {
  return std::any_of(argv + 1, argv + argc, [](std::string_view text) { return text.find("cluster") != text.npos; });
}

/// In every process that mpirun started.
int run_cluster(filch::mpi_transport& mpi, options const& o) {
  auto const workers = o.workers.empty() ? std::vector<unsigned>{0} : wanted_workers(o);
  if (workers.size() > 1) throw bad_request("--scheduler cluster takes one number of workers");
  return measure_cluster(mpi, {o.workloads, workers[0], wanted_turns(o), o.as_json()});
}
#endif

/// In one process. Returns the exit code.
int run(options const& o) {
  if (o.list) {
    list();
  } else if (!o.paper.empty()) {
#if BENCH_WITH_PAPERS
    show_papers(o);
#else
    throw bad_request("paper needs a program with all schedulers of this repository");
#endif
  } else if (o.micro) {
    show_micro(o);
  } else if (o.space) {
    if (show_space(o)) return 0;
    std::fputs("filch-bench: more pages of stack than P(S1 + D + H)\n", stderr);
    return 1;
  } else if (!o.channels.empty()) {
    show_channels(o);
  } else if (!o.against.empty()) {
    show_against(o);
  } else if (o.server) {
    show_server(o);
  } else if (o.loops) {
    show_loops(o);
  } else if (o.algorithms) {
    show_algorithms(o);
#if FILCH_HAS_CACTUS
  } else if (o.stealing) {
    show_stealing(o);
#endif
  } else {
    show_table(o);
  }
  return 0;
}

/// Sets `speaks` to false if another rank reports an error of all ranks.
int main_of(int argc, char** argv, [[maybe_unused]] bool& speaks) {
#if BENCH_WITH_CLUSTER
  // This comes before the request is read: it may be wrong.
  std::optional<filch::mpi_transport> mpi;
  if (mentions_cluster(argc, argv)) {
    mpi.emplace();
    speaks = mpi->rank() == 0;
  }
  bool const is_launched = mpi.has_value();
#else
  constexpr bool is_launched = false;
#endif
  if (launch const l = launched(); !is_launched && l.processes > 1) {
    // The other ranks end without a failure: otherwise the launcher could end this one before its message.
    if (l.rank != 0) return 0;
    throw bad_request(
        fmt::format("mpirun started {} processes: only --scheduler cluster runs on more than one", l.processes));
  }
  options const o = read_options(argc, argv);
  if (!o.help.empty()) {
    if (speaks) fmt::print("{}", o.help);
    return 0;
  }
#if BENCH_WITH_CLUSTER
  if (mpi && o.is_for_cluster()) return run_cluster(*mpi, o);
#endif
  return run(o);
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  bool speaks = true;
  try {
    return bench::main_of(argc, argv, speaks);
  } catch (std::exception const& e) {
    if (speaks) bench::print_error(e);
    return 1;
  }
}

// The measurement of measure.hpp: each turn runs the serial program on rank 0, a copy for each worker, and the
// cluster. main.cpp calls it.
#include "measure.hpp"

#include "../report.hpp"
#include "../statistics.hpp"
#include "knapsack.hpp"
#include "uts.hpp"

#include <fmt/format.h>
#include <chrono>
#include <filch/cluster.hpp>
#include <functional>
#include <nlohmann/json.hpp>
#include <thread>

namespace bench {
namespace {

using clusters = filch::cluster<>;
using seconds = std::chrono::duration<double>;

/// A workload at a size, ready to run.
struct cluster_job {
  std::string size;
  std::int64_t answer;  // the published one, or one that another program found
  std::function<std::int64_t()> serial;
  std::function<std::int64_t(clusters&)> parallel;
};

struct cluster_workload {
  std::string_view name;
  std::string_view about;
  std::vector<std::string_view> sizes;
  void (*check)(std::string const& size);
  cluster_job (*make)(std::string const& size, clusters& ranks);
};

void check_uts(std::string const& size) { uts::prepare(size); }

cluster_job make_uts(std::string const& size, clusters&) {
  uts::tree const* const tree = uts::prepare(size);
  auto const index = static_cast<std::int32_t>(tree - uts::k_trees.data());
  return {size, tree->nodes, [tree] { return uts::sequential(*tree, uts::root_of(*tree)); },
          [tree, index](clusters& ranks) {
            auto const children = cluster_tasks::children_of_root(index);
            return ranks.fold<&cluster_tasks::visit>(std::plus<>(), index, children, uts::root_of(*tree));
          }};
}

long items_of_knapsack(std::string const& size) { return parse_size("knapsack-bound", size, 1, 60); }

void check_knapsack(std::string const& size) { items_of_knapsack(size); }

cluster_job make_knapsack(std::string const& size, clusters& ranks) {
  auto const items = items_of_knapsack(size);
  cluster_tasks::the_problem = std::make_unique<cluster_tasks::knapsack_problem const>(items);
  auto const serial = [] {
    auto const& p = *cluster_tasks::the_problem;
    std::int32_t best = 0;
    p.sequential(0, p.capacity, 0, [&] { return best; }, [&](std::int32_t v) { best = std::max(best, v); });
    return std::int64_t{best};
  };
  return {size, cluster_tasks::the_problem->best, serial, [best = ranks.make_bound(0)](clusters& all) {
            auto const& p = *cluster_tasks::the_problem;
            all.reset(best, 0);
            all.fold<&cluster_tasks::search>(std::plus<>(), best, 0u, p.capacity, 0);
            return all.value(best);
          }};
}

std::vector<cluster_workload> const& workloads() {
  static std::vector<cluster_workload> const all = {
      {"uts", "unbalanced tree search, the published trees", uts::sizes(), check_uts, make_uts},
      {"knapsack-bound",
       "0-1 knapsack by branch and bound, size is the number of items",
       {"32", "30", "28"},
       check_knapsack,
       make_knapsack}};
  return all;
}

cluster_workload const* find(std::string_view name) {
  for (cluster_workload const& w : workloads()) {
    if (w.name == name) return &w;
  }
  return nullptr;
}

struct sized_cluster_workload {
  cluster_workload const* what;
  std::string size;
};

sized_cluster_workload parse(std::string const& text) {
  auto const equals = text.find('=');
  std::string const name = text.substr(0, equals);
  if (cluster_workload const* const w = find(name))
    return {w, equals == std::string::npos ? std::string(w->sizes[0]) : text.substr(equals + 1)};
  std::vector<std::string_view> names;
  for (cluster_workload const& w : workloads()) names.push_back(w.name);
  throw bad_request(fmt::format("unknown workload {} for cluster, which has {}; --list names their sizes", name,
                                fmt::join(names, ", ")));
}

std::vector<sized_cluster_workload> wanted(std::vector<std::string> const& texts) {
  std::vector<sized_cluster_workload> found;
  for (std::string const& text : texts) {
    if (text != "all") {
      found.push_back(parse(text));
    } else {
      for (cluster_workload const& w : workloads()) found.push_back({&w, std::string(w.sizes[0])});
    }
  }
  std::vector<std::string> names;
  for (sized_cluster_workload const& w : found) {
    w.what->check(w.size);
    names.push_back(fmt::format("{}={}", w.what->name, w.size));
  }
  check_once(names);
  return found;
}

struct cluster_row {
  std::string_view workload;
  std::string size;
  int ranks = 1;
  unsigned workers = 1;
  interval time;
  double serial = 0;
  double speedup = 0;
  double ceiling = 1;   // speed-up of as many serial programs side by side as there are workers in all
  interval of_ceiling;  // median and interval of the pairs' ratios
  std::uint64_t answers = 0, tasks_given = 0, requests = 0, messages = 0;  // sums of one run over all ranks
  std::int64_t answer = 0;                                                 // the answer of each run
};

/// Measures one row, on all ranks. Only rank 0 uses the result.
class cluster_meter {
 public:
  explicit cluster_meter(clusters& ranks) : ranks_(ranks), workers_(ranks.pool().workers()) {}

  cluster_row measure(std::string_view name, cluster_job const& job, unsigned pairs) {
    cluster_row row{name, job.size, ranks_.ranks(), workers_, {}, 0, 0, 1, {}, 0, 0, 0, 0, job.answer};
    run(job);  // one unmeasured run
    std::vector<double> serial;
    std::vector<double> side;
    std::vector<double> mine;
    auto const before = counted();
    for (unsigned i = 0; i < pairs; ++i) {
      serial.push_back(time([&] { return ranks_.rank() != 0 || job.serial() == job.answer; }));
      side.push_back(time([&] { return side_by_side(job); }));
      mine.push_back(time([&] { return job.parallel(ranks_) == job.answer; }));
    }
    auto const after = counted();
    double const copies = static_cast<double>(ranks_.ranks()) * workers_;
    std::vector<double> speedups;
    std::vector<double> ceilings;
    std::vector<double> shares;
    for (unsigned i = 0; i < pairs; ++i) {
      speedups.push_back(serial[i] / mine[i]);
      ceilings.push_back(copies * serial[i] / side[i]);
      shares.push_back(side[i] / copies / mine[i]);
    }
    row.time = range(mine);
    row.serial = median(serial);
    row.speedup = median(speedups);
    row.ceiling = median(ceilings);
    row.of_ceiling = median_interval(shares);
    row.answers = (after.answers - before.answers) / pairs;
    row.tasks_given = (after.tasks_given - before.tasks_given) / pairs;
    row.requests = (after.requests - before.requests) / pairs;
    row.messages = (after.messages - before.messages) / pairs;
    return row;
  }

 private:
  using clock = std::chrono::steady_clock;

  filch::cluster_stats counted() {
    return ranks_.reduce(
        [](filch::cluster_stats a, filch::cluster_stats const& b) {
          a.answers += b.answers, a.tasks_given += b.tasks_given, a.requests += b.requests, a.messages += b.messages;
          return a;
        },
        ranks_.stats());
  }

  void run(cluster_job const& job) {
    if (!everywhere(job.parallel(ranks_) == job.answer)) throw bad_request("a wrong answer");
  }
  bool everywhere(bool right) { return ranks_.reduce(std::logical_and<>(), right); }

  /// Time of the slowest rank, all having begun together; throws on all ranks if one had a wrong answer.
  template <class F> double time(F f) {
    everywhere(true);
    auto const begin = clock::now();
    bool const right = f();
    double const took = seconds(clock::now() - begin).count();
    if (!everywhere(right)) throw std::runtime_error("a wrong answer");
    return ranks_.reduce([](double a, double b) { return std::max(a, b); }, took);
  }

  bool side_by_side(cluster_job const& job) {
    std::atomic<bool> right{true};
    std::vector<std::thread> others;
    auto const copy = [&] {
      if (job.serial() != job.answer)
        right.store(false, std::memory_order_relaxed);  // relaxed: joined before it is read
    };
    for (unsigned i = 1; i < workers_; ++i) others.emplace_back(copy);
    copy();
    for (auto& t : others) t.join();
    return right.load(std::memory_order_relaxed);
  }

  clusters& ranks_;
  unsigned const workers_;
};

void print_head() {
  fmt::print("{:<16} {:<6} {:>5} {:>7} {:>10} {:>10} {:>8} {:>7} {:>10} {:>15} {:>8} {:>8} {:>8} {:>10}\n",
             "workload", "size", "ranks", "workers", "serial", "median", "speed-up", "ceiling", "of ceiling",
             "95% interval", "answers", "tasks", "messages", "answer");
}

void print_row(cluster_row const& r) {
  fmt::print(
      "{:<16} {:<6} {:>5} {:>7} {:>8.3f} s {:>8.3f} s {:>8.3f} {:>7.2f} {:>10.3f} {:>15} {:>8} {:>8} {:>8} {:>10}\n",
      r.workload, r.size, r.ranks, r.workers, r.serial, r.time.median, r.speedup, r.ceiling, r.of_ceiling.median,
      fmt::format("{:.3f} - {:.3f}", r.of_ceiling.low, r.of_ceiling.high), r.answers, r.tasks_given, r.messages,
      r.answer);
  std::fflush(stdout);
}

nlohmann::ordered_json to_json(cluster_row const& r) {
  return {{"workload", r.workload},
          {"size", r.size},
          {"scheduler", "cluster"},
          {"ranks", r.ranks},
          {"workers", r.workers},
          {"seconds", {{"min", r.time.low}, {"median", r.time.median}, {"max", r.time.high}}},
          {"serial_seconds", r.serial},
          {"speedup", r.speedup},
          {"ceiling", r.ceiling},
          {"of_ceiling", {{"median", r.of_ceiling.median}, {"low", r.of_ceiling.low}, {"high", r.of_ceiling.high}}},
          {"answers", r.answers},
          {"tasks_given", r.tasks_given},
          {"requests", r.requests},
          {"messages", r.messages},
          {"answer", r.answer},
          {"verified", true}};
}

void measure_all(std::vector<sized_cluster_workload> const& measured, cluster_request const& request,
                 clusters& ranks) {
  bool const speaks = ranks.rank() == 0;
  auto rows = nlohmann::ordered_json::array();
  cluster_meter meter(ranks);
  if (speaks && !request.as_json) print_head();
  for (sized_cluster_workload const& w : measured) {
    cluster_row const row = meter.measure(w.what->name, w.what->make(w.size, ranks), request.pairs);
    if (speaks && !request.as_json) print_row(row);
    if (request.as_json) rows.push_back(to_json(row));
  }
  if (speaks && request.as_json) fmt::print("{}\n", rows.dump(2));
}

}  // namespace

int measure_cluster(filch::mpi_transport& mpi, cluster_request const& request) {
  auto const measured = wanted(request.workloads);
  clusters ranks(mpi, {.workers = request.workers});
  try {
    measure_all(measured, request, ranks);
    return 0;
  } catch (std::exception const& e) {  // on all ranks
    if (ranks.rank() == 0) print_error(e);
    return 1;
  }
}

bool is_cluster_workload(std::string_view name) { return find(name) != nullptr; }

void list_cluster_workloads() {
  fmt::print("workloads of the scheduler cluster, for mpirun -n RANKS filch-bench --scheduler cluster:\n");
  for (cluster_workload const& w : workloads()) {
    fmt::print("  {:<14} {}\n  {:<14} {}\n", w.name, w.about, "", fmt::join(w.sizes, " "));
  }
}

}  // namespace bench

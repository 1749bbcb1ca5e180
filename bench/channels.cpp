// filch-bench --channels: the runs and tables of channels.hpp. main.cpp calls it.
#include "channels.hpp"

#include "statistics.hpp"

#include <fmt/format.h>
#include <cstdio>
#include <map>

namespace bench {
namespace {

/// A way to run a workload, its pool, and the results of its runs.
class way {
 public:
  way(std::string name, program& job, std::unique_ptr<running_pool> pool, bool warms_up)
      : name_(std::move(name)), job_(job), pool_(std::move(pool)) {
    if (warms_up) job_.run(*pool_);
    before_ = pool_->stats().value();
  }
  void run() { seconds_.push_back(job_.run(*pool_)); }
  void end_turn(double serial, double ideal, double direct) {
    speedups_.push_back(serial / seconds_.back());
    of_ideal_.push_back(ideal / seconds_.back());
    to_direct_.push_back(seconds_.back() / direct);
  }
  double last() const { return seconds_.back(); }

  void put_into(channels_row& r) const {
    auto const after = pool_->stats().value();
    auto const each = [this](std::uint64_t a, std::uint64_t b) {
      return static_cast<double>(b - a) / static_cast<double>(seconds_.size());
    };
    r.way = name_;
    r.seconds = median(seconds_);
    r.speedup = median(speedups_);
    r.of_ideal = median(of_ideal_);
    r.to_direct = median(to_direct_);
    r.steals = each(before_.steals, after.steals);
    r.requests = each(before_.channel.requests, after.channel.requests);
    r.forwards = each(before_.channel.forwards, after.channel.forwards);
    r.returns = each(before_.channel.returns, after.channel.returns);
    r.updates = each(before_.channel.updates, after.channel.updates);
    double const answers = each(before_.publications, after.publications);
    if (answers > 0) r.tasks_per_answer = each(before_.channel.tasks_sent, after.channel.tasks_sent) / answers;
  }

 private:
  std::string name_;
  program& job_;
  std::unique_ptr<running_pool> pool_;
  pool_counts before_;
  std::vector<double> seconds_;
  std::vector<double> speedups_;
  std::vector<double> of_ideal_;
  std::vector<double> to_direct_;
};

struct amount {
  std::string_view name;
  filch::steal_amount value;
};
constexpr amount k_amounts[] = {{"one", filch::steal_amount::one},
                                {"half", filch::steal_amount::half},
                                {"adaptive", filch::steal_amount::adaptive}};

std::vector<std::string> published_workloads(std::string_view figure) {
  if (figure == "3") return {"spc=100000:10", "spc=100000:100", "spc=100000:1000"};
  if (figure == "4") return {"bpc=10000:10", "bpc=10000:100", "bpc=10000:1000"};
  return {"spc=100000:10",  "spc=100000:100",      "spc=100000:1000", "bpc=10000:10",    "bpc=10000:100",
          "bpc=10000:1000", "treerec=25:10",       "treerec=25:100",  "treerec=25:1000", "matmul=2048",
          "sparselu=4096",  "quicksort=100000000", "uts=T1L",         "uts=T2L",         "uts=T3L"};
}

std::vector<std::string> quick_workloads(std::string_view figure) {
  if (figure == "3") return {"spc=100000:10", "spc=10000:100", "spc=1000:1000"};
  if (figure == "4") return {"bpc=10000:10", "bpc=1000:100", "bpc=100:1000"};
  return {"spc=100000:10", "spc=10000:100",      "spc=1000:1000",  "bpc=10000:10",    "bpc=1000:100",
          "bpc=100:1000",  "treerec=25:10",      "treerec=20:100", "treerec=15:1000", "matmul=1024",
          "sparselu=2048", "quicksort=10000000", "uts=T1",         "uts=T3"};
}

}  // namespace

std::vector<std::string> channels_workloads(std::string_view figure, bool quick) {
  return quick ? quick_workloads(figure) : published_workloads(figure);
}

std::vector<channels_row> measure_channels(meter& m, sized_workload const& w, channels_contenders const& c,
                                           unsigned workers, unsigned turns) {
  program job(*w.what, w.size, "direct or channel");
  std::optional<program> polling_job;
  if (w.what->can_poll) polling_job.emplace(*w.what, w.size + ":poll", "channel");

  std::vector<std::unique_ptr<way>> ways;
  ways.push_back(std::make_unique<way>("direct", job, c.direct.make({.workers = workers}), !m.is_long()));
  for (bool polls : {false, true}) {
    if (polls && !polling_job) break;
    for (amount const& a : k_amounts) {
      if (workers == 1 && a.value != filch::steal_amount::adaptive) continue;  // no thief requests
      filch::channel_options const options{
          .workers = workers, .amount = a.value, .victims = c.victims, .early_requests = c.early_requests};
      ways.push_back(std::make_unique<way>(fmt::format("channel {}{}", a.name, polls ? ", polls" : ""),
                                           polls ? *polling_job : job, make_channel_pool(options), !m.is_long()));
    }
  }

  for (unsigned turn = 0; turn < turns; ++turn) {
    double const serial = m.run_serial();
    double const ideal = workers == 1 ? serial : m.run_side_by_side(workers) / workers;
    for (std::size_t i = 0; i < ways.size(); ++i) ways[(turn + i) % ways.size()]->run();
    for (auto& each : ways) each->end_turn(serial, ideal, ways[0]->last());
  }

  std::vector<channels_row> rows;
  for (auto const& each : ways) {
    channels_row& r = rows.emplace_back();
    r.workload = w.what->name;
    r.size = w.size;
    r.workers = workers;
    each->put_into(r);
  }
  return rows;
}

nlohmann::ordered_json to_json(channels_row const& r) {
  nlohmann::ordered_json j;
  j["workload"] = r.workload;
  j["size"] = r.size;
  j["workers"] = r.workers;
  j["way"] = r.way;
  j["seconds"] = r.seconds;
  j["speedup"] = r.speedup;
  j["of_ideal"] = r.of_ideal;
  j["to_direct"] = r.to_direct;
  j["steals"] = r.steals;
  j["requests"] = r.requests;
  j["forwards"] = r.forwards;
  j["returns"] = r.returns;
  j["updates"] = r.updates;
  j["tasks_per_answer"] = r.tasks_per_answer;
  return j;
}

void print_channels_head() {
  fmt::print("{:<20} {:>3}  {:<23} {:>10} {:>8} {:>8} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>12}\n", "workload", "P",
             "way", "seconds", "speed-up", "of ideal", "to direct", "steals", "requests", "forwards", "returned",
             "updates", "tasks/answer");
}

void print_channels_row(channels_row const& r) {
  fmt::print(
      "{:<20} {:>3}  {:<23} {:>10.6f} {:>8.3f} {:>7.1f}% {:>9.3f} {:>9.1f} {:>9.1f} {:>9.1f} {:>9.1f} {:>9.1f} "
      "{:>12}\n",
      r.workload + "=" + r.size, r.workers, r.way, r.seconds, r.speedup, 100 * r.of_ideal, r.to_direct, r.steals,
      r.requests, r.forwards, r.returns, r.updates,
      r.tasks_per_answer > 0 ? fmt::format("{:.1f}", r.tasks_per_answer) : "");
  std::fflush(stdout);
}

void print_channels_means(std::vector<channels_row> const& rows) {
  std::map<std::pair<unsigned, std::string>, std::vector<double>> to_direct;
  for (channels_row const& r : rows) to_direct[{r.workers, r.way}].push_back(r.to_direct);
  for (auto const& [key, ratios] : to_direct) {
    if (key.second == "direct") continue;
    fmt::print("{} over direct, {} workers, geometric mean over {} workloads: {:.3f}\n", key.second, key.first,
               ratios.size(), geometric_mean(ratios));
  }
}

}  // namespace bench

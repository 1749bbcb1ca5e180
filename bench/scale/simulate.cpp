// uts on many ranks, simulated: the ranks run the protocol's own code and the tree's own tasks, one event after the
// other; only time, processors and network are a model. docs/scale.md has its input and its results.
//   scale-simulate --tree T1L --ranks 16,64,256 [--processors P] [--node ns] ...
#include "../cluster/uts.hpp"
#include "cluster/endpoint.hpp"

#include <CLI/CLI.hpp>
#include <filch/detail/cluster_pace.hpp>
#include <filch/detail/cluster_rank_worker.hpp>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <deque>
#include <queue>

namespace {

using filch::message;
using filch::detail::endpoint;
using filch::detail::rank_worker;
namespace pace = filch::detail::pace;
using time_ns = double;

struct costs {
  double node = 150;      // ns of the serial program for a node
  double task = 8;        // ns of a task's way through the deque
  double poll = 150;      // ns of a poll that finds nothing
  double send = 300;      // ns of the sender, a message
  double receive = 300;   // ns of the receiver, a message
  double latency = 1000;  // ns from the send until a poll finds the message
  double byte = 0.1;      // ns more for each byte
  double between_polls = 0;
  double change = 1300;  // ns of a processor to go from one rank to another
  double look = 30'000;  // ns that an idle rank's poll between two sleeps takes from a rank that works there
};

/// A rank's place in the simulated network.
class simulated_transport final : public filch::detail::any_transport {
 public:
  struct arrival {
    time_ns at;
    std::uint64_t number;  // one after the other, at the same time
    message m;
    bool operator>(arrival const& b) const { return at != b.at ? at > b.at : number > b.number; }
  };
  using network = std::vector<simulated_transport*>;

  simulated_transport(network& all, int rank, costs const& c) : all_(all), rank_(rank), costs_(c) {}
  int rank() const noexcept override { return rank_; }
  int ranks() const noexcept override { return static_cast<int>(all_.size()); }
  void send(int to, message m) override {
    now += costs_.send;
    time_ns const at = now + costs_.latency + costs_.byte * static_cast<double>(m.size());
    auto& box = all_[static_cast<std::size_t>(to)]->box_;
    box.push({at, ++numbers_, std::move(m)});
    receivers.push_back(to);
  }
  std::optional<message> receive() override {
    if (box_.empty() || box_.top().at > now) return std::nullopt;
    now += costs_.receive;
    message m = box_.top().m;
    box_.pop();
    return m;
  }
  void end_all(std::string_view) override { std::abort(); }
  std::optional<time_ns> next_arrival() const { return box_.empty() ? std::nullopt : std::optional(box_.top().at); }

  time_ns now = 0;             // the rank's clock, while it has an event
  std::vector<int> receivers;  // the receivers of its messages in this event

 private:
  network& all_;
  int const rank_;
  costs const& costs_;
  std::priority_queue<arrival, std::vector<arrival>, std::greater<>> box_;
  static inline std::uint64_t numbers_ = 0;
};

class counting final : public filch::detail::partial_of<long> {
 public:
  explicit counting(long& sum) noexcept : sum_(sum) {}
  std::unique_ptr<partial> another() const override { return std::make_unique<counting>(sum_); }
  void merge() override {}
  void add(long&& value) override { sum_ += value; }

 private:
  long& sum_;
};

constexpr time_ns k_shortest_gap = 1000;
constexpr time_ns in_ns(std::chrono::nanoseconds t) { return static_cast<time_ns>(t.count()); }
constexpr time_ns k_awake = in_ns(pace::k_awake);

struct simulated_rank {
  simulated_rank(simulated_transport::network& all, int rank, costs const& c, long& sum)
      : carrier(all, rank, c), endpoint_(carrier, 0), mine(endpoint_, std::make_unique<counting>(sum)) {}
  simulated_transport carrier;
  endpoint endpoint_;
  rank_worker mine;
  bool works = false;
  bool has_arrivals = false;
  bool ended = false;
  time_ns work = 0;  // spent on nodes
  // as detail::idle_pause
  time_ns idle_since = 0;
  time_ns ask_again = 0;
  unsigned refusals = 0;
  unsigned sleeps = 0;
  // as rank_worker::poll
  pace::gap aim;
  time_ns gap = k_shortest_gap;
  time_ns last_end = 0;  // end of its last turn
  // of the model
  time_ns scheduled = INFINITY;  // its next event
  std::uint64_t turn = 0;        // an older event of it is void
};

class simulation {
 public:
  simulation(bench::uts::tree const& tree, int ranks, int processors, costs const& c)
      : costs_(c), processors_(static_cast<std::size_t>(std::min(processors, ranks))) {
    for (int r = 0; r < ranks; ++r) all_.push_back(nullptr);
    for (int r = 0; r < ranks; ++r) {
      ranks_.push_back(std::make_unique<simulated_rank>(all_, r, costs_, nodes));
      all_[static_cast<std::size_t>(r)] = &ranks_.back()->carrier;
      ranks_.back()->endpoint_.begin_run();
    }
    auto const index = static_cast<std::int32_t>(&tree - bench::uts::k_trees.data());
    ranks_[0]->mine.spawn<&bench::cluster_tasks::visit>(nullptr, index, bench::cluster_tasks::children_of_root(index),
                                                        bench::uts::root_of(tree));
    for (int r = 0; r < ranks; ++r) schedule(r, 0);
  }

  /// Returns the time until the last rank knows of the end.
  time_ns run() {
    time_ns end = 0;
    while (!events_.empty()) {
      event const e = events_.top();
      events_.pop();
      simulated_rank& r = *ranks_[static_cast<std::size_t>(e.rank)];
      if (e.turn != r.turn || r.ended) continue;
      bool const looks_only = !r.works && !r.has_arrivals;
      time_ns begin = e.at;
      processor* on = nullptr;
      if (shares_processors()) {
        on = &processor_of(e.rank);
        if (on->free_at > e.at && !looks_only) {  // others are before it
          events_.push({on->free_at, e.rank, e.turn, true});
          continue;
        }
        if (on->last != e.rank) begin += costs_.change;
      }
      r.scheduled = INFINITY;
      bool const was_busy = on && on->free_at > e.at;
      time_ns const until = step(r, begin, was_busy);
      if (was_busy) {  // the interrupted rank continues later
        on->free_at += std::max(costs_.look, until - e.at);
      } else if (on) {
        *on = {until, e.rank};
      }
      end = std::max(end, until);
      for (int const to : std::exchange(r.carrier.receivers, {})) wake(to);
    }
    return end;
  }

  filch::cluster_stats stats() const {
    filch::cluster_stats sum;
    for (auto const& r : ranks_) {
      auto const s = r->endpoint_.stats();
      sum.messages += s.messages, sum.requests += s.requests, sum.forwards += s.forwards, sum.returns += s.returns;
      sum.answers += s.answers, sum.tasks_given += s.tasks_given, sum.waves += s.waves;
    }
    return sum;
  }
  time_ns work() const {
    time_ns sum = 0;
    for (auto const& r : ranks_) sum += r->work;
    return sum;
  }

  long nodes = 0;

 private:
  struct processor {
    time_ns free_at = 0;
    int last = -1;
  };
  struct event {
    time_ns at;
    int rank;
    std::uint64_t turn;  // increases
    bool waits = false;  // for a processor: it goes before the rank that had it
    bool operator>(event const& b) const {
      if (at != b.at) return at > b.at;
      return waits != b.waits ? b.waits : turn > b.turn;
    }
  };

  void schedule(int rank, time_ns at) {
    simulated_rank& r = *ranks_[static_cast<std::size_t>(rank)];
    r.scheduled = at;
    events_.push({at, rank, r.turn = ++turns_, false});
  }

  bool shares_processors() const { return processors_.size() < ranks_.size(); }
  /// Ranks keep their processors, as kernels leave them.
  processor& processor_of(int rank) { return processors_[static_cast<std::size_t>(rank) % processors_.size()]; }

  /// One look at the messages, and the tasks until the next one. Returns when it is over.
  time_ns step(simulated_rank& r, time_ns begin, bool is_shared) {
    time_ns& now = r.carrier.now;
    now = begin + costs_.poll;
    if (r.mine.tasks.empty() && !r.endpoint_.take_arrived(r.mine.tasks)) {
      if (std::exchange(r.works, false)) {
        r.endpoint_.worker_ends();
        r.idle_since = now;
        r.refusals = r.sleeps = 0;
        r.ask_again = now;
      }
      return idle(r, is_shared);
    }
    r.has_arrivals = false;
    if (!std::exchange(r.works, true)) r.endpoint_.worker_begins();
    bool const asked =
        r.endpoint_.poll(r.mine.tasks, r.mine.tasks.size() - 1) == filch::detail::look_result::requested;
    bool const had_to_wait = shares_processors() && begin - r.last_end > in_ns(pace::k_own_processor);
    auto const look = std::chrono::nanoseconds(static_cast<long>(now - begin));
    r.aim.looked(had_to_wait ? 2 * pace::k_own_processor : look, asked);
    r.gap = std::min(2 * r.gap, costs_.between_polls > 0 ? costs_.between_polls : in_ns(r.aim.length()));
    time_ns const until = now + r.gap;
    while (!r.mine.tasks.empty() && now < until) {
      auto const size = static_cast<long>(r.mine.tasks.size());
      long const before = nodes;
      r.mine.run_newest();
      long const made = (nodes - before - 1) + (static_cast<long>(r.mine.tasks.size()) - (size - 1));
      time_ns const took = costs_.node * static_cast<double>(made);
      r.work += took;
      now += took + costs_.task;
    }
    r.last_end = now;
    schedule(r.carrier.rank(), now);
    return now;
  }

  time_ns idle(simulated_rank& r, bool is_shared) {
    time_ns& now = r.carrier.now;
    switch (r.endpoint_.idle(r.mine.tasks, r.refusals == 0 || now >= r.ask_again)) {
      case endpoint::idle_outcome::work:
        r.has_arrivals = true;
        r.last_end = now;
        schedule(r.carrier.rank(), now);
        return now;
      case endpoint::idle_outcome::ended: r.ended = true; return now;
      case endpoint::idle_outcome::refused: r.ask_again = now + in_ns(pace::silence_after(r.refusals++)); break;
      case endpoint::idle_outcome::nothing: break;
    }
    time_ns next = INFINITY;
    if (auto const at = r.carrier.next_arrival()) next = *at;
    if (r.refusals > 0 && r.ask_again > now) next = std::min(next, r.ask_again);
    if (shares_processors()) {  // it sleeps as soon as others want its processor
      if (is_shared) r.idle_since = std::min(r.idle_since, now - k_awake);
      next = now;
    }
    if (next < INFINITY) schedule(r.carrier.rank(), look_after(r, std::max(next, now)));
    return now;
  }

  /// The first poll after `at` of an idle rank, which yields for 200 us and then sleeps.
  time_ns look_after(simulated_rank& r, time_ns at) {
    if (at - r.idle_since < k_awake) return at;
    constexpr time_ns k_slack_of_timers = 50'000;
    time_ns const sleep = k_slack_of_timers + in_ns(pace::sleep_after(r.sleeps));
    r.sleeps += 1 + static_cast<unsigned>((at - std::max(r.carrier.now, r.idle_since + k_awake)) / sleep);
    if (shares_processors()) return at + sleep;
    return r.idle_since + std::ceil((at - r.idle_since) / sleep) * sleep;
  }

  /// A message is on its way to an idle rank.
  void wake(int rank) {
    simulated_rank& r = *ranks_[static_cast<std::size_t>(rank)];
    if (r.works || r.ended || shares_processors()) return;
    time_ns const at = look_after(r, std::max(*r.carrier.next_arrival(), r.carrier.now));
    if (at < r.scheduled) schedule(rank, at);
  }

  costs const costs_;
  std::vector<processor> processors_;
  simulated_transport::network all_;
  std::vector<std::unique_ptr<simulated_rank>> ranks_;
  std::priority_queue<event, std::vector<event>, std::greater<>> events_;
  std::uint64_t turns_ = 0;
};

struct request {
  bench::uts::tree const* tree = nullptr;
  std::vector<int> ranks{1, 2, 4, 8};
  int processors = 0;
  costs c;
  std::string help;  // text of --help, else empty
};

/// Throws if the simulation would ignore an option.
void check_shared(request const& r, CLI::App const& app) {
  bool const is_shared = r.processors > 0 && *std::max_element(r.ranks.begin(), r.ranks.end()) > r.processors;
  for (char const* const option : {"--switch", "--look"}) {
    if (!is_shared && app.count(option) > 0)
      throw std::runtime_error(std::string(option) + " needs --processors, and more --ranks than processors");
  }
}

request read_request(int argc, char** argv) {
  request r;
  std::string name;
  costs& c = r.c;
  CLI::App app{"Simulates uts on many ranks."};
  // Required: the large trees take minutes.
  app.add_option("--tree", name, "T1, T3, T1L, T2L or T3L")->required();
  app.add_option("--ranks", r.ranks, "comma separated")->delimiter(',')->check(CLI::Range(1, 1 << 20));
  app.add_option("--processors", r.processors, "that the ranks share; 0: one each")->check(CLI::NonNegativeNumber);
  auto const cost = [&app](char const* option, double& value, char const* about) {
    app.add_option(option, value, about)->check(CLI::NonNegativeNumber);
  };
  app.add_option("--node", c.node, "ns of work, a node")->check(CLI::Range(1.0, 1e9));
  cost("--task", c.task, "ns, a task's way through the deque");
  app.add_option("--poll", c.poll, "ns, a look that finds nothing")->check(CLI::Range(1.0, 1e9));
  cost("--send", c.send, "ns of the sender, a message");
  cost("--receive", c.receive, "ns of the receiver, a message");
  cost("--latency", c.latency, "ns under way, a message");
  cost("--byte", c.byte, "ns under way, a byte");
  app.add_option("--between-polls", c.between_polls, "ns of tasks between two looks; 0: as ranks do")
      ->check(CLI::NonNegativeNumber);
  cost("--switch", c.change, "ns, a processor's way from one rank to another");
  cost("--look", c.look, "ns that an idle rank's poll between two sleeps takes from a rank that works there");
  try {
    app.parse(argc, argv);
  } catch (CLI::CallForHelp const&) {
    r.help = app.help();
    return r;
  }
  check_shared(r, app);
  r.tree = bench::uts::prepare(name);
  return r;
}

/// False if a node was lost.
bool print_row(request const& asked, int n) {
  simulation s(*asked.tree, n, asked.processors > 0 ? asked.processors : n, asked.c);
  time_ns const took = s.run();
  if (s.nodes != asked.tree->nodes) {
    std::fprintf(stderr, "scale-simulate: %ld nodes of %ld\n", s.nodes, asked.tree->nodes);
    return false;
  }
  double const speedup = asked.c.node * static_cast<double>(asked.tree->nodes) / took;
  double const most = std::min(n, asked.processors > 0 ? asked.processors : n);
  auto const k = s.stats();
  std::printf("%-5s %6d %10.4f %9.2f %10.3f %9lu %9lu %10lu %10lu\n", std::string(asked.tree->name).c_str(), n,
              took * 1e-9, speedup, speedup / most, static_cast<unsigned long>(k.answers),
              static_cast<unsigned long>(k.tasks_given), static_cast<unsigned long>(k.forwards),
              static_cast<unsigned long>(k.messages));
  std::fflush(stdout);
  return true;
}

int print_table(request const& asked) {
  std::printf("%-5s %6s %10s %9s %10s %9s %9s %10s %10s\n", "tree", "ranks", "seconds", "speed-up", "efficiency",
              "answers", "tasks", "forwards", "messages");
  std::fflush(stdout);
  for (int const n : asked.ranks) {
    if (!print_row(asked, n)) return 1;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    request const asked = read_request(argc, argv);
    if (asked.help.empty()) return print_table(asked);
    std::printf("%s", asked.help.c_str());
    return 0;
  } catch (std::exception const& e) {
    std::fprintf(stderr, "scale-simulate: %s\n", e.what());
    return 1;
  }
}

// Checks names, sizes and numbers of the command line (request.hpp). main.cpp calls it.
#include "request.hpp"

#include "other_program.hpp"
#if BENCH_WITH_CLUSTER
#include "cluster/measure.hpp"
#endif

#include <fmt/format.h>
#include <algorithm>

namespace bench {
namespace {

constexpr unsigned k_turns_quick = 3;
constexpr std::string_view k_quick_workloads[] = {"fib",    "nqueens", "uts",  "quicksort", "matmul",
                                                  "stress", "saxpy",   "rows", "server"};

workload const& known_workload(std::string_view name) {
  if (workload const* const w = find_workload(name)) return *w;
#if BENCH_WITH_CLUSTER
  if (is_cluster_workload(name)) throw bad_request(fmt::format("{} needs --scheduler cluster", name));
#endif
  throw bad_request(fmt::format("unknown workload {}; --list names them", name));
}

/// Adds the workload at the size that it has without one, or at all published ones.
void add_usual(std::vector<sized_workload>& wanted, workload const& w, options const& o) {
  if (o.published) {
    for (auto const size : w.published_sizes) wanted.push_back({&w, std::string(size), ""});
  } else if (o.quick) {
    wanted.push_back({&w, std::string(w.quick_size), std::string(w.quick_peer_size)});
  } else {
    wanted.push_back({&w, std::string(w.sizes[0]), ""});
  }
}

void add_all(std::vector<sized_workload>& wanted, options const& o) {
  if (o.quick) {
    for (auto const name : k_quick_workloads) add_usual(wanted, known_workload(name), o);
  } else {
    for (workload const& w : known_workloads()) add_usual(wanted, w, o);
  }
}

/// Null: the other program's.
contender const* known_scheduler(std::string const& name) {
  if (contender const* const c = find_contender(name)) return c;
  if (name.empty() || name != other_contender())
    throw bad_request("unknown scheduler " + name + "; --list names them");
  if (!other_program_is_there())
    throw bad_request(name + " is not built: cmake --build <folder> --target bench-llvm");
  return nullptr;
}

void check_named_once(std::vector<contender const*> const& schedulers) {
  std::vector<std::string> names;
  for (contender const* const c : schedulers) names.emplace_back(c ? c->name : other_contender());
  check_once(names);
}

std::vector<unsigned> said_workers(options const& o) {
  std::vector<unsigned> wanted;
  std::vector<std::string> names;
  for (std::string const& text : o.workers) {
    wanted.push_back(static_cast<unsigned>(parse_size("--workers", text, 1, 1024)));
    names.push_back(fmt::format("--workers {}", wanted.back()));
  }
  check_once(names);
  return wanted;
}

}  // namespace

std::vector<sized_workload> wanted_workloads(options const& o) {
  std::vector<sized_workload> wanted;
  for (std::string const& text : o.workloads) {
    if (text == "all") {
      add_all(wanted, o);
      continue;
    }
    auto const equals = text.find('=');
    workload const& w = known_workload(std::string_view(text).substr(0, equals));
    if (equals != std::string::npos) {
      wanted.push_back({&w, text.substr(equals + 1), ""});
    } else if (o.published && w.published_sizes.empty()) {
      throw bad_request(fmt::format("{} has no published size; --list prints them", w.name));
    } else {
      add_usual(wanted, w, o);
    }
  }
  std::vector<std::string> names;
  for (sized_workload const& w : wanted) {
    w.what->check(w.size);
    names.push_back(fmt::format("{}={}", w.what->name, w.size));
  }
  check_once(names);
  return wanted;
}

std::vector<contender const*> wanted_schedulers(options const& o) {
  std::vector<contender const*> wanted;
  for (std::string const& name : o.schedulers) {
    if (name != "all") {
      wanted.push_back(known_scheduler(name));
      continue;
    }
    for (contender const& c : contenders()) wanted.push_back(&c);
    if (other_program_is_there()) wanted.push_back(nullptr);
  }
  check_named_once(wanted);
  return wanted;
}

contender const* wanted_scheduler(std::string const& name, eligible const& which) {
  contender const* const c = known_scheduler(name);
  if (!c || !which.takes(*c)) throw bad_request(fmt::format("{}, not {}", which.rule, name));
  return c;
}

std::vector<contender const*> wanted_schedulers(options const& o, eligible const& which) {
  std::vector<contender const*> wanted;
  for (std::string const& name : o.schedulers) {
    if (name != "all") {
      wanted.push_back(wanted_scheduler(name, which));
      continue;
    }
    for (contender const& c : contenders()) {
      if (which.takes(c) && !c.is_peer) wanted.push_back(&c);
    }
  }
  if (wanted.empty()) throw bad_request(std::string(which.rule) + ": this program was built without them");
  check_named_once(wanted);
  return wanted;
}

contender const* add_peer(std::vector<contender const*>& to, std::string_view name) {
  contender const* const peer = find_contender(name);
  if (peer && std::find(to.begin(), to.end(), peer) == to.end()) to.push_back(peer);
  return peer;
}

std::vector<unsigned> wanted_workers(options const& o) {
  if (!o.workers.empty()) return said_workers(o);
  unsigned const all = usual_workers();
  return all > 1 ? std::vector{1u, all} : std::vector{1u};
}

std::vector<unsigned> wanted_workers_by_powers(options const& o) {
  if (!o.workers.empty()) return said_workers(o);
  std::vector<unsigned> wanted;
  unsigned const all = usual_workers();
  for (unsigned p = 1; p < all; p *= 2) wanted.push_back(p);
  wanted.push_back(all);
  return wanted;
}

std::vector<unsigned> wanted_workers_that_steal(options const& o) {
  if (o.workers.empty()) return {std::max(2u, usual_workers())};
  auto const wanted = said_workers(o);
  if (*std::min_element(wanted.begin(), wanted.end()) < 2) throw bad_request("--stealing needs two workers or more");
  return wanted;
}

unsigned most(std::vector<unsigned> const& workers) { return *std::max_element(workers.begin(), workers.end()); }

void check_has_workers(std::vector<contender const*> const& schedulers, options const& o, unsigned workers) {
  auto const has_workers = [](contender const* c) { return !c || c->has_workers; };
  if (o.workers.empty() || workers == 1 || std::any_of(schedulers.begin(), schedulers.end(), has_workers)) return;
  throw bad_request(fmt::format("--workers does not apply to {}, which has one worker", schedulers[0]->name));
}

unsigned wanted_turns(options const& o, unsigned usual) {
  if (o.repeat.empty()) return o.quick ? k_turns_quick : usual;
  return static_cast<unsigned>(parse_size("--repeat", o.repeat, 1, 100'000));
}

std::ofstream opened(std::string const& name) {
  std::ofstream file;
  if (name.empty()) return file;
  file.open(name);
  if (!file) throw bad_request(fmt::format("cannot write {}", name));
  return file;
}

void write(std::ofstream& file, std::string const& name, std::string const& text) {
  if (file.is_open() && !(file << text << std::flush)) throw bad_request(fmt::format("cannot write {}", name));
}

void check_pools(std::vector<contender const*> const& schedulers, unsigned workers) {
  for (contender const* const c : schedulers) {
    if (c && !c->is_peer) c->make({.workers = workers});
  }
}

}  // namespace bench

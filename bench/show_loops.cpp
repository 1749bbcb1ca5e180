// The modes --loops and --algorithms of filch-bench.
#include "show_loops.hpp"

#include "loops.hpp"
#include "measure_algorithms.hpp"
#include "request.hpp"

#include <fmt/format.h>
#include <algorithm>

namespace bench {
namespace {

constexpr std::string_view k_tiny[] = {"for_each", "reduce", "count_if", "inclusive_scan", "copy_if", "find_if-none"};

/// A selection by --workload: NAME, NAME=ELEMENTS, or a whole table by its name.
struct wanted_algorithms {
  std::vector<sized_algorithm> sizes;
  std::vector<sized_algorithm> tails;
  std::vector<algorithm const*> tiny;
};

algorithm const& known_algorithm(std::string_view name) {
  if (algorithm const* const a = find_algorithm(name)) return *a;
  std::vector<std::string_view> names;
  for (algorithm const& a : known_algorithms()) names.push_back(a.name);
  throw bad_request(fmt::format("unknown algorithm {}; there are sizes, tails, tiny (also tiny=NAME), {}", name,
                                fmt::join(names, ", ")));
}

void add(wanted_algorithms& to, algorithm const& a, std::vector<std::size_t> const& sizes) {
  auto& table = a.table == algorithm_table::tails ? to.tails : to.sizes;
  for (std::size_t const n : sizes) table.push_back({&a, n});
}

void add_table(wanted_algorithms& to, algorithm_table table, bool is_quick) {
  for (algorithm const& a : known_algorithms()) {
    if (a.table == table && table != algorithm_table::tiny) add(to, a, is_quick ? a.quick_sizes : a.sizes);
  }
  if (table != algorithm_table::tiny) return;
  for (std::string_view const name : k_tiny) to.tiny.push_back(&known_algorithm(name));
}

void add_by_name(wanted_algorithms& to, std::string_view text, bool is_quick) {
  auto const equals = text.find('=');
  std::string_view const name = text.substr(0, equals);
  if (equals == text.npos) {
    algorithm const& a = known_algorithm(name);
    add(to, a, is_quick ? a.quick_sizes : a.sizes);
  } else if (name == "tiny") {
    algorithm const& a = known_algorithm(text.substr(equals + 1));
    if (a.table == algorithm_table::tails) throw bad_request(fmt::format("tiny has no {}", a.name));
    to.tiny.push_back(&a);
  } else {
    add(to, known_algorithm(name),
        {static_cast<std::size_t>(parse_size(name, text.substr(equals + 1), 1, 1'000'000'000))});
  }
}

void check_once(wanted_algorithms const& w) {
  std::vector<std::string> names;
  for (auto const* const table : {&w.sizes, &w.tails}) {
    for (sized_algorithm const& a : *table) names.push_back(fmt::format("{}={}", a.what->name, a.n));
  }
  for (algorithm const* const a : w.tiny) names.push_back(fmt::format("tiny={}", a->name));
  bench::check_once(names);
}

wanted_algorithms selected(options const& o) {
  wanted_algorithms wanted;
  for (std::string const& text : o.workloads) {
    bool const all = text == "all";
    if (all || text == "sizes") add_table(wanted, algorithm_table::sizes, o.quick);
    if (all || text == "tails") add_table(wanted, algorithm_table::tails, o.quick);
    if (all || text == "tiny") add_table(wanted, algorithm_table::tiny, o.quick);
    if (!all && text != "sizes" && text != "tails" && text != "tiny") add_by_name(wanted, text, o.quick);
  }
  check_once(wanted);
  return wanted;
}

loops_request wanted_loops(options const& o, std::vector<contender const*> contenders, unsigned workers) {
  constexpr unsigned k_turns = 7;
  loops_request wanted;
  wanted.contenders = std::move(contenders);
  wanted.workers = workers;
  wanted.turns = wanted_turns(o, k_turns);
  wanted.quick = o.quick;
  wanted.as_json = o.as_json();
  return wanted;
}

}  // namespace

void show_loops(options const& o) {
  auto contenders = wanted_schedulers(o, {[](contender const& c) { return c.has_workers; },
                                          "--loops is for schedulers of this program that have workers"});
  add_peer(contenders, "onetbb");
  auto const wanted = wanted_loops(o, std::move(contenders), usual_workers());
  check_pools(wanted.contenders, wanted.workers);

  nlohmann::ordered_json all;
  all["rows"] = measure_rows(wanted);
  all["rounds"] = measure_rounds(wanted);
  all["tiny"] = measure_tiny({find_algorithm("for_index")}, wanted);
  if (o.as_json()) fmt::print("{}\n", all.dump(2));
}

void show_algorithms(options const& o) {
  auto const selection = selected(o);
  algorithms_request wanted;
  wanted.contenders = wanted_schedulers(o, {[](contender const& c) { return c.has_workers; },
                                            "--algorithms is for schedulers of this program that have workers"});
  for (std::string_view const name : {"onetbb", "openmp-gcc", "openmp-llvm"}) add_peer(wanted.contenders, name);
  wanted.workers = wanted_workers(o);
  wanted.turns = wanted_turns(o);
  wanted.as_json = o.as_json();
  check_pools(wanted.contenders, most(wanted.workers));

  nlohmann::ordered_json all;
  if (!selection.sizes.empty()) all["sizes"] = measure_sizes(selection.sizes, wanted);
  if (!selection.tails.empty()) all["tails"] = measure_tails(selection.tails, wanted);
  if (!selection.tiny.empty())
    all["tiny"] = measure_tiny(selection.tiny, wanted_loops(o, wanted.contenders, most(wanted.workers)));
  if (o.as_json()) fmt::print("{}\n", all.dump(2));
}

}  // namespace bench

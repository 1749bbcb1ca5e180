// The figures of FILCH_PROFILE's page, as an object of JavaScript.
// report.cpp calls it when the process ends.
#include "runtime/profile/page.hpp"

#include "runtime/json.hpp"
#include "runtime/page.hpp"
#include "runtime/profile/flame.hpp"
#include "runtime/profile/profile.hpp"

#include <algorithm>
#include <cinttypes>
#include <string>
#include <string_view>

namespace filch::runtime::profile {
namespace {

constexpr std::string_view k_script =
#include "runtime/profile/page.inc"
    ;

void write_burdens(json& to, summary const& s) {
  to.name("burdens");
  to.open('[');
  for (unsigned i = 0; i < k_burdens; ++i) {
    to.open('{');
    to.field("cost", ms(calibrated.burdens[i]));
    to.field("from", std::string(name_of_burden(i)));
    to.field("span", ms(s.all.path.burdened[i]));
    to.close('}');
  }
  to.close(']');
}

void write_places(json& to, summary const& s) {
  to.name("places");
  to.open('[');
  for (auto const& p : s.places) {
    to.open('{');
    to.field("join", p.at.join);
    to.field("task", p.at.task);
    to.field("forks", p.of.forks);
    to.field("work", ms(p.of.work));
    to.field("own", ms(p.of.own));
    to.field("span", ms(p.of.span));
    to.field("small", static_cast<double>(p.of.small) / static_cast<double>(p.of.forks));
    to.name("share");
    p.has_path&& s.all.path.span > 0 ? to.number(static_cast<double>(p.share) / static_cast<double>(s.all.path.span))
                                     : to.nothing();
    to.name("faster");
    p.has_path ? to.number(parallelism_if_faster(s, p)) : to.nothing();
    to.close('}');
  }
  to.close(']');
}

void write_regions(json& to, summary const& s) {
  to.name("regions");
  to.open('[');
  for (auto const& [name, r] : s.regions) {
    to.open('{');
    to.field("name", name);
    to.field("calls", r.calls);
    to.field("forks", r.sum.forks);
    to.field("work", ms(r.sum.work));
    to.field("span", ms(r.sum.span));
    to.field("burdened", ms(r.sum.burdened));
    to.close('}');
  }
  to.close(']');
}

/// Its places are indices of the places above, or -1.
void write_flame(json& to, summary const& s, fork_tree const& tree) {
  to.name("flame");
  to.open('[');
  for (flame_box const& b : flame_of(tree)) {
    double place = -1;
    for (std::size_t i = 0; b.place != flame_box::k_none && i < s.places.size(); ++i) {
      if (s.places[i].of.task == tree.places[b.place]) place = static_cast<double>(i);
    }
    to.open('{');
    to.field("parent", b.parent == flame_box::k_none ? -1.0 : static_cast<double>(b.parent));
    to.field("place", place);
    to.field("work", b.work_ns / 1e6);
    to.field("span", b.span_ns / 1e6);
    to.close('}');
  }
  to.close(']');
}

/// Returns the part of the work that was simulated, at the number of workers for which it is least.
double write_prediction(json& to, fork_tree const& tree) {
  constexpr double k_most_effort = 1e9;  // the process ends some seconds later
  to.name("predicted");
  to.open('[');
  // A run that has not ended has no work to predict from.
  bool const is_known = !tree.joins.empty() && !tree.runs.empty();
  double simulated = 1;
  double left = k_most_effort;
  int numbers = 9;
  for (unsigned workers = 1; is_known && workers <= 256; workers *= 2) {
    speedup const p = predicted_speedup(tree, workers, left / numbers--);
    left -= p.effort;
    simulated = std::min(simulated, p.simulated);
    to.open('[');
    to.number(std::uint64_t{workers});
    to.number(p.times);
    to.close(']');
  }
  to.close(']');
  return simulated;
}

void write_notes(json& to, summary const& s, double simulated) {
  auto notes = notes_of(s);
  if (simulated < 1) {
    char text[100];
    std::snprintf(text, sizeof(text), "%.2g%% of the work was simulated, and the rest estimated, to save time",
                  100 * simulated);
    notes.emplace_back("prediction", text);
  }
  to.name("notes");
  to.open('[');
  for (auto const& [name, text] : notes) {
    to.open('[');
    to.string(name);
    to.string(text);
    to.close(']');
  }
  to.close(']');
}

std::string figures(summary const& s) {
  json to;
  to.open('{');
  to.field("program", name_of_program());
  to.field("forks", s.all.forks);
  to.field("work", ms(s.all.work));
  to.field("work_error", uncertain_ms(s, s.all.segments));
  to.field("span", ms(s.all.path.span));
  to.field("span_error", uncertain_ms(s, s.all.path.segments));
  write_burdens(to, s);
  write_places(to, s);
  write_regions(to, s);
  fork_tree const tree = recorded_fork_tree();
  write_flame(to, s, tree);
  double const simulated = write_prediction(to, tree);
  write_notes(to, s, simulated);
  to.close('}');
  return to.text;
}

}  // namespace

void print_page(std::FILE* to, summary const& s) {
  std::string const page = page_of(k_script, figures(s));
  std::fwrite(page.data(), 1, page.size(), to);
}

}  // namespace filch::runtime::profile

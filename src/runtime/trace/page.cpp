// The figures of FILCH_TRACE's page, as an object of JavaScript.
// trace.cpp calls it when the process ends.
#include "runtime/trace/page.hpp"

#include "runtime/json.hpp"
#include "runtime/page.hpp"

#include <string_view>

namespace filch::runtime::trace {
namespace {

constexpr std::string_view k_script =
#include "runtime/trace/page.inc"
    ;

void write_place(json& to, summary::place const& p) {
  to.open('{');
  to.field("name", p.name);
  to.field("seconds", p.seconds);
  to.field("busy", p.busy);
  to.field("searching", p.searching);
  to.field("waiting", p.waiting);
  to.field("asleep", p.asleep);
  to.field("steals", p.steals);
  to.close('}');
}

void write_pool(json& to, summary const& s) {
  to.open('{');
  to.field("number", std::uint64_t{s.number});
  to.field("scheduler", s.scheduler);
  to.field("workers", std::uint64_t{s.workers});
  to.field("events", std::uint64_t{s.events});
  to.field("dropped", s.dropped);
  to.field("in_use", s.in_use);
  to.field("idle_begin", s.idle_begin);
  to.field("idle_seconds", s.idle_seconds);
  to.field("ran_meanwhile", s.ran_meanwhile);
  to.name("places");
  to.open('[');
  for (auto const& p : s.places) write_place(to, p);
  to.close(']');
  to.close('}');
}

}  // namespace

std::string page_of_summaries(std::vector<summary> const& pools) {
  json to;
  to.open('{');
  to.field("program", name_of_program());
  to.name("pools");
  to.open('[');
  for (summary const& each : pools) write_pool(to, each);
  to.close(']');
  to.close('}');
  return page_of(k_script, to.text);
}

}  // namespace filch::runtime::trace

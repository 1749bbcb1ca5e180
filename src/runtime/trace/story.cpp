// Sorts the events of a pool, and derives states from them. A ring may have lost its oldest events: then a place is
// absent until its first event, and its first task has no name.
#include "runtime/trace/story.hpp"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

namespace filch::runtime::trace {

listener::~listener() = default;

namespace {

struct place_state {
  state now = state::absent;
  state before_sleep = state::absent;
  std::vector<address> open;     // tasks that run, each on top of the wait of the one before
  std::optional<address> taken;  // a task, before its fiber runs; 0: one of a group
};

class teller {
 public:
  teller(unsigned places, std::uint64_t flow, listener& to) : places_(places), flow_(flow), to_(to) {}

  void tell(event const& e) {
    place_state& p = places_[e.place];
    unsigned const peer = packed::peer(e.word);
    address const at = packed::address(e.word);
    switch (packed::what(e.word)) {
      case kind::enters:
        p.open.assign(1, at);
        p.taken = at;
        return become(e, state::busy, at);
      case kind::leaves: p.open.clear(); return become(e, state::absent);
      case kind::takes: return takes(e, p, peer, at);
      case kind::returns:
        if (!p.open.empty()) p.open.pop_back();
        return become(e, p.open.empty() ? state::searching : state::waiting);
      case kind::waits: return become(e, state::waiting);
      case kind::joined: return become(e, state::busy, p.open.empty() ? 0 : p.open.back());
      case kind::runs: return runs(e, p, at);
      case kind::suspends:
        suspended_[at] = ++flow_;
        to_.suspended(e.place, e.time, flow_, peer);
        return become(e, state::searching);
      case kind::searches: return become(e, state::searching);
      case kind::sleeps:
        if (p.now != state::asleep) p.before_sleep = p.now;
        return become(e, state::asleep);
      case kind::wakes_up: return become(e, p.before_sleep == state::absent ? state::searching : p.before_sleep);
      case kind::gives: return to_.gives(e.place, e.time);
      case kind::interrupts: return to_.interrupts(e.place, e.time, peer);
    }
  }

 private:
  void become(event const& e, state now, address code = 0, std::uint64_t flow = 0) {
    place_state& p = places_[e.place];
    if (p.now == now && now != state::busy) return;
    p.now = now;
    to_.changes(e.place, e.time, now, code, flow);
  }

  void takes(event const& e, place_state& p, unsigned victim, address code) {
    std::uint64_t flow = 0;
    if (victim != e.place) to_.stolen(victim, e.time, e.place, flow = ++flow_);
    p.taken = code;  // for the fiber that runs next
    p.open.push_back(code);
    become(e, state::busy, code, flow);
  }

  void runs(event const& e, place_state& p, address fiber) {
    p.open.clear();
    if (p.taken) {
      code_of_[fiber] = *std::exchange(p.taken, std::nullopt);
      // The state has begun where the task was taken, or the caller entered.
      if (p.now == state::busy) return;
    }
    auto const flow = suspended_.find(fiber);
    become(e, state::busy, code_of_[fiber], flow == suspended_.end() ? 0 : flow->second);
    if (flow != suspended_.end()) suspended_.erase(flow);
  }

  std::vector<place_state> places_;
  std::unordered_map<address, address> code_of_;          // by fiber
  std::unordered_map<address, std::uint64_t> suspended_;  // the flow, by fiber
  std::uint64_t flow_;
  listener& to_;
};

}  // namespace

story::story(recorder const& of, std::uint64_t first_flow) : name_(of.name()), first_flow_(first_flow) {
  for (unsigned i = 0; i < name_.places; ++i) {
    std::uint64_t const dropped = of.of(i).read(i, events_);
    dropped_ += dropped;
    most_dropped_ = std::max(most_dropped_, dropped);
  }
  std::sort(events_.begin(), events_.end(), [](event const& a, event const& b) {
    return std::tie(a.time, a.place, a.number) < std::tie(b.time, b.place, b.number);
  });
}

void story::tell(listener& to) const {
  teller t(name_.places, first_flow_, to);
  for (event const& e : events_) t.tell(e);
}

}  // namespace filch::runtime::trace

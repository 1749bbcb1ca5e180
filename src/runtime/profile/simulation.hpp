// The simulation of prediction.hpp. An offer is a task that thieves could take. Thieves do not look one by one: a
// worker with an offer has an event at which the first of the searching thieves finds it. prediction.cpp runs it.
#pragma once

#include "runtime/profile/prediction.hpp"
#include "runtime/profile/simulated_worker.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <queue>

namespace filch::runtime::profile::simulated {

class simulation {
 public:
  simulation(timed_tree const& tree, steal_costs const& costs, steal_rule rule, unsigned workers, std::uint64_t seed)
      : tree_(tree), costs_(costs), rule_(rule), workers_(workers), searches_(workers), random_(seed * 2 + 1) {
    effort_ = k_of_worker * this->workers();
  }

  /// The run's figures. With too much effort it stops, and the rest of the run counts as like its begin.
  prediction run(fork_tree::part const& task, double most_effort) {
    for (unsigned i = 1; i < workers(); ++i) changes_to(workers_[i], worker::state::searches, 0);
    begin(0, {task, nullptr}, side::of_run, 0);
    double now = 0;
    bool is_cut = false;
    for (is_over_ = false; !is_over_ && !is_cut;) {
      event const e = events_.top();
      events_.pop();
      now = e.at;
      handle(e);
      effort_ += k_of_event;
      is_cut = effort_ > most_effort && number_ > k_fewest_events && now > 0;
    }
    for (worker& w : workers_) changes_to(w, worker::state::rests, now);
    prediction p;
    p.workers = workers();
    p.effort = effort_;
    double const work = tree_.work(task);
    double const did = own_ + on_top_;
    if (!is_over_ && did > 0) p.simulated = std::min(1.0, did / work);
    p.ns = now / p.simulated;
    p.steals = steals_ / p.simulated;
    p.own_ns = own_ / p.simulated;
    p.on_top_ns = on_top_ / p.simulated;
    p.searching_ns = searching_ / p.simulated;
    p.waiting_ns = waiting_ / p.simulated;
    return p;
  }

 private:
  // In looks at a worker; measured.
  static constexpr double k_of_worker = 32;
  static constexpr double k_of_event = 64;
  static constexpr std::uint64_t k_fewest_events = 1'000;

  using phase = timed_tree::phase;
  using spot = timed_tree::spot;

  void handle(event const& e) {
    worker& w = workers_[e.who];
    if (e.what == event::kind::wakes) return awakes(w, e.at);
    if (e.version != w.version) return;
    if (e.what == event::kind::ends) return task_ends(e.who, e.at);
    if (!w.is_sought || e.number != searches_[e.who].event) return;
    w.is_sought = false;
    is_found(e.who, e.at);
  }
  void push(double at, event::kind what, unsigned who) {
    events_.push({at, ++number_, what, who, workers_[who].version});
  }

  // ---- positions ---------------------------------------------------------------------------------

  /// The worker continues here, in the task that would have begun at `origin`.
  void goes_on(unsigned me, timed_tree::cursor const& from, double origin, frame* around, side in, double now) {
    worker& w = workers_[me];
    w.from = from;
    w.origin = origin;
    w.around = around;
    w.in = in;
    changes_to(w, worker::state::runs, now);
    moved(me, now);
  }
  void moved(unsigned me, double now) {
    worker& w = workers_[me];
    ++w.version;
    w.is_sought = false;
    w.has_no_offer = false;
    push(std::max(now, w.origin + tree_.work(w.from.task)), event::kind::ends, me);
    is_sought(me, now);
  }
  void begin(unsigned me, task const& t, side in, double now) {
    goes_on(me, tree_.begin_of(t.what), now, t.around, in, now);
  }
  /// After a join: both sides have ended.
  void leaves_join(unsigned me, frame* joined, double now) {
    frame const f = *joined;
    frames_.erase(joined);
    goes_on(me, f.rest, now - tree_.offset(f.rest), f.outer, f.outer_side, now);
  }
  void changes_to(worker& w, worker::state is, double now) {
    double const lasted = std::max(0.0, now - w.since);
    switch (w.is) {
      case worker::state::runs: (w.waits.empty() ? own_ : on_top_) += lasted; break;
      case worker::state::searches: searching_ += lasted; break;
      case worker::state::waits: waiting_ += lasted; break;
      case worker::state::rests: break;
    }
    if (may_steal(w)) --(w.is_asleep ? asleep_ : awake_);
    w.is = is;
    w.is_asleep = false;
    w.since = now;
    if (may_steal(w)) ++awake_;
  }

  // ---- ends --------------------------------------------------------------------------------------

  void task_ends(unsigned me, double now) {
    worker& w = workers_[me];
    frame* const f = w.around;
    switch (w.in) {
      case side::of_run: is_over_ = true; return;
      case side::of_f: return f_ends(me, *f, now);
      case side::of_g: break;
    }
    if (!f->g_is_stolen) return leaves_join(me, f, now);
    f->g_ended = true;
    f->g_ended_at = now;
    if (rule_ == steal_rule::continuation) {
      return f->f_ended ? leaves_join(me, f, is_joined(*f, now)) : has_nothing(me, now);
    }
    if (f->waiter != k_none && workers_[f->waiter].is == worker::state::waits &&
        workers_[f->waiter].waits.back() == f) {
      waited_for(f->waiter, now);
    }
    has_nothing(me, now);
  }
  void f_ends(unsigned me, frame& f, double now) {
    if (f.g_ended) return leaves_join(me, &f, is_joined(f, now));
    f.f_ended = true;
    if (rule_ == steal_rule::continuation) return has_nothing(me, now);
    f.waiter = me;
    changes_to(workers_[me], worker::state::waits, now);
    workers_[me].waits.push_back(&f);
    has_nothing(me, now);
  }
  /// The end of g is known a while after it.
  double is_joined(frame const& f, double now) const noexcept {
    return std::max(now, f.g_ended_at + costs_.crowded(costs_.joined, workers()));
  }

  /// It waits, and takes tasks of one thief only.
  void leaps(unsigned me, double now) {
    unsigned const thief = workers_[me].waits.back()->thief;
    workers_[thief].leapers.push_back(me);
    if (workers_[thief].is_sought) redraw(thief, now);
    is_sought(thief, now);
  }
  void waited_for(unsigned me, double now) {
    worker& w = workers_[me];
    frame* const f = w.waits.back();
    if (rule_ == steal_rule::leapfrog) std::erase(workers_[f->thief].leapers, me);
    changes_to(w, worker::state::runs, now);
    w.waits.pop_back();
    leaves_join(me, f, is_joined(*f, now));
  }
  /// The worker's task was a stolen one that has ended, or stands in a join.
  void has_nothing(unsigned me, double now) {
    worker& w = workers_[me];
    if (!w.waits.empty() && w.waits.back()->g_ended) {
      changes_to(w, worker::state::waits, now);
      return waited_for(me, now);
    }
    if (!w.ready.empty()) {
      task const t = w.ready.back();
      w.ready.pop_back();
      return begin(me, t, side::of_g, now);
    }
    changes_to(w, w.waits.empty() ? worker::state::searches : worker::state::waits, now);
    ++w.version;
    if (!w.waits.empty() && rule_ == steal_rule::leapfrog) return leaps(me, now);
    looks_around(now);
  }

  // ---- offers ------------------------------------------------------------------------------------

  /// The time until the worker has an offer; k_never: it has none before its task ends.
  double until_offer(worker const& w, double now) const {
    return w.ready.empty() ? until_offer_in(w.from, now - w.origin) : 0;
  }
  // Recursive: as deep as g's are inside of each other.
  double until_offer_in(timed_tree::cursor const& from, double offset) const {
    spot s = tree_.locate(from, offset);
    if (s.where == phase::in_f) return 0;
    if (s.where == phase::in_g) {
      double const inside = until_offer_in(tree_.begin_of(tree_.g_of(s.at)), offset - s.g_begins);
      if (inside < k_never) return inside;
      s = tree_.at(tree_.after(s.at));
    }
    // A side that takes no time is over before a thief comes.
    while (s.where != phase::after && s.g_begins <= s.f_begins) s = tree_.at(tree_.after(s.at));
    return s.where == phase::after ? k_never : s.f_begins - offset;
  }

  unsigned workers() const noexcept { return static_cast<unsigned>(workers_.size()); }
  bool may_steal(worker const& w) const noexcept {
    return w.is == worker::state::searches || (w.is == worker::state::waits && rule_ != steal_rule::leapfrog);
  }
  /// The chance that a look is one at this worker.
  double chance_of(worker const& w) const noexcept {
    if (!w.leapers.empty()) return 1;
    return static_cast<double>(awake_) / (workers() - 1);
  }
  /// The worker's next offer gets its event, if a thief searches.
  void is_sought(unsigned who, double now) {
    worker& w = workers_[who];
    if (w.is != worker::state::runs || w.is_sought || w.has_no_offer) return;
    if (awake_ + asleep_ + w.leapers.size() == 0) return;
    double const offer = until_offer(w, now);
    w.has_no_offer = offer >= k_never;
    if (w.has_no_offer) return;
    w.is_sought = true;
    searches_[who].offer_at = now + offer;
    draw(who, now);
  }
  /// When a thief finds the offer. Replaces an event that is on its way.
  void draw(unsigned who, double now) {
    search& s = searches_[who];
    double const chance = chance_of(workers_[who]);
    double const begins = std::max(now, s.offer_at);
    s.chance = chance > 0 ? chance : 1;
    s.found_at = begins + costs_.probe * looks(chance);
    if (s.found_at - begins > 1.5 * costs_.probe) fewest_awake_ = std::min(fewest_awake_, awake_);
    push(s.found_at, event::kind::found, who);
    s.event = number_;
  }
  /// The event may come sooner, if more thieves search than when it was drawn.
  void redraw(unsigned who, double now) {
    search const& s = searches_[who];
    if (s.found_at - std::max(now, s.offer_at) <= 1.5 * costs_.probe) return;
    if (chance_of(workers_[who]) > s.chance) draw(who, now);
  }
  void looks_around(double now) {
    bool const are_far_more = 2 * awake_ >= 3 * fewest_awake_;
    if (are_far_more) fewest_awake_ = awake_;
    effort_ += workers();
    for (unsigned i = 0; i < workers(); ++i) {
      if (are_far_more && workers_[i].is_sought) redraw(i, now);
      is_sought(i, now);
    }
  }
  /// So many looks until one hits, each with this chance.
  double looks(double chance) {
    if (chance <= 0 || chance >= 1) return 1;
    return 1 + std::floor(std::log1p(-fraction()) / std::log1p(-chance));
  }

  void is_found(unsigned victim, double now) {
    worker& w = workers_[victim];
    if (until_offer(w, now) > 0) return is_sought(victim, now);
    // Far fewer thieves search than when the event was drawn, so some of its looks did not happen.
    double const chance = chance_of(w);
    double const drawn = searches_[victim].chance;
    if (chance > 0 && 2 * chance <= drawn && fraction() * drawn >= chance) return is_sought(victim, now);
    if (std::optional<unsigned> const thief = finder(w, now)) return steal(*thief, victim, now);
  }
  /// A leaper looks more often than all others. Without one: any thief that is awake; else one is woken.
  std::optional<unsigned> finder(worker const& victim, double now) {
    if (!victim.leapers.empty()) return victim.leapers[choose(victim.leapers.size())];
    effort_ += workers();
    std::vector<unsigned> awake;
    std::optional<unsigned> asleep;
    for (unsigned i = 0; i < workers(); ++i) {
      worker& w = workers_[i];
      if (!may_steal(w)) continue;
      if (!w.is_asleep && w.is == worker::state::searches && now - w.since > costs_.searches) {
        w.is_asleep = true;
        --awake_;
        ++asleep_;
      }
      if (!w.is_asleep)
        awake.push_back(i);
      else if (!asleep)
        asleep = i;
    }
    if (!awake.empty()) return awake[choose(awake.size())];
    if (asleep && !wakes_) {
      wakes_ = true;
      push(now + costs_.crowded(costs_.wakeup, workers()), event::kind::wakes, *asleep);
    }
    return std::nullopt;
  }
  void awakes(worker& w, double now) {
    wakes_ = false;
    if (w.is == worker::state::searches) changes_to(w, worker::state::searches, now);
    looks_around(now);
  }

  // ---- steals ------------------------------------------------------------------------------------

  void steal(unsigned thief, unsigned victim, double now) {
    worker& from = workers_[victim];
    std::vector<task> taken = takes_ready(from);
    if (taken.empty()) taken = takes_from_path(from, now);
    from.origin += costs_.victim;
    ++steals_;
    for (task const& t : taken) t.around->thief = thief;
    worker& to = workers_[thief];
    if (rule_ == steal_rule::leapfrog && !to.waits.empty())
      std::erase(workers_[to.waits.back()->thief].leapers, thief);
    double const begins = std::max(now, from.is_robbed_until) + costs_.crowded(costs_.steal, workers());
    from.is_robbed_until = begins;
    to.ready.assign(taken.begin() + 1, taken.end());
    begin(thief, taken.front(), side::of_g, begins);
    moved(victim, now);
  }
  std::vector<task> takes_ready(worker& from) {
    std::size_t const n = rule_ == steal_rule::steal_half ? (from.ready.size() + 1) / 2 : from.ready.empty() ? 0 : 1;
    auto const end = from.ready.begin() + static_cast<std::ptrdiff_t>(n);
    std::vector<task> taken(from.ready.begin(), end);
    from.ready.erase(from.ready.begin(), end);
    return taken;
  }
  /// The oldest tasks of the worker's path, which is made visible as far.
  std::vector<task> takes_from_path(worker& from, double now) {
    std::size_t most = 1;
    if (rule_ == steal_rule::steal_half) most = (offers_on_path(from, now) + 1) / 2;
    std::vector<task> taken;
    for (double offset = now - from.origin; taken.size() < most;) {
      spot const s = tree_.locate(from.from, offset);
      bool const is_offer = s.where == phase::in_f;
      frame* const f = frames_.make({from.around, from.in, tree_.after(s.at)});
      f->g_is_stolen = is_offer;
      if (is_offer) taken.push_back({tree_.g_of(s.at), f});
      double const begins = is_offer ? s.f_begins : s.g_begins;
      offset -= begins;
      from.origin += begins;
      from.from = tree_.begin_of(is_offer ? tree_.f_of(s.at) : tree_.g_of(s.at));
      from.around = f;
      from.in = is_offer ? side::of_f : side::of_g;
    }
    return taken;
  }
  std::size_t offers_on_path(worker const& w, double now) const {
    std::size_t n = 0;
    timed_tree::cursor from = w.from;
    for (double offset = now - w.origin;;) {
      spot const s = tree_.locate(from, offset);
      if (s.where == phase::before || s.where == phase::after) return n;
      bool const is_offer = s.where == phase::in_f;
      n += is_offer;
      offset -= is_offer ? s.f_begins : s.g_begins;
      from = tree_.begin_of(is_offer ? tree_.f_of(s.at) : tree_.g_of(s.at));
    }
  }

  // ---- the rest ----------------------------------------------------------------------------------

  /// In [0, 1). The constants are Knuth's.
  double fraction() noexcept {
    random_ = random_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<double>(random_ >> 11) * 0x1p-53;
  }
  std::size_t choose(std::size_t n) noexcept { return static_cast<std::size_t>(fraction() * static_cast<double>(n)); }

  timed_tree const& tree_;
  steal_costs const& costs_;
  steal_rule const rule_;
  std::vector<worker> workers_;
  std::vector<search> searches_;  // by worker
  std::priority_queue<event> events_;
  frame_store frames_;
  std::uint64_t random_;
  std::uint64_t number_ = 0;  // of events
  bool wakes_ = false;        // a thief is on its way
  bool is_over_ = false;
  std::size_t awake_ = 0, asleep_ = 0;                               // thieves
  std::size_t fewest_awake_ = std::numeric_limits<unsigned>::max();  // when an event was drawn
  double effort_ = 0;
  double steals_ = 0;
  double own_ = 0, on_top_ = 0, searching_ = 0, waiting_ = 0;
};

}  // namespace filch::runtime::profile::simulated

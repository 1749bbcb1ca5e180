// The hooks of FILCH_PROFILE, and the processor time that other programs took. Called from the slow paths of forks,
// joins and scopes.
#include "runtime/profile/record.hpp"

#include <algorithm>
#include <utility>

namespace filch::runtime::profile {

// ---- runs ----------------------------------------------------------------------------------------

own_costs const* record::run_begins(own_costs const& costs) noexcept {
  own_costs const* const before = std::exchange(costs_, &costs);
  if (inside_++ != 0) return before;
  mutex.lock();
  ++runs_;
  static_cast<void>(look_at_own_time());
  run_began_ = own_time_;
  last_hook_.note(entered_);
  begins(segment::of_run);
  return before;
}

void record::run_ends(own_costs const* before) noexcept {
  if (inside_ != 1) {
    --inside_;
    costs_ = before;
    return;
  }
  segment_ends();
  last_hook_.run_ended();
  tree_.run_ended();
  inside_ = 0;
  in_runs_ += own_time() - run_began_;
  mutex.unlock();
}

void record::stay_begins() noexcept {
  if (stays_inside_++ == 0) stay_began_ = time_stamp();
}

void record::stay_ends() noexcept {
  if (--stays_inside_ != 0) return;
  ++stays_;
  in_stays_ += time_stamp() - stay_began_;
}

// ---- joins ---------------------------------------------------------------------------------------

void record::forked(open_task& t, code task) noexcept {
  segment_ends();
  place& p = places_.of(task);
  ++forks_;
  ++p.forks;
  t.path = path_;
  t.span = path_.span;
  t.burdened = path_.burdened.back();
  t.work = work_;
  t.of = &p;
  t.outer = innermost_;
  t.fork = tree_.forked(p.number);
  t.is_open = innermost_ != &p;
  if (t.is_open) {
    ++p.open;
    opened_.push_back(&t);
  }
  if (!p.is_spawn) ++p.depth;
  innermost_ = &p;
}

void record::f_ended(open_task& t) noexcept {
  segment_ends();
  tree_.f_ended(t.fork);
  t.work_of_f = work_ - t.work;
  std::swap(path_, t.path);  // g begins where f began
  path_.task_begins();
  innermost_ = t.of;
}

void record::g_ended(open_task& t) noexcept {
  segment_ends();
  path_.join(t.path);
  place& p = *t.of;
  tree_.joined(t.fork);
  auto const [smaller, larger] = std::minmax({t.work_of_f, work_ - t.work - t.work_of_f});
  if (calibrated.ns(smaller) < 1000) ++p.small;
  p.note_sides(calibrated.ns(larger));
  --p.depth;
  close(t, work_ - t.work, path_.span, path_.burdened.back());
}

/// The newest task that is not closed. If its place's outermost fork has ended, it counts with all that is in it.
void record::close(open_task& t, cycles work, cycles span, cycles burdened) noexcept {
  place& p = *t.of;
  innermost_ = t.outer;
  if (!t.is_open) return;
  opened_.pop_back();
  if (--p.open != 0) return;
  p.work += work;
  p.span += span - t.span;
  p.burdened += burdened - t.burdened;
}

// ---- scopes --------------------------------------------------------------------------------------

void record::sync_begins() noexcept {
  segment_ends();
  syncs_.push_back({path_, nullptr, false, work_, path_.span, path_.burdened.back()});
}

/// A spawn has in it the rest of the scope's body, and the tasks from its own one on. Until that one begins, the
/// older ones run, which are not inside of it.
void record::set_places_aside(sync& s, open_task const& first) noexcept {
  for (auto t = opened_.rbegin(); t != opened_.rend() && (*t)->fork >= first.fork; ++t) {
    --(*t)->of->open;
    s.has_more_places = s.has_more_places || *t != &first;
  }
}

/// Those of the scope's tasks but for the first one's.
[[gnu::noinline]] void record::close_places(sync const& s, open_task const& first, open_task const* end) noexcept {
  cycles span = s.span;
  cycles burdened = s.burdened;
  auto const adds = [&](spans const& path) {
    span = std::max(span, path.span);
    burdened = std::max(burdened, path.burdened.back());
  };
  auto ran_early = early_.rbegin();
  for (open_task* t = s.running; t != &first; --t) {
    for (; ran_early != early_.rend() && t < ran_early->lowest && ran_early->lowest < end; ++ran_early)
      adds(ran_early->path);
    adds(t->path);
    if (t->is_open) close(*t, s.work - t->work + work_ - t->work_of_f, span, burdened);
  }
}

void record::task_of_scope_begins(open_task& t) noexcept {
  // Its spawns were taken for a join's forks at first, of which each is in the one before.
  if (!std::exchange(t.of->is_spawn, true)) t.of->depth = 0;
  tree_.task_begins();
  path_ = t.path;
  path_.task_begins();
  t.work_of_f = work_;
  innermost_ = t.of;
  ++t.of->depth;
}

void record::task_of_scope_ends(open_task& t) noexcept {
  tree_.task_ended(t.fork);
  t.path.span = path_.span;
  t.path.burdened.back() = path_.burdened.back();
  place& p = *t.of;
  --p.depth;
  if (calibrated.ns(work_ - t.work_of_f) < 1000) ++p.small;
}

void record::task_begins(open_task& t) noexcept {
  sync& s = syncs_.back();
  if (s.running) {
    segment_ends();
    task_of_scope_ends(*s.running);
    s.path.join(path_);
  } else {
    set_places_aside(s, t);
  }
  if (t.is_open) ++t.of->open;
  s.running = &t;
  task_of_scope_begins(t);
}

void record::sync_ends(open_task& first, open_task const* end) noexcept {
  segment_ends();
  sync& s = syncs_.back();
  task_of_scope_ends(*s.running);
  if (s.has_more_places) [[unlikely]]
    close_places(s, first, end);
  path_.join(s.path);
  auto const is_in_scope = [&](open_task const* t) { return &first <= t && t < end; };
  folding::fork oldest = first.fork;
  for (; !early_.empty() && is_in_scope(early_.back().lowest); early_.pop_back()) {
    path_.join(early_.back().path);
    oldest = std::min(oldest, early_.back().oldest);
  }
  tree_.scope_ended(oldest);
  syncs_.pop_back();
  close(first, work_ - first.work, path_.span, path_.burdened.back());
}

spans record::early_begins(open_task& t) noexcept {
  // Between two such tasks no code of the program runs.
  bool const is_next = !early_.empty() && early_.back().lowest == &t + 1;
  if (is_next) {
    entered_ = time_stamp();
  } else {
    segment_ends();
  }
  spans const body = path_;
  task_of_scope_begins(t);
  return body;
}

void record::early_ends(open_task& t, spans const& body) noexcept {
  segment_ends();
  task_of_scope_ends(t);
  bool const is_next = !early_.empty() && early_.back().lowest == &t + 1;
  if (!is_next) {
    early_.push_back({&t, path_, t.fork});
  } else {
    early_.back().lowest = &t;
    early_.back().oldest = t.fork;
    early_.back().path.join(path_);
  }
  if (early_.size() > 1 && early_[early_.size() - 2].lowest == &t) {
    early_[early_.size() - 2].path.join(early_.back().path);
    early_.pop_back();
  }
  path_ = body;
  close(t, work_ - t.work, body.span, body.burdened.back());
}

// ---- the thread's processor time -----------------------------------------------------------------

/// The segment was long: perhaps the thread did not run meanwhile.
[[gnu::noinline]] cycles record::preempted_since() noexcept {
  cycles const now = time_stamp();
  cycles const ran = own_time();
  cycles const lost = (now - looked_at_) - (ran - own_time_);
  looked_at_ = now;
  own_time_ = ran;
  // The two clocks differ a little.
  if (lost < calibrated.looks_after / 10) return 0;
  preempted_ += lost;
  return lost;
}

/// Returns the time now, after a look that was not interrupted.
[[gnu::noinline]] cycles record::look_at_own_time() noexcept {
  constexpr int k_most_tries = 10;
  for (int tries = 0;; ++tries) {
    cycles const before = time_stamp();
    own_time_ = own_time();
    looked_at_ = time_stamp();
    if (looked_at_ - before < calibrated.looks_after || tries == k_most_tries) return entered_ = time_stamp();
  }
}

// ---- calibration ---------------------------------------------------------------------------------

void record::samples_begin() {
  samples_ = std::make_unique<samples>();
  for (auto& of_kind : *samples_) of_kind.reserve(100'000);
}

void record::note_sample(cycles ran) {
  auto& of = (*samples_)[static_cast<unsigned>(kind_)];
  if (of.size() < of.capacity()) of.push_back(ran);
}

cycles record::samples_end(std::initializer_list<segment> kinds, own_costs& costs) {
  cycles sum = 0;
  for (segment const kind : kinds) {
    auto& of = (*samples_)[static_cast<unsigned>(kind)];
    if (of.empty()) continue;
    auto const middle = of.begin() + static_cast<std::ptrdiff_t>(of.size() / 2);
    std::nth_element(of.begin(), middle, of.end());
    costs[static_cast<unsigned>(kind)] = *middle;
    sum += *middle;
  }
  samples_.reset();
  return sum;
}

bool record::should_check_costs() noexcept {
  constexpr cycles k_between = 200'000'000;
  if (inside_ != 1 || (checked_at_ != 0 && entered_ - checked_at_ < k_between)) return false;
  checked_at_ = entered_;
  return true;
}

record::figures record::so_far() const noexcept {
  figures f;
  f.work = work_;
  f.path = path_;
  f.preempted = preempted_;
  f.in_stays = in_stays_;
  f.seconds_in_runs = calibrated.seconds(in_runs_);
  f.runs = runs_;
  f.forks = forks_;
  f.segments = segments_;
  f.no_room = no_room_;
  f.stays = stays_;
  f.off_by = off_by_;
  return f;
}

}  // namespace filch::runtime::profile

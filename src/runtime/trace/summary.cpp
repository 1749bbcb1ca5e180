// Adds up the states of the workers. The longest stretch in which at least half of them had no task shows where a
// program lacks parallelism.
#include "runtime/trace/summary.hpp"

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdarg>
#include <cstdio>
#include <unordered_map>

namespace filch::runtime::trace {
namespace {

struct stretch {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  std::uint64_t length() const noexcept { return end - begin; }
};

/// Is told of states only. An event costs the same however many places there are.
class states_of : public listener {
 public:
  void stolen(unsigned, std::uint64_t, unsigned, std::uint64_t) override {}
  void suspended(unsigned, std::uint64_t, std::uint64_t, unsigned) override {}
  void gives(unsigned, std::uint64_t) override {}
  void interrupts(unsigned, std::uint64_t, unsigned) override {}

 protected:
  struct place_state {
    state now = state::absent;
    std::uint64_t since = 0;
    address code = 0;
  };
  states_of(unsigned places, std::uint64_t begin) : places_(places, place_state{state::absent, begin, 0}) {}

  std::vector<place_state> places_;
};

class totals : public states_of {
 public:
  totals(story const& of, time_scale const& scale)
      : states_of(of.name().places, scale.begin),
        all_(of.name().places),
        workers_(of.name().workers),
        now_(scale.begin) {
    of.tell(*this);
    for (unsigned i = 0; i < all_.size(); ++i) becomes(i, std::max(now_, scale.end), state::absent);
  }

  void changes(unsigned place, std::uint64_t time, state now, address, std::uint64_t) override {
    becomes(place, time, now);
  }
  void stolen(unsigned, std::uint64_t, unsigned thief, std::uint64_t) override { ++all_[thief].steals; }

  struct place_totals {
    std::array<std::uint64_t, k_states> in{};
    std::uint64_t steals = 0;

    std::uint64_t present() const noexcept {
      std::uint64_t sum = 0;
      for (unsigned i = 1; i < k_states; ++i) sum += in[i];
      return sum;
    }
    double part(state s) const noexcept {
      return present() == 0 ? 0 : static_cast<double>(in[static_cast<unsigned>(s)]) / static_cast<double>(present());
    }
  };
  std::vector<place_totals> const& places() const noexcept { return all_; }
  stretch const& longest() const noexcept { return longest_; }
  /// While any worker had a task: how many had, on average.
  double in_use() const noexcept {
    return active_ == 0 ? 0 : static_cast<double>(work_) / static_cast<double>(active_);
  }

 private:
  bool is_half_idle() const noexcept { return busy_ > 0 && 2 * busy_ <= static_cast<int>(workers_); }

  void becomes(unsigned place, std::uint64_t time, state now) {
    time = std::max(time, now_);  // events before the begin
    work_ += (time - now_) * static_cast<std::uint64_t>(busy_);
    if (busy_ > 0) active_ += time - now_;
    now_ = time;
    place_state& p = places_[place];
    all_[place].in[static_cast<unsigned>(p.now)] += time - p.since;
    p.since = time;
    bool const was_half_idle = is_half_idle();
    busy_ += (now == state::busy) - (p.now == state::busy);
    p.now = now;
    if (is_half_idle() == was_half_idle) return;
    this_.end = time;
    if (was_half_idle && this_.length() > longest_.length()) longest_ = this_;
    this_.begin = time;
  }

  std::vector<place_totals> all_;
  unsigned const workers_;
  std::uint64_t now_;
  int busy_ = 0;
  std::uint64_t work_ = 0;
  std::uint64_t active_ = 0;
  stretch this_;
  stretch longest_;
};

/// The code that ran longest in a stretch.
class code_in : public states_of {
 public:
  code_in(story const& of, stretch const& in) : states_of(of.name().places, in.begin), in_(in) {
    of.tell(*this);
    for (unsigned i = 0; i < places_.size(); ++i) changes(i, in.end, state::absent, 0, 0);
  }
  void changes(unsigned place, std::uint64_t time, state now, address code, std::uint64_t) override {
    place_state& p = places_[place];
    std::uint64_t const until = std::clamp(time, p.since, in_.end);
    if (p.now == state::busy) ran_[p.code] += until - p.since;
    p = {now, until, code};
  }
  /// 0: none is known.
  address longest() const {
    auto const most =
        std::max_element(ran_.begin(), ran_.end(), [](auto const& a, auto const& b) { return a.second < b.second; });
    return most == ran_.end() ? 0 : most->first;
  }

 private:
  stretch const in_;
  std::unordered_map<address, std::uint64_t> ran_;  // cycles
};

[[gnu::format(printf, 2, 3)]] void append(std::string& to, char const* format, ...) {
  char line[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(line, sizeof(line), format, arguments);
  va_end(arguments);
  to += line;
}

}  // namespace

summary::summary(story const& of, unsigned pool, code_names const& names, time_scale const& scale)
    : number(pool),
      scheduler(of.name().scheduler),
      workers(of.name().workers),
      events(of.events().size()),
      dropped(of.dropped()) {
  totals const t(of, scale);
  in_use = t.in_use();
  for (unsigned i = 0; i < t.places().size(); ++i) {
    auto const& p = t.places()[i];
    if (p.present() == 0) continue;
    places.push_back({name_of_place(of.name(), i), scale.seconds(p.present()), p.part(state::busy),
                      p.part(state::searching), p.part(state::waiting), p.part(state::asleep), p.steals});
  }
  if (t.longest().length() == 0) return;
  idle_begin = scale.seconds(t.longest().begin - scale.begin);
  idle_seconds = scale.seconds(t.longest().length());
  ran_meanwhile = names.of(code_in(of, t.longest()).longest());
}

std::string text_of(summary const& s) {
  std::string text;
  append(text, "filch: trace of pool %u (%s, %u workers): %zu events, %" PRIu64 " dropped\n", s.number,
         s.scheduler.c_str(), s.workers, s.events, s.dropped);
  append(text, "%12s %12s %8s %10s %8s %8s %10s\n", "", "seconds", "busy %", "searching", "waiting", "asleep",
         "steals");
  for (auto const& p : s.places) {
    append(text, "%12s %12.6f %8.1f %10.1f %8.1f %8.1f %10" PRIu64 "\n", p.name.c_str(), p.seconds, 100 * p.busy,
           100 * p.searching, 100 * p.waiting, 100 * p.asleep, p.steals);
  }
  append(text, "%.2f of %u workers in use, on average while any was\n", s.in_use, s.workers);
  if (s.idle_seconds <= 0) return text;
  append(text, "longest stretch with half of them idle: %.6f s, %.6f s after the begin; meanwhile ran %s\n",
         s.idle_seconds, s.idle_begin, s.ran_meanwhile.c_str());
  return text;
}

}  // namespace filch::runtime::trace

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
  std::unordered_map<address, std::uint64_t> ran;  // cycles, by code

  std::uint64_t length() const noexcept { return end - begin; }
};

class totals : public listener {
 public:
  totals(story const& of, time_scale const& scale)
      : places_(of.name().places), workers_(of.name().workers), now_(scale.begin) {
    of.tell(*this);
    pass(scale.end);
    if (is_half_idle()) end_stretch();
  }

  void changes(unsigned place, std::uint64_t time, state now, address code, std::uint64_t) override {
    pass(time);
    bool const was_half_idle = is_half_idle();
    place_totals& p = places_[place];
    busy_ += (now == state::busy) - (p.now == state::busy);
    p.now = now;
    p.code = code;
    if (is_half_idle() == was_half_idle) return;
    if (was_half_idle) {
      end_stretch();
    } else {
      this_ = {now_, now_, {}};
    }
  }
  void stolen(unsigned, std::uint64_t, unsigned thief, std::uint64_t) override { ++places_[thief].steals; }
  void suspended(unsigned, std::uint64_t, std::uint64_t) override {}
  void gives(unsigned, std::uint64_t) override {}
  void interrupts(unsigned, std::uint64_t, unsigned) override {}

  struct place_totals {
    state now = state::absent;
    address code = 0;
    std::array<std::uint64_t, k_states> in{};
    std::uint64_t steals = 0;

    std::uint64_t present() const noexcept {
      std::uint64_t sum = 0;
      for (unsigned i = 1; i < k_states; ++i) sum += in[i];
      return sum;
    }
  };
  std::vector<place_totals> const& places() const noexcept { return places_; }
  stretch const& longest() const noexcept { return longest_; }
  /// While any worker had a task: how many had, on average.
  double in_use() const noexcept {
    return active_ == 0 ? 0 : static_cast<double>(work_) / static_cast<double>(active_);
  }

 private:
  bool is_half_idle() const noexcept { return busy_ > 0 && 2 * busy_ <= static_cast<int>(workers_); }

  void pass(std::uint64_t time) {
    if (time <= now_) return;
    std::uint64_t const passed = time - now_;
    for (place_totals& p : places_) {
      p.in[static_cast<unsigned>(p.now)] += passed;
      if (p.now == state::busy && is_half_idle()) this_.ran[p.code] += passed;
    }
    work_ += passed * static_cast<std::uint64_t>(busy_);
    if (busy_ > 0) active_ += passed;
    now_ = time;
  }
  void end_stretch() {
    this_.end = now_;
    if (this_.length() > longest_.length()) longest_ = std::move(this_);
  }

  std::vector<place_totals> places_;
  unsigned const workers_;
  std::uint64_t now_;
  int busy_ = 0;
  std::uint64_t work_ = 0;
  std::uint64_t active_ = 0;
  stretch this_;
  stretch longest_;
};

[[gnu::format(printf, 2, 3)]] void append(std::string& to, char const* format, ...) {
  char line[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(line, sizeof(line), format, arguments);
  va_end(arguments);
  to += line;
}

double percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

std::string summary_of(story const& of, unsigned number, code_names const& names, time_scale const& scale) {
  totals const t(of, scale);
  std::string text;
  append(text, "filch: trace of pool %u (%s, %u workers): %zu events, %" PRIu64 " dropped\n", number,
         of.name().scheduler.c_str(), of.name().workers, of.events().size(), of.dropped());
  append(text, "%12s %12s %8s %10s %8s %8s %10s\n", "", "seconds", "busy %", "searching", "waiting", "asleep",
         "steals");
  for (unsigned i = 0; i < t.places().size(); ++i) {
    auto const& p = t.places()[i];
    std::uint64_t const all = p.present();
    if (all == 0) continue;
    auto const part = [&](state s) { return percent(p.in[static_cast<unsigned>(s)], all); };
    append(text, "%12s %12.6f %8.1f %10.1f %8.1f %8.1f %10" PRIu64 "\n", name_of_place(of.name(), i).c_str(),
           scale.seconds(all), part(state::busy), part(state::searching), part(state::waiting), part(state::asleep),
           p.steals);
  }
  append(text, "%.2f of %u workers in use, on average while any was\n", t.in_use(), of.name().workers);
  stretch const& s = t.longest();
  if (s.length() == 0) return text;
  auto const most =
      std::max_element(s.ran.begin(), s.ran.end(), [](auto const& a, auto const& b) { return a.second < b.second; });
  append(text, "longest stretch with half of them idle: %.6f s, %.6f s after the begin", scale.seconds(s.length()),
         scale.seconds(s.begin - scale.begin));
  if (most != s.ran.end()) append(text, "; meanwhile ran %s", names.of(most->first).c_str());
  return text + "\n";
}

}  // namespace filch::runtime::trace

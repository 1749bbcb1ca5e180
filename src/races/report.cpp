// Keeps each pair of source places once, and ends the process with the report. checker.cpp tells of races, setup.cpp
// calls it at the end. text.cpp has the words.
#include "races/report.hpp"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <set>

#include "races/checker.hpp"
#include "races/finding.hpp"
#include "races/setup.hpp"

// A program, or a debugger, may define it. It is called for each byte of a race, also if the pair was seen before.
extern "C" __attribute__((weak)) void filch_race_found(void const* at);

namespace filch::races {
namespace {

constexpr std::size_t k_most_calls = 128;
constexpr std::size_t k_most_findings = 1000;
constexpr int k_exit_status = 66;

struct findings {
  std::set<std::pair<std::uint32_t, std::uint32_t>> pairs;
  std::vector<finding> all;
  std::size_t dropped = 0;  // pairs beyond k_most_findings
};
findings& found() {
  static findings* const f = new findings;
  return *f;
}
pid_t checked_process = 0;

found_access with_calls(access const& a, call_stack& calls, std::uint32_t shared) {
  found_access f{{whole_pc(a.pc)}, a.writes, a.is_atomic, a.frees};
  address above[k_most_calls];
  std::size_t const n = calls.addresses(a.call, shared, above, k_most_calls);
  f.calls.insert(f.calls.end(), above, above + n);
  return f;
}

std::vector<address> calls_below(address pc, call_stack& calls, std::uint32_t depth) {
  std::vector<address> all{pc};
  for (; depth != 0 && all.size() < k_most_calls; --depth) all.push_back(calls.at(depth).pc);
  return all;
}

void add_memory(finding& f, call_stack& calls) {
  f.memory = allocation_of(f.at);
  if (f.memory.begin != 0) {
    f.made.push_back(f.memory.pc);
    address above[k_most_calls];
    std::size_t const n =
        f.memory.calls == &calls ? calls.addresses(f.memory.call, 0, above, k_most_calls) : std::size_t{0};
    if (n != 0) {
      f.made.insert(f.made.end(), above, above + n);
    } else {
      std::copy_if(std::begin(f.memory.callers), std::end(f.memory.callers), std::back_inserter(f.made),
                   [](address pc) { return pc != 0; });
    }
    return;
  }
  if (!is_on_stack(f.at)) return;
  // A function has told its stack pointer when it was entered: its frame is above.
  for (std::uint32_t i = 1; i <= calls.depth(); ++i) {
    if (calls.at(i).stack > f.at) continue;
    f.frame = i == calls.depth() ? f.later.calls.front() : calls.at(i + 1).pc;
    return;
  }
}

std::string summary_of(std::size_t races, std::size_t suppressed) {
  std::string text = std::to_string(races) + (races == 1 ? " race in " : " races in ") + std::to_string(now.forks) +
                     " forks. In the instrumented code of this run there is no other on any number of workers";
  foreign_calls const foreign = foreign_calls_so_far();
  text += "; " + std::to_string(foreign.calls) + " calls into code that was not instrumented";
  constexpr std::size_t k_most_named = 20;
  for (std::size_t i = 0; i != std::min(foreign.functions.size(), k_most_named); ++i) {
    text += (i == 0 ? ": " : ", ") + foreign.functions[i];
  }
  if (foreign.functions.size() > k_most_named) {
    text += " and " + std::to_string(foreign.functions.size() - k_most_named) + " others";
  }
  if (suppressed != 0) text += "; " + std::to_string(suppressed) + " suppressed";
  if (found().dropped != 0) text += "; " + std::to_string(found().dropped) + " more found and not kept";
  if (unsigned const threads = threads_not_checked()) {
    text += "; " + std::to_string(threads) + (threads == 1 ? " other thread was" : " other threads were") +
            " in pools, and not checked";
  }
  return text + ".";
}

/// Callbacks of one std::stop_token write into each other. They are destroyed after they have left the list.
bool is_guarded_by_library(finding const& f) {
  return is_in_stop_state(f.earlier.calls) && (f.later.frees || is_in_stop_state(f.later.calls));
}

/// False: not all of it was written.
bool write_file(char const* name, std::string const& text) {
  std::FILE* const out = std::fopen(name, "w");
  if (out == nullptr) return false;
  bool const is_written = std::fputs(text.c_str(), out) >= 0;
  return std::fclose(out) == 0 && is_written;
}

void at_exit(int status, void*) {
  if (getpid() != checked_process) return;
  me = {false, nullptr};
  auto& all = found().all;
  look_up(all);
  std::erase_if(all, is_guarded_by_library);
  std::size_t const before = all.size();
  std::erase_if(all, is_suppressed);
  std::string const summary = summary_of(all.size(), before - all.size());
  std::fflush(nullptr);
  char const* file = std::getenv("FILCH_RACES_OUT");
  bool const is_json = file != nullptr && std::string_view(file).ends_with(".json");
  std::string const text = is_json ? as_json(all, summary) : as_text(all) + "filch: " + summary + "\n";
  if (file != nullptr && !write_file(file, text)) {
    std::fprintf(stderr, "filch: FILCH_RACES_OUT=%s: the file can't be written; the report follows\n", file);
    file = nullptr;
  }
  if (file == nullptr) {
    std::fputs(text.c_str(), stderr);
    std::fflush(stderr);
  }
  if (status == 0 && (!all.empty() || found().dropped != 0)) _exit(k_exit_status);
}

}  // namespace

void report_race(address a, access const& other, access const& mine) noexcept {
  unsigned const common = other.bytes & mine.bytes;
  a &= ~(k_word - 1);
  for (unsigned i = 0; filch_race_found != nullptr && i != k_word; ++i) {
    off_the_record const here;
    if ((common >> i & 1) != 0) filch_race_found(reinterpret_cast<void const*>(a + i));
  }
  call_stack& calls = *me.calls;
  off_the_record const here;
  if (!found().pairs.emplace(std::min(other.pc, mine.pc), std::max(other.pc, mine.pc)).second) return;
  if (found().all.size() == k_most_findings) {
    ++found().dropped;
    return;
  }
  fork_place const& place = now.sets.place_of(other.section);
  finding f{};
  f.at = a + static_cast<unsigned>(std::countr_zero(common));
  f.earlier = with_calls(other, calls, place.depth);
  f.later = with_calls(mine, calls, calls.depth());
  f.fork = calls_below(place.pc, calls, place.depth);
  f.is_scope = place.kind == 2;
  add_memory(f, calls);
  found().all.push_back(std::move(f));
}

void report_at_exit() noexcept {
  checked_process = getpid();
  on_exit(at_exit, nullptr);
}

}  // namespace filch::races

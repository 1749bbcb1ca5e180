// FILCH_TRACE: its value, the recorders of all pools, and what is written when the process ends. Pools call it when
// they begin and end. See ../trace.md.
#include "runtime/fork_generation.hpp"
#include "runtime/page.hpp"
#include "runtime/settings.hpp"
#include "runtime/trace/page.hpp"
#include "runtime/trace/perfetto.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <new>
#include <string_view>

namespace filch::runtime::trace {
namespace {

constexpr unsigned long long k_default_events = 1'000'000;
constexpr unsigned long long k_most_events = 100'000'000;

struct instant {
  std::uint64_t cycles = static_cast<std::uint64_t>(time_stamp());
  std::chrono::steady_clock::time_point clock = std::chrono::steady_clock::now();
};

struct session {
  std::string target;
  std::size_t events = 0;
  instant begin;
  unsigned generation = fork_generation();
  std::mutex mutex;
  std::vector<std::unique_ptr<recorder>> pools;  // under mutex
};

// Never destroyed: workers of the default pool go on while the process ends.
session* the_session = nullptr;

time_scale scale_until_now(instant const& begin) {
  instant end;
  // A program that ends at once gives no exact rate otherwise.
  while (end.clock - begin.clock < std::chrono::milliseconds(5)) end = {};
  std::chrono::duration<double> const passed = end.clock - begin.clock;
  return {begin.cycles, end.cycles, static_cast<double>(end.cycles - begin.cycles) / passed.count()};
}

std::vector<summary> summaries_of(std::vector<story> const& stories, code_names const& names,
                                  time_scale const& scale) {
  std::vector<summary> all;
  for (story const& each : stories) all.emplace_back(each, static_cast<unsigned>(all.size() + 1), names, scale);
  return all;
}

/// False: the file could not be written.
bool write_file(std::string const& name, std::vector<story> const& stories, code_names const& names,
                time_scale const& scale) {
  std::FILE* const to = std::fopen(name.c_str(), "wb");
  if (!to) return false;
  bool is_written = false;
  if (name.ends_with(".html")) {
    std::string const page = page_of_summaries(summaries_of(stories, names, scale));
    is_written = std::fwrite(page.data(), 1, page.size(), to) == page.size();
  } else {
    is_written = write_perfetto(to, stories, names, scale);
  }
  return std::fclose(to) == 0 && is_written;
}

void write_at_exit() {
  session& s = *the_session;
  if (s.generation != fork_generation()) return;  // the parent writes
  std::lock_guard const lock(s.mutex);
  std::vector<story> stories;
  std::uint64_t flow = 0;
  std::uint64_t dropped = 0;
  std::uint64_t most_dropped = 0;
  for (auto const& each : s.pools) {
    stories.emplace_back(*each, flow);
    flow += stories.back().events().size();
    dropped += stories.back().dropped();
    most_dropped = std::max(most_dropped, stories.back().most_dropped());
  }
  time_scale const scale = scale_until_now(s.begin);
  code_names const names(stories);
  if (is_console(s.target)) {
    for (summary const& each : summaries_of(stories, names, scale)) std::fputs(text_of(each).c_str(), stderr);
    return;
  }
  std::string const name = name_of_own_report(s.target);
  if (!write_file(name, stories, names, scale)) {
    std::fprintf(stderr, "filch: FILCH_TRACE=%s: can't write to this file\n", name.c_str());
  }
  if (dropped == 0) return;
  std::fprintf(stderr, "filch: FILCH_TRACE: the oldest %llu events were dropped; FILCH_TRACE_EVENTS=%llu%s\n",
               static_cast<unsigned long long>(dropped),
               static_cast<unsigned long long>(std::min<std::uint64_t>(s.events + most_dropped, k_most_events)),
               s.events + most_dropped <= k_most_events ? " or more keeps them" : " keeps more");
}

}  // namespace

bool is_asked_for() {
  char const* const value = secure_getenv("FILCH_TRACE");  // it names a file to write, and runs a program
  if (!value || std::string_view(value) == "0") return false;
  if (*value == '\0') refuse("FILCH_TRACE", value, "the name of a file, or - for a summary");
  char const* const events = std::getenv("FILCH_TRACE_EVENTS");
  auto const number = events ? parse_number("FILCH_TRACE_EVENTS", events, 1'000, k_most_events) : k_default_events;
  static std::once_flag once;
  std::call_once(once, [&] {
    the_session = new session;
    the_session->target = name_of_report(value);
    the_session->events = number;
    std::atexit(write_at_exit);
  });
  return true;
}

recorder& record_pool(pool_name name) {
  session& s = *the_session;
  std::lock_guard const lock(s.mutex);
  return *s.pools.emplace_back(std::make_unique<recorder>(std::move(name), s.events));
}

void pool_ends(recorder& of) noexcept {
  session& s = *the_session;
  if (s.generation != fork_generation()) return;  // the parent may have held the lock
  std::lock_guard const lock(s.mutex);
  try {
    of.close();
  } catch (std::bad_alloc const&) {  // it stays open
  }
}

}  // namespace filch::runtime::trace

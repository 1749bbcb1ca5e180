// FILCH_TRACE on programs that know nothing of it. A parser of the file's format, written from Perfetto's field
// numbers, checks what is in it.
#include "edges/browser.hpp"
#include "edges/process.hpp"

#include <filch/config.hpp>

#include <dlfcn.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string_view>

namespace filch_test {
namespace {

/// A protocol buffer's message: its numbers and its bytes, by field.
struct message {
  std::map<unsigned, std::vector<std::uint64_t>> numbers;
  std::map<unsigned, std::vector<std::string_view>> bytes;

  explicit message(std::string_view text) {
    while (!text.empty()) {
      std::uint64_t const key = varint(text);
      auto const field = static_cast<unsigned>(key >> 3);
      switch (key & 7) {
        case 0: numbers[field].push_back(varint(text)); break;
        case 1: numbers[field].push_back(little_endian(take(text, 8))); break;
        case 2: {
          std::uint64_t const size = varint(text);
          bytes[field].push_back(take(text, size));
          break;
        }
        default: throw std::runtime_error("a wire type that is not used");
      }
    }
  }
  std::optional<std::uint64_t> number(unsigned field) const {
    auto const found = numbers.find(field);
    return found == numbers.end() ? std::nullopt : std::optional(found->second.front());
  }
  std::optional<message> part(unsigned field) const {
    auto const found = bytes.find(field);
    return found == bytes.end() ? std::nullopt : std::optional(message(found->second.front()));
  }

 private:
  static std::string_view take(std::string_view& text, std::size_t n) {
    if (n > text.size()) throw std::runtime_error("the file ends within a message");
    auto const taken = text.substr(0, n);
    text.remove_prefix(n);
    return taken;
  }
  static std::uint64_t varint(std::string_view& text) {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      auto const byte = static_cast<unsigned char>(take(text, 1)[0]);
      value |= std::uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return value;
    }
    throw std::runtime_error("a number of more than 64 bits");
  }
  static std::uint64_t little_endian(std::string_view text) {
    std::uint64_t value = 0;
    for (std::size_t i = text.size(); i-- > 0;) value = value << 8 | static_cast<unsigned char>(text[i]);
    return value;
  }
};

/// Null if it is not installed: then no file is compressed.
void* zlib() {
  static void* const library = dlopen("libz.so.1", RTLD_NOW);
  return library;
}

/// Packets that zlib made small.
std::string inflated(std::string_view small) {
  constexpr int k_ok = 0;
  constexpr int k_too_small = -5;
  using inflate = int(unsigned char*, unsigned long*, unsigned char const*, unsigned long);
  if (!zlib()) throw std::runtime_error("compressed packets, without zlib");
  auto* const uncompress = reinterpret_cast<inflate*>(dlsym(zlib(), "uncompress"));
  for (std::size_t room = 8 * small.size();; room *= 2) {
    std::string all(room, '\0');
    unsigned long size = room;
    int const result = uncompress(reinterpret_cast<unsigned char*>(all.data()), &size,
                                  reinterpret_cast<unsigned char const*>(small.data()), small.size());
    if (result == k_too_small) continue;
    if (result != k_ok) throw std::runtime_error("packets that are not zlib's");
    all.resize(size);
    return all;
  }
}

struct slice {
  std::string name;
  double begin;
  double end;  // negative: it has none
};

/// A trace: tracks, their slices in order, and flows.
struct trace {
  std::map<std::uint64_t, std::string> tracks;
  std::map<std::uint64_t, std::vector<slice>> slices;
  std::map<std::string, int> instants;
  std::map<std::uint64_t, std::vector<double>> counters;
  std::multiset<std::uint64_t> flows_begin;
  std::multiset<std::uint64_t> flows_end;
  std::size_t events = 0;

  explicit trace(std::string const& text) { read(text); }

 private:
  std::map<std::uint64_t, std::uint64_t> track_of_;                         // by sequence
  std::map<std::uint64_t, std::map<std::uint64_t, std::string>> names_of_;  // by sequence
  std::map<std::uint64_t, std::uint64_t> clock_of_;                         // by sequence

  void read(std::string_view text) {
    message const all(text);
    for (std::string_view const each : all.bytes.at(1)) {
      message const packet(each);
      if (packet.bytes.contains(50)) {
        read(inflated(packet.bytes.at(50).front()));
        continue;
      }
      std::uint64_t const sequence = packet.number(10).value();
      if (auto const t = packet.part(60)) {
        std::string const name(t->bytes.contains(2) ? t->bytes.at(2).front() : std::string_view());
        EXPECT_TRUE(tracks.emplace(t->number(1).value(), name).second) << name << " is described twice";
      }
      if (auto const defaults = packet.part(59)) track_of_[sequence] = defaults->part(11)->number(11).value();
      if (auto const interned = packet.part(12)) {
        message const name(interned->bytes.at(2).front());
        names_of_[sequence][name.number(1).value()] = name.bytes.at(2).front();
      }
      if (auto const clocks = packet.part(6)) begin_clock(packet, *clocks);
      if (auto const e = packet.part(11)) {
        auto const name = e->number(10) ? names_of_.at(sequence).at(*e->number(10)) : std::string();
        EXPECT_FALSE(packet.number(58)) << "the sequence's clock is the default";
        std::uint64_t const time = clock_of_.at(sequence) += packet.number(8).value();
        add(*e, static_cast<double>(time) / 1e9, track_of_.at(sequence), name);
        ++events;
      }
    }
  }

  /// A clock of the sequence's own, which counts on from event to event, is said to be at a time of the file's clock.
  void begin_clock(message const& packet, message const& clocks) {
    message const known(clocks.bytes.at(1).at(0));
    message const own(clocks.bytes.at(1).at(1));
    EXPECT_EQ(known.number(1), packet.number(58)) << "the file's clock";
    EXPECT_EQ(own.number(3), 1u) << "it counts on";
    EXPECT_EQ(own.number(2), known.number(2));
    EXPECT_EQ(packet.part(59)->number(58), own.number(1)) << "it is the default";
    EXPECT_TRUE(clock_of_.emplace(packet.number(10).value(), own.number(2).value()).second);
  }

  void add(message const& e, double time, std::uint64_t track, std::string const& name) {
    EXPECT_TRUE(tracks.contains(track)) << "an event on a track that was not described before";
    auto& on = slices[track];
    switch (e.number(9).value()) {
      case 1:
        EXPECT_TRUE(on.empty() || (on.back().end >= 0 && on.back().end <= time)) << "slices overlap";
        on.push_back({name, time, -1});
        break;
      case 2:
        ASSERT_FALSE(on.empty() || on.back().end >= 0) << "the end of no slice";
        EXPECT_LE(on.back().begin, time);
        on.back().end = time;
        break;
      case 3: ++instants[name.substr(0, name.find_last_not_of("0123456789") + 1)]; break;
      case 4: counters[track].push_back(static_cast<double>(static_cast<std::int64_t>(e.number(30).value()))); break;
      default: ADD_FAILURE() << "an event of an unknown type";
    }
    if (auto const flow = e.number(47)) flows_begin.insert(*flow);
    if (auto const flow = e.number(48)) flows_end.insert(*flow);
  }

 public:
  std::ptrdiff_t number_of(std::string const& track, std::string const& name) const {
    std::ptrdiff_t sum = 0;
    for (auto const& [number, on] : slices) {
      if (tracks.at(number).rfind(track, 0) != 0) continue;
      sum += std::count_if(on.begin(), on.end(), [&](slice const& s) { return s.name == name; });
    }
    return sum;
  }
  /// Seconds of all slices with that name on tracks whose name begins so; an empty name: of all.
  double seconds(std::string const& track, std::string const& name = {}) const {
    double sum = 0;
    for (auto const& [number, on] : slices) {
      if (tracks.at(number).rfind(track, 0) != 0) continue;
      for (slice const& s : on) sum += name.empty() || s.name == name ? s.end - s.begin : 0;
    }
    return sum;
  }
};

double figure(std::string const& text, std::string const& name) {
  auto const at = text.find(name + " ");
  EXPECT_NE(at, std::string::npos) << name << " in " << text;
  return at == std::string::npos ? -1 : std::strtod(text.c_str() + at + name.size(), nullptr);
}

class traced : public ::testing::TestWithParam<char const*> {
 protected:
  static constexpr char const* k_steals = "20";
  std::string scenario() const { return std::string("traced-") + GetParam(); }
  bool has_fibers() const {
    return std::string_view(GetParam()) == "cactus" || std::string_view(GetParam()) == "implicit";
  }
};

TEST_P(traced, program_has_its_steals_and_states_in_the_file) {
  scratch_file file;
  auto const e = run_program(EDGE_PROGRAM, {scenario(), k_steals}, {{"FILCH_TRACE", file.path()}});
  ASSERT_EQ(e.exit_code, 0) << e;
  EXPECT_EQ(e.err, "");
  trace const t(file.text());

  EXPECT_EQ(t.flows_begin.size(), std::set(t.flows_begin.begin(), t.flows_begin.end()).size());
  EXPECT_EQ(t.flows_begin, t.flows_end);
  int stolen = 0;
  for (auto const& [name, times] : t.instants) stolen += name.rfind("stolen by", 0) == 0 ? times : 0;
  EXPECT_EQ(stolen, figure(e.out, "steals"));
  EXPECT_GE(stolen, 20);
  auto const suspended = t.instants.find("fiber suspended");
  EXPECT_EQ(suspended == t.instants.end() ? 0 : suspended->second, figure(e.out, "suspensions"));
  EXPECT_GT(t.instants.count("gives"), 0u);

  double busy = 0;
  for (auto const& [number, on] : t.slices) {
    for (slice const& s : on) {
      EXPECT_GE(s.end, s.begin) << "a slice without an end on " << t.tracks.at(number);
      busy += s.name == "searching" || s.name == "waiting" || s.name == "asleep" ? 0 : s.end - s.begin;
    }
  }
  EXPECT_GT(busy, 0.0);
  if (!has_fibers()) {
    EXPECT_GT(t.seconds("caller", "waiting"), 0.0);
    EXPECT_GT(t.seconds("caller", "asleep"), 0.0);
    EXPECT_GE(t.number_of("worker", "searching"), stolen);  // before each task that it takes
  }
  EXPECT_GT(t.seconds("worker", "asleep"), 0.0);
  for (auto const& [number, values] : t.counters) {
    for (double const value : values) EXPECT_GE(value, 0) << t.tracks.at(number);
    EXPECT_EQ(values.back(), 0) << t.tracks.at(number) << " at the end";
  }
  EXPECT_EQ(t.counters.size(), has_fibers() ? 3u : 1u);
}

/// TRACE_PROCESSOR: the path of Perfetto's trace_processor.
TEST_P(traced, program_has_the_same_figures_in_trace_processor) {
  char const* const processor = std::getenv("TRACE_PROCESSOR");
  if (processor == nullptr) GTEST_SKIP() << "TRACE_PROCESSOR names no program";
  scratch_file file;
  auto const e = run_program(EDGE_PROGRAM, {scenario(), k_steals}, {{"FILCH_TRACE", file.path()}});
  ASSERT_EQ(e.exit_code, 0) << e;
  trace const t(file.text());
  std::size_t slices = 0;  // there, an instant is a slice
  for (auto const& [number, on] : t.slices) slices += on.size();
  for (auto const& [name, times] : t.instants) slices += static_cast<std::size_t>(times);

  scratch_file query;
  std::ofstream(query.path())
      << "select (select count(*) from slice) as slices, (select count(*) from flow) as flows, "
         "(select coalesce(sum(value), 0) from stats where severity in ('error', 'data_loss')) "
         "as errors;\n";
  auto const asked = run_program(processor, {"-q", query.path(), file.path()}, {});
  ASSERT_EQ(asked.exit_code, 0) << asked;
  EXPECT_NE(asked.out.find(std::to_string(slices) + "," + std::to_string(t.flows_begin.size()) + ",0"),
            std::string::npos)
      << asked.out << slices << " slices, " << t.flows_begin.size() << " flows";
}

TEST_P(traced, threads_have_a_state_at_each_moment) {
  double found = 0;
  double expected = 1;
  // A thread may begin late on a busy machine.
  for (int tries = 0; tries < 10 && found < 0.9 * expected; ++tries) {
    scratch_file file;
    auto const e = run_program(EDGE_PROGRAM, {scenario(), k_steals}, {{"FILCH_TRACE", file.path()}});
    ASSERT_EQ(e.exit_code, 0) << e;
    trace const t(file.text());
    for (auto const& [number, on] : t.slices) {
      if (t.tracks.at(number).rfind("worker", 0) != 0) continue;
      for (std::size_t i = 1; i < on.size(); ++i) EXPECT_EQ(on[i].begin, on[i - 1].end);
    }
    found = t.seconds("worker");
    expected = figure(e.out, "wall");
  }
  EXPECT_GE(found, 0.9 * expected);
  EXPECT_LE(found, 1.01 * expected);
}

/// Bytes of the file for each event.
double bytes_per_event(std::string const& scenario, std::string const& libraries) {
  scratch_file file;
  auto const e =
      run_program(EDGE_PROGRAM, {scenario, "600"}, {{"FILCH_TRACE", file.path()}, {"LD_LIBRARY_PATH", libraries}});
  EXPECT_EQ(e.exit_code, 0) << e;
  std::string const text = file.text();
  return static_cast<double>(text.size()) / static_cast<double>(trace(text).events);
}

/// 10^7 events of the file take less than 50 MB with zlib, and without it 250 MB.
TEST_P(traced, program_has_a_small_file) {
  char const* const libraries = std::getenv("LD_LIBRARY_PATH");
  EXPECT_LT(bytes_per_event(scenario(), libraries ? libraries : ""), zlib() ? 5 : 25);
}

TEST_P(traced, program_without_zlib_has_a_larger_file) {
  std::string const folder = ::testing::TempDir() + "no_zlib_" + std::to_string(getpid());
  std::filesystem::create_directory(folder);
  std::ofstream(folder + "/libz.so.1") << "not a library";
  double const bytes = bytes_per_event(scenario(), folder);
  std::filesystem::remove_all(folder);
  EXPECT_GT(bytes, 5);
  EXPECT_LT(bytes, 25);
}

TEST_P(traced, program_is_summed_up_on_stderr) {
  auto const e = run_program(EDGE_PROGRAM, {scenario(), k_steals}, {{"FILCH_TRACE", "-"}});
  ASSERT_EQ(e.exit_code, 0) << e;
  EXPECT_TRUE(e.says(std::string("filch: trace of pool 1 (") + GetParam() + ", 2 workers): ")) << e;
  EXPECT_TRUE(e.says(" of 2 workers in use, on average")) << e;
  EXPECT_TRUE(e.says("longest stretch with half of them idle: 0.")) << e;
  std::istringstream lines(e.err);
  int rows = 0;
  double steals = 0;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string what;
    unsigned place = 0;
    double seconds = 0;
    double part[4];
    double stolen = 0;
    if (!(words >> what >> place >> seconds >> part[0] >> part[1] >> part[2] >> part[3] >> stolen)) continue;
    if (what != "worker" && what != "caller") continue;
    ++rows;
    steals += stolen;
    EXPECT_NEAR(part[0] + part[1] + part[2] + part[3], 100, 0.25) << line;
  }
  EXPECT_EQ(rows, 2);
  EXPECT_EQ(steals, figure(e.out, "steals"));
}

TEST_P(traced, program_is_summed_up_on_a_page) {
  scratch_file unused;
  std::string const name = std::string(unused.path()) + ".html";
  auto const e = run_program(EDGE_PROGRAM, {scenario(), k_steals}, {{"FILCH_TRACE", name}});
  ASSERT_EQ(e.exit_code, 0) << e;
  EXPECT_EQ(e.err, "");
  std::ostringstream page;
  page << std::ifstream(name).rdbuf();
  unlink(name.c_str());
  expect_needs_no_network(page.str());
  if (std::string(EDGE_CHROMIUM).empty()) GTEST_SKIP() << "there is no Chromium";
  std::string const dom = shown(page.str(), "document.querySelectorAll('th button')[6].click()");
  EXPECT_EQ(text_of(dom, "<h2"), std::string("Pool 1: ") + GetParam() + ", 2 workers");
  EXPECT_NE(text_of(dom, "<p class=\"verdict\"").find(" of 2 workers had a task"), std::string::npos) << dom;
  EXPECT_NE(text_of(dom, "<p class=\"idle\"").find("Meanwhile ran "), std::string::npos) << dom;
  char steals[60];
  std::snprintf(steals, sizeof(steals), "<b>%.0f", figure(e.out, "steals"));
  EXPECT_NE(dom.find(steals), std::string::npos) << steals << dom;
  // A bar for each worker, whose parts are all of its time.
  int bars = 0;
  for (auto at = dom.find("class=\"bar\""); at != std::string::npos; at = dom.find("class=\"bar\"", at + 1)) {
    ++bars;
    std::string const bar = dom.substr(at, dom.find("</div></div>", at) - at);
    double sum = 0;
    for (auto part = bar.find("flex-grow:"); part != std::string::npos; part = bar.find("flex-grow:", part + 1))
      sum += std::strtod(bar.c_str() + part + 10, nullptr);
    EXPECT_NEAR(sum, 1, 0.001) << bar;
  }
  EXPECT_EQ(bars, 2) << dom;
  EXPECT_NE(dom.find("aria-sort=\"descending\"><button type=\"button\">steals"), std::string::npos) << dom;
  expect_only_numbers(dom);
}

TEST_P(traced, program_with_a_full_ring_keeps_the_newest_events_and_says_so) {
  scratch_file file;
  auto const e =
      run_program(EDGE_PROGRAM, {scenario(), "600"}, {{"FILCH_TRACE", file.path()}, {"FILCH_TRACE_EVENTS", "1000"}});
  ASSERT_EQ(e.exit_code, 0) << e;
  EXPECT_EQ(e.error_lines(), 1) << e;
  std::string const advice = "events were dropped; FILCH_TRACE_EVENTS=";
  auto const at = e.err.find(advice);
  ASSERT_NE(at, std::string::npos) << e;
  // As many as it had, and those that one place dropped.
  long const enough = std::atol(e.err.c_str() + at + advice.size());
  EXPECT_GT(enough, 1000) << e;
  EXPECT_TRUE(e.says(std::to_string(enough) + " or more keeps them")) << e;
  auto const again = run_program(EDGE_PROGRAM, {scenario(), "600"},
                                 {{"FILCH_TRACE", file.path()}, {"FILCH_TRACE_EVENTS", std::to_string(4 * enough)}});
  EXPECT_EQ(again.error_lines(), 0) << again;
  trace const t(file.text());  // its slices are well-formed
  EXPECT_GT(t.slices.size(), 1u);
}

#if FILCH_HAS_CACTUS
INSTANTIATE_TEST_SUITE_P(all, traced, ::testing::Values("direct", "channel", "cactus", "implicit"));
#else
INSTANTIATE_TEST_SUITE_P(all, traced, ::testing::Values("direct", "channel"));
#endif

TEST(traces, of_a_program_whose_child_forks_are_the_parent_s) {
  auto const e = run_program(EDGE_PROGRAM, {"traced-fork"}, {{"FILCH_TRACE", "-"}});
  ASSERT_EQ(e.exit_code, 0) << e;
  EXPECT_EQ(e.out, "610\nchild 0\n");
  auto const first = e.err.find("filch: trace of pool 1");
  ASSERT_NE(first, std::string::npos) << e;
  EXPECT_EQ(e.err.find("filch: trace of pool 1", first + 1), std::string::npos) << e;
}

TEST(traces, that_can_t_be_written_are_reported_in_one_line) {
  auto const e = run_program(EDGE_PROGRAM, {"default-pool"}, {{"FILCH_TRACE", "/nonexistent/trace"}});
  EXPECT_EQ(e.exit_code, 0) << e;
  EXPECT_EQ(e.error_lines(), 1) << e;
  EXPECT_TRUE(e.says("filch: FILCH_TRACE=/nonexistent/trace: can't write to this file")) << e;
}

TEST(traces, of_pools_that_have_ended_take_little_room) {
  auto const e = run_program(EDGE_PROGRAM, {"traced-pools", "50"}, {{"FILCH_TRACE", "-"}});
  ASSERT_EQ(e.exit_code, 0) << e;
  std::size_t first = 0;
  std::size_t last = 0;
  ASSERT_EQ(std::sscanf(e.out.c_str(), "%zu MiB, then %zu MiB", &first, &last), 2) << e;
  EXPECT_LT(last, first + 200) << "a ring of each of 100 places has 16 MiB of address space";
  std::size_t pools = 0;
  for (std::size_t at = 0; (at = e.err.find(" 0 dropped\n", at)) != std::string::npos; ++at) ++pools;
  EXPECT_EQ(pools, 50u) << e;
  EXPECT_EQ(e.err.find(": 0 events"), std::string::npos) << e;
}

TEST(traces, are_where_the_program_began) {
  scratch_file unused;
  auto const e = run_program(EDGE_PROGRAM, {"leaves-its-folder"}, {{"FILCH_TRACE", unused.name_in_its_folder()}});
  expect_quiet_end(e, 0, "55\n");
  EXPECT_FALSE(unused.text().empty());
}

}  // namespace
}  // namespace filch_test

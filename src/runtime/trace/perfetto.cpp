// Writes TracePackets. A place is a track, and a sequence of packets of its own, so that its number and its names are
// written once, and times are those since the packet before. Slices are states, one after the other; a busy one has
// the name of its code.
#include "runtime/trace/perfetto.hpp"

#include "runtime/trace/packet_file.hpp"

#include <unistd.h>

#include <map>
#include <string>
#include <unordered_map>
#include <utility>

namespace filch::runtime::trace {
namespace {

// Field numbers of Perfetto's messages.
namespace in_packet {
constexpr unsigned k_clocks = 6;
constexpr unsigned k_timestamp = 8;
constexpr unsigned k_sequence = 10;
constexpr unsigned k_track_event = 11;
constexpr unsigned k_interned = 12;
constexpr unsigned k_flags = 13;
constexpr unsigned k_clock = 58;
constexpr unsigned k_defaults = 59;
constexpr unsigned k_track = 60;
}  // namespace in_packet
namespace in_event {
constexpr unsigned k_type = 9;
constexpr unsigned k_name = 10;  // number of an interned one
constexpr unsigned k_track = 11;
constexpr unsigned k_value = 30;
constexpr unsigned k_flow = 47;
constexpr unsigned k_flow_ends = 48;
}  // namespace in_event
namespace in_track {
constexpr unsigned k_number = 1;
constexpr unsigned k_name = 2;
constexpr unsigned k_process = 3;
constexpr unsigned k_parent = 5;
constexpr unsigned k_counter = 8;
}  // namespace in_track
namespace in_clocks {
constexpr unsigned k_clock = 1;
constexpr unsigned k_number = 1;
constexpr unsigned k_time = 2;
constexpr unsigned k_counts_on = 3;
}  // namespace in_clocks
namespace in_defaults {
constexpr unsigned k_events = 11;
constexpr unsigned k_clock = 58;
}  // namespace in_defaults
constexpr unsigned k_process_id = 1;
constexpr unsigned k_process_name = 6;
constexpr unsigned k_interned_name = 2;
constexpr unsigned k_interned_number = 1;
constexpr unsigned k_interned_text = 2;

enum event_type : std::uint64_t { slice_begin = 1, slice_end = 2, instant = 3, counter = 4 };
/// The file's clock; and one of each sequence, whose times are those since the event before.
enum clock : std::uint64_t { of_file = 6, of_sequence = 64 };
enum flags : std::uint64_t { state_is_cleared = 1, needs_state = 2 };

constexpr std::uint64_t k_descriptions = 1;  // their sequence
constexpr std::uint64_t k_process_track = 1;
// A pool's tracks beside those of its places.
constexpr std::uint64_t k_idle = 0xfff0;
constexpr std::uint64_t k_suspended = 0xfff1;
constexpr std::uint64_t k_stack_pages = 0xfff2;
constexpr std::uint64_t k_pool = 0xffff;

std::uint64_t track_of(unsigned pool, std::uint64_t what) { return (std::uint64_t{pool} << 16) + 2 + what; }

class file {
 public:
  file(std::FILE* to, code_names const& names, time_scale const& scale) : to_(to), names_(names), scale_(scale) {}

  std::string const& name_of(address code) const { return names_.of(code); }
  std::uint64_t nanoseconds(std::uint64_t time) const { return scale_.nanoseconds_at(time); }
  void write(message const& packet) { to_.write(packet); }
  bool end() { return to_.end(); }
  /// Small numbers take the least room.
  std::uint64_t new_sequence() noexcept { return ++sequences_; }

  void describe(message const& track) {
    message packet;
    packet.number(in_packet::k_sequence, k_descriptions).part(in_packet::k_track, track);
    write(packet);
  }

 private:
  packet_file to_;
  code_names const& names_;
  time_scale const& scale_;
  std::uint64_t sequences_ = k_descriptions;
};

/// The packets of one track.
class track {
 public:
  track(file& to, std::uint64_t number) : to_(to), number_(number), sequence_(to.new_sequence()) {}

  /// An empty name: none, as for the end of a slice.
  void event(std::uint64_t time, event_type type, std::string const& name, unsigned flow_field = 0,
             std::uint64_t flow = 0) {
    message packet = at(to_.nanoseconds(time));
    message e;
    e.number(in_event::k_type, type);
    if (!name.empty()) e.number(in_event::k_name, interned(name, packet));
    if (flow != 0) e.fixed(flow_field, flow);
    packet.part(in_packet::k_track_event, e);
    to_.write(packet);
  }
  void count(std::uint64_t time, std::int64_t value) {
    message packet = at(to_.nanoseconds(time));
    message e;
    e.number(in_event::k_type, counter).number(in_event::k_value, static_cast<std::uint64_t>(value));
    packet.part(in_packet::k_track_event, e);
    to_.write(packet);
  }

  /// The state of the place: a slice until the next one begins.
  void becomes(std::uint64_t time, std::string const& name, std::uint64_t flow) {
    if (is_in_slice_) event(time, slice_end, {});
    is_in_slice_ = !name.empty();
    if (is_in_slice_) event(time, slice_begin, name, in_event::k_flow_ends, flow);
  }
  void ends(std::uint64_t time) { becomes(time, {}, 0); }

 private:
  /// A packet with that time.
  message at(std::uint64_t time) {
    if (!has_begun_) begin(time);
    message packet;
    packet.number(in_packet::k_timestamp, time - std::exchange(before_, time))
        .number(in_packet::k_sequence, sequence_)
        .number(in_packet::k_flags, needs_state);
    return packet;
  }
  void begin(std::uint64_t time) {
    has_begun_ = true;
    before_ = time;
    message of_events;
    of_events.number(in_event::k_track, number_);
    message defaults;
    defaults.part(in_defaults::k_events, of_events).number(in_defaults::k_clock, of_sequence);
    message known;
    known.number(in_clocks::k_number, of_file).number(in_clocks::k_time, time);
    message own;
    own.number(in_clocks::k_number, of_sequence).number(in_clocks::k_time, time).number(in_clocks::k_counts_on, 1);
    message clocks;
    clocks.part(in_clocks::k_clock, known).part(in_clocks::k_clock, own);
    message packet;
    packet.part(in_packet::k_clocks, clocks)
        .number(in_packet::k_timestamp, time)
        .number(in_packet::k_clock, of_file)
        .number(in_packet::k_sequence, sequence_)
        .number(in_packet::k_flags, state_is_cleared)
        .part(in_packet::k_defaults, defaults);
    to_.write(packet);
  }
  std::uint64_t interned(std::string const& name, message& packet) {
    auto const [found, is_new] = names_.try_emplace(name, names_.size() + 1);
    if (is_new) {
      message entry;
      entry.number(k_interned_number, found->second).bytes(k_interned_text, name);
      message data;
      data.part(k_interned_name, entry);
      packet.part(in_packet::k_interned, data);
    }
    return found->second;
  }

  file& to_;
  std::uint64_t const number_;
  std::uint64_t const sequence_;
  bool has_begun_ = false;
  std::uint64_t before_ = 0;  // the time of its last packet
  bool is_in_slice_ = false;
  std::unordered_map<std::string, std::uint64_t> names_;
};

class pool_writer : public listener {
 public:
  pool_writer(file& to, story const& of, unsigned pool) : to_(to), of_(of.name()), pool_(pool) {
    message group;
    group.number(in_track::k_number, track_of(pool, k_pool))
        .bytes(in_track::k_name, "pool " + std::to_string(pool) + " (" + of_.scheduler + ", " +
                                     std::to_string(of_.workers) + " workers)")
        .number(in_track::k_parent, k_process_track);
    to.describe(group);
    message as_counter;
    describe(k_idle, "workers without a task", &as_counter);
    describe(k_suspended, "suspended fibers", &as_counter);
    describe(k_stack_pages, "stack pages of suspended fibers", &as_counter);
  }

  void changes(unsigned place, std::uint64_t time, state now, address code, std::uint64_t flow) override {
    static constexpr char const* k_names[k_states] = {"", "", "searching", "waiting", "asleep"};
    at(place).becomes(time, now == state::busy ? to_.name_of(code) : k_names[static_cast<unsigned>(now)], flow);
    state& was = states_[place];
    auto const is_idle = [](state s) { return s != state::absent && s != state::busy; };
    if (is_idle(now) != is_idle(was)) at(k_idle).count(time, idle_ += is_idle(now) ? 1 : -1);
    was = now;
    auto const resumed = suspended_.find(now == state::busy ? flow : 0);
    if (resumed == suspended_.end()) return;
    stack_pages_ -= resumed->second;
    suspended_.erase(resumed);
    count_suspended(time);
  }
  void stolen(unsigned place, std::uint64_t time, unsigned thief, std::uint64_t flow) override {
    at(place).event(time, instant, "stolen by " + name_of_place(of_, thief), in_event::k_flow, flow);
  }
  void suspended(unsigned place, std::uint64_t time, std::uint64_t flow, unsigned pages) override {
    at(place).event(time, instant, "fiber suspended", in_event::k_flow, flow);
    suspended_[flow] = pages;
    stack_pages_ += pages;
    count_suspended(time);
  }
  void gives(unsigned place, std::uint64_t time) override { at(place).event(time, instant, "gives"); }
  void interrupts(unsigned place, std::uint64_t time, unsigned victim) override {
    at(place).event(time, instant, "interrupts " + name_of_place(of_, victim));
  }

  void end(std::uint64_t time) {
    for (auto& [what, each] : tracks_) {
      if (what < of_.places) each.ends(time);
    }
  }

 private:
  void count_suspended(std::uint64_t time) {
    at(k_suspended).count(time, static_cast<std::int64_t>(suspended_.size()));
    at(k_stack_pages).count(time, stack_pages_);
  }
  void describe(std::uint64_t what, std::string const& name, message const* as_counter) {
    message t;
    t.number(in_track::k_number, track_of(pool_, what))
        .bytes(in_track::k_name, name)
        .number(in_track::k_parent, track_of(pool_, k_pool));
    if (as_counter) t.part(in_track::k_counter, *as_counter);
    to_.describe(t);
  }
  /// Described when its first event comes.
  track& at(std::uint64_t what) {
    auto const found = tracks_.find(what);
    if (found != tracks_.end()) return found->second;
    if (what < of_.places) describe(what, name_of_place(of_, static_cast<unsigned>(what)), nullptr);
    return tracks_.try_emplace(what, to_, track_of(pool_, what)).first->second;
  }

  file& to_;
  pool_name const& of_;
  unsigned const pool_;
  std::map<std::uint64_t, track> tracks_;
  std::unordered_map<unsigned, state> states_;
  std::unordered_map<std::uint64_t, unsigned> suspended_;  // stack pages, by flow
  std::int64_t stack_pages_ = 0;
  std::int64_t idle_ = 0;
};

void describe_process(file& to) {
  message process;
  process.number(k_process_id, static_cast<std::uint64_t>(getpid()))
      .bytes(k_process_name, program_invocation_short_name);
  message t;
  t.number(in_track::k_number, k_process_track).part(in_track::k_process, process);
  to.describe(t);
}

}  // namespace

bool write_perfetto(std::FILE* to, std::vector<story> const& pools, code_names const& names,
                    time_scale const& scale) {
  file out(to, names, scale);
  describe_process(out);
  unsigned number = 0;
  for (story const& each : pools) {
    pool_writer writer(out, each, ++number);
    each.tell(writer);
    writer.end(scale.end);
  }
  return out.end();
}

}  // namespace filch::runtime::trace

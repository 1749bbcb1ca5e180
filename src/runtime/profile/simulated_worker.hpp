// A worker of the simulation, its joins and its events. prediction.cpp has the rules.
#pragma once

#include "runtime/profile/timed_tree.hpp"

#include <cstdint>
#include <deque>
#include <limits>
#include <vector>

namespace filch::runtime::profile::simulated {

inline constexpr unsigned k_none = ~0u;
inline constexpr double k_never = std::numeric_limits<double>::infinity();

enum class side : unsigned char { of_run, of_f, of_g };

/// A join on a worker's path that a steal made visible.
struct frame {
  frame* outer;
  side outer_side;
  timed_tree::cursor rest;  // the task around the join continues here
  bool g_is_stolen = false;
  bool f_ended = false;
  bool g_ended = false;
  double g_ended_at = 0;
  unsigned thief = k_none;
  unsigned waiter = k_none;  // stands in the join
};

/// A task that is about to run.
struct task {
  fork_tree::part what;
  frame* around;
};

struct worker {
  enum class state : unsigned char { runs, searches, waits, rests };
  state is = state::rests;
  bool is_asleep = false;
  bool is_sought = false;      // its next event `found` is on its way
  bool has_no_offer = false;   // from here to the end of its task
  std::uint64_t version = 0;   // of its position
  timed_tree::cursor from;     // it has passed this
  double origin = 0;           // the time at which the task of `from` would have begun without delays
  double since = 0;            // of its state
  double is_robbed_until = 0;  // by the last thief
  frame* around = nullptr;
  side in = side::of_run;
  std::vector<frame*> waits;      // its joins, one on top of the other
  std::vector<unsigned> leapers;  // wait for it
  std::deque<task> ready;         // stolen with others, not begun
};

/// The event at which a worker's next offer is found.
struct search {
  std::uint64_t event = 0;
  double chance = 1;  // with which it was drawn
  double offer_at = 0;
  double found_at = 0;
};

struct event {
  enum class kind : unsigned char { ends, found, wakes };
  double at;
  std::uint64_t number;
  kind what;
  unsigned who;
  std::uint64_t version;
  bool operator<(event const& other) const noexcept {  // the greatest comes first
    return at > other.at || (at >= other.at && number > other.number);
  }
};

/// Frames keep their addresses.
class frame_store {
 public:
  frame* make(frame const& f) {
    if (free_.empty()) return &all_.emplace_back(f);
    frame* const at = free_.back();
    free_.pop_back();
    *at = f;
    return at;
  }
  void erase(frame* f) { free_.push_back(f); }

 private:
  std::deque<frame> all_;
  std::vector<frame*> free_;
};

}  // namespace filch::runtime::profile::simulated

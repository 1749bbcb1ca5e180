// The events of a pool in order of time, told as states of places: the summary and the file are written from it.
#pragma once

#include "runtime/trace/recorder.hpp"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace filch::runtime::trace {

using address = std::uint64_t;

enum class state : std::uint8_t { absent, busy, searching, waiting, asleep };
inline constexpr unsigned k_states = 5;

/// Is told what happened, in order of time. Times are cycles.
class listener {
 public:
  virtual ~listener();
  /// The place is in this state from now on. `code` ran, if it is busy; 0: not known. `flow` ends here, unless 0.
  virtual void changes(unsigned place, std::uint64_t time, state now, address code, std::uint64_t flow) = 0;
  /// A task of that place was stolen, or its fiber was suspended, with so many pages of stack: `flow` begins here.
  virtual void stolen(unsigned place, std::uint64_t time, unsigned thief, std::uint64_t flow) = 0;
  virtual void suspended(unsigned place, std::uint64_t time, std::uint64_t flow, unsigned pages) = 0;
  virtual void gives(unsigned place, std::uint64_t time) = 0;
  virtual void interrupts(unsigned place, std::uint64_t time, unsigned victim) = 0;
};

class story {
 public:
  /// Copies the events of that pool. Flows are numbered from there on.
  story(recorder const& of, std::uint64_t first_flow);

  pool_name const& name() const noexcept { return name_; }
  std::vector<event> const& events() const noexcept { return events_; }
  std::uint64_t dropped() const noexcept { return dropped_; }
  /// Events that one place dropped, at most.
  std::uint64_t most_dropped() const noexcept { return most_dropped_; }
  /// Tells it from the begin.
  void tell(listener& to) const;

 private:
  pool_name name_;
  std::vector<event> events_;
  std::uint64_t dropped_ = 0;
  std::uint64_t most_dropped_ = 0;
  std::uint64_t first_flow_;
};

}  // namespace filch::runtime::trace

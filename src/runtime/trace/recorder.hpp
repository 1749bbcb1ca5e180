// FILCH_TRACE: what the workers of one pool did. The team makes one if a trace is asked for, and its workers note
// events in it. It lives until the process ends; from the pool's end on it needs little room.
#pragma once

#include "runtime/account.hpp"
#include "runtime/trace/ring.hpp"

#include <memory>
#include <string>

namespace filch::runtime::trace {

/// Reads FILCH_TRACE and FILCH_TRACE_EVENTS. If so, the trace is written when the process ends. Throws setup_error.
bool is_asked_for();

/// A pool, as the trace names it.
struct pool_name {
  std::string scheduler;
  unsigned workers;
  unsigned threads;  // places 1 to threads are the pool's own
  unsigned callers;  // places of further callers follow; then those of stand-ins
  unsigned places;
};

class recorder {
 public:
  recorder(pool_name name, std::size_t events)
      : name_(std::move(name)), events_(events), rings_(std::make_unique<padded[]>(name_.places)) {}

  /// By the thread that has entered the place, before its first event.
  void open(unsigned place) noexcept {
    if (!rings_[place].of.is_open()) rings_[place].of.open(events_);
  }
  /// By the worker at that place.
  void note(unsigned place, kind what, unsigned peer, void const* at) noexcept {
    rings_[place].of.add(static_cast<std::uint64_t>(time_stamp()), packed::of(what, peer, at));
  }

  /// No more events are noted. Throws std::bad_alloc.
  void close() {
    for (unsigned i = 0; i < name_.places; ++i) rings_[i].of.close(i);
  }

  pool_name const& name() const noexcept { return name_; }
  ring const& of(unsigned place) const noexcept { return rings_[place].of; }

 private:
  struct alignas(64) padded {
    ring of;
  };
  pool_name const name_;
  std::size_t const events_;
  std::unique_ptr<padded[]> const rings_;
};

/// The recorder of a new pool. Throws std::bad_alloc.
recorder& record_pool(pool_name name);
/// The pool's threads have ended.
void pool_ends(recorder& of) noexcept;

}  // namespace filch::runtime::trace

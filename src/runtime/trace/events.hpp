// The events of FILCH_TRACE. A worker notes them where it leaves the fast path: it takes a task, waits, sleeps.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace filch::runtime::trace {

/// The state that a worker is in after each event stands behind it.
enum class kind : std::uint8_t {
  enters,      // a caller's function begins at its place: busy
  leaves,      // the thread leaves the place: absent
  takes,       // a task of `peer`: busy; fibers: as before, until it runs
  returns,     // the taken task has ended: it searches, or waits again
  waits,       // in a join, for a thief
  joined,      // busy again
  runs,        // a fiber, from its begin or from where it was suspended: busy
  suspends,    // the fiber that it ran, with so many pages of stack in place of a peer: searches
  searches,    // it has no task
  sleeps,      // asleep
  wakes_up,    // as before it slept
  gives,       // it offered tasks, or sent some, since a thief had requested: as before
  interrupts,  // `peer`, by a signal: as before
};

/// An event as it is kept: an address, the place of another worker, and the kind. Addresses have 48 bits.
struct packed {
  static constexpr unsigned k_kind_bits = 4;
  static constexpr unsigned k_peer_bits = 12;
  static constexpr unsigned k_address_shift = k_kind_bits + k_peer_bits;

  static std::uint64_t of(kind what, unsigned peer, void const* at) noexcept {
    return reinterpret_cast<std::uintptr_t>(at) << k_address_shift | std::uint64_t{peer} << k_kind_bits |
           static_cast<std::uint64_t>(what);
  }
  /// A number in place of a peer, or the greatest that has room.
  static unsigned most_of(std::size_t number) noexcept {
    return static_cast<unsigned>(std::min<std::size_t>(number, (1u << k_peer_bits) - 1));
  }
  static kind what(std::uint64_t word) noexcept { return static_cast<kind>(word & ((1u << k_kind_bits) - 1)); }
  static unsigned peer(std::uint64_t word) noexcept {
    return static_cast<unsigned>(word >> k_kind_bits) & ((1u << k_peer_bits) - 1);
  }
  static std::uint64_t address(std::uint64_t word) noexcept { return word >> k_address_shift; }
};

struct event {
  std::uint64_t time;  // cycles
  std::uint64_t word;
  std::uint32_t place;
  std::uint32_t number;  // in its ring: events of one place at the same time keep their order
};

}  // namespace filch::runtime::trace

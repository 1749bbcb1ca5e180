// The way from a C++17 program into the library: functions behind pointers, for the headers of filch::std_par. Not
// for users.
#pragma once

#include <filch/config.hpp>

#include <cstddef>

namespace filch {
inline namespace FILCH_ABI {
namespace std_par {

/// A loop over the positions [0, n). Several workers may call `run` at once, for pieces that don't overlap.
struct loop {
  /// Runs the positions [first, last) of a piece, in ascending order.
  void (*run)(void* state, std::size_t first, std::size_t last) noexcept;
  /// The state of a new piece, or null: all pieces of the loop have one. May throw: no piece begins then.
  void* (*split)(void* state);
  /// Appends the piece right above.
  void (*merge)(void* state, void* upper) noexcept;
  /// Destroys what `split` returned.
  void (*destroy)(void* state) noexcept;
};

/// A loop in which each position needs a value from those below it. `value` is that value.
struct scan {
  /// The serial loop: does the work of [first, last), and moves the value on.
  void (*direct)(void* work, std::size_t first, std::size_t last, void* value) noexcept;
  /// Reads only: a new value for [first, last).
  void* (*begin_ahead)(void* work, std::size_t first, std::size_t last) noexcept;
  /// Appends [first, last) to it.
  void (*ahead)(void* work, std::size_t first, std::size_t last, void* value) noexcept;
  /// Appends `upper` to `lower`.
  void (*append)(void* work, void* lower, void const* upper) noexcept;
  void* (*copy)(void const* value) noexcept;
  void (*destroy)(void* value) noexcept;
};

/// A function and its argument.
struct call {
  void (*function)(void*) noexcept;
  void* argument;
};

/// The costs of the loops of one place in a program.
struct loop_costs;
/// Sets `costs`, which are null at first, to new ones, if no other thread does. Never freed.
__attribute__((visibility("default"))) loop_costs& make_loop_costs(loop_costs*& costs) noexcept;
/// No static object of them: a child of fork() could wait for its guard for ever.
inline loop_costs& costs_of(loop_costs*& costs) noexcept {
  loop_costs* const made = __atomic_load_n(&costs, __ATOMIC_ACQUIRE);  // acquire: what made them
  return made != nullptr ? *made : make_loop_costs(costs);
}

/// The calls of one scheduler. All may be called on any thread. Outside its pools they enter the default pool.
struct scheduler_calls {
  /// `tile` elements are one position.
  void (*run_loop)(std::size_t positions, std::size_t tile, loop const&, void* state, loop_costs&);
  /// Takes the value below all positions, and returns the one behind them. The caller owns it.
  void* (*run_scan)(std::size_t positions, std::size_t tile, scan const&, void* work, void* value, loop_costs&);
  void (*join)(call lower, call upper);
  void (*enter)(call);
  /// How many workers may take part: those of the pool that the caller is in; 1 in a stay. A hint.
  std::size_t (*workers)();
  /// Ends the calling loop early: its positions that have not begun need not run. The last thing that `run` does.
  void (*cancel)() noexcept;
};

}  // namespace std_par
}  // namespace FILCH_ABI
}  // namespace filch

// Settings of a pool of filch::channel.
#pragma once

#include <filch/pool_options.hpp>

namespace filch::inline FILCH_ABI {

/// How many tasks a thief requests from a victim.
enum class steal_amount : unsigned char {
  adaptive,  ///< half of them where tasks last less than 50 microseconds, or of many where it waits long; else one
  one,       ///< one task
  half,      ///< half of those it has
};

/// The victim that a thief sends its request to first. A thief that waits in a join first asks the worker that has
/// its task.
enum class victim_order : unsigned char {
  last,     ///< the worker that gave it tasks the last time, whichever worker forked them; then any
  random,   ///< any
  nearest,  ///< the worker whose index is nearest to its own: with `pin`, the nearest processor
};

/// The fields of pool_options, and those of `channel` alone.
struct channel_options {
  /// See pool_options.
  unsigned workers = 0;
  /// See pool_options.
  std::size_t stack_size = 0;
  /// See pool_options.
  bool pin = false;
  /// See pool_options.
  give_back_policy stack_give_back = give_back_policy::from_environment;
  /// The tasks in an answer to a steal request.
  steal_amount amount = steal_amount::adaptive;
  /// The first victim of a steal request.
  victim_order victims = victim_order::last;
  /// Send the next steal request before the last task of the answer runs, not after it.
  bool early_requests = false;
};

}  // namespace filch::inline FILCH_ABI

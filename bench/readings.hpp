// Times of algorithms' calls: series on one contender, and copies of the plain loop side by side.
#pragma once

#include "algorithm.hpp"

#include <chrono>
#include <string>

namespace bench {

/// A contender on a number of workers, in the tables of --algorithms.
struct competitor {
  std::string label;
  std::string_view name;
  unsigned workers;
  bool is_peer;
  std::unique_ptr<algorithm_pool> pool;
};

/// So many calls after each other. Before each one the thread calculates for the pause.
struct call_series {
  std::size_t calls;
  std::chrono::microseconds pause{0};
};

/// Waits until all threads of this process rest, so that no peer's thread that still spins takes a processor from the
/// next contender.
void wait_for_quiet();

/// The median of the calls' seconds. Clears the answers before, and throws wrong_answer after, outside the timing.
/// `pool`: where the calls are made; null: on this thread, outside all pools.
double time_calls(std::string_view who, algorithm_job& j, algorithm_call call, call_series const& series,
                  algorithm_pool* pool = nullptr);

/// Instances of an algorithm, as many as copies of it run side by side.
class algorithm_copies {
 public:
  algorithm_copies(algorithm const& a, std::size_t n, unsigned most_copies);
  algorithm_job& first() { return *jobs_[0]; }
  /// The slowest copy's median seconds of a plain call, by the number of copies.
  double time_side_by_side(unsigned copies, std::size_t calls);

 private:
  algorithm const& algorithm_;
  std::vector<std::unique_ptr<algorithm_job>> jobs_;
};

/// Calls that take some milliseconds together, by what one call takes.
std::size_t calls_of_reading(algorithm const& a, algorithm_job& j);

}  // namespace bench

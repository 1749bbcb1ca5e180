// An algorithm of the library as --algorithms measures it: the plain loop, std's, Filch's and the peers' versions.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

namespace bench {

/// The input of an algorithm, and the answer of its last call.
class algorithm_job {
 public:
  algorithm_job() = default;
  algorithm_job(algorithm_job const&) = delete;
  algorithm_job& operator=(algorithm_job const&) = delete;
  virtual ~algorithm_job() = default;
  /// Clears all answers; outside the timing, before a series of calls.
  virtual void reset() = 0;
  /// Puts back an input that a call changes; outside the timing, before each call.
  virtual void restore() = 0;
  /// Is the answer right after so many calls since reset()? Outside the timing.
  virtual bool verify(std::size_t calls) const = 0;
};

/// A is an entry of algorithms/list.hpp.
template <class A> class algorithm_job_of final : public algorithm_job {
 public:
  explicit algorithm_job_of(std::size_t n) : input(A::prepare(n)) {}
  void reset() override { A::reset(input); }
  void restore() override {
    if constexpr (requires { A::restore(input); }) A::restore(input);
  }
  bool verify(std::size_t calls) const override {
    if constexpr (requires { A::verify(input, calls); }) {
      return A::verify(input, calls);
    } else {
      return A::verify(input);
    }
  }

  typename A::input input;
};

using algorithm_call = void (*)(algorithm_job& j);

/// Where an algorithm is measured.
enum class algorithm_table { sizes, tails, tiny };

struct algorithm {
  std::string_view name;
  algorithm_table table;
  std::vector<std::size_t> sizes;
  std::vector<std::size_t> quick_sizes;
  double most_on_one;            // limit of one worker's time over the plain loop's
  std::size_t least_with_limit;  // elements: limits are for this size and above
  std::unique_ptr<algorithm_job> (*make)(std::size_t n);
  algorithm_call plain;
  algorithm_call standard;  // std's sequential algorithm; null: there is none
};

/// All of them, in the order of the table.
std::vector<algorithm> const& known_algorithms();
/// Null: there is none of that name.
algorithm const* find_algorithm(std::string_view name);

/// How OpenMP divides a loop.
struct loop_schedule {
  enum kind { fixed, dynamic, guided } kind = fixed;
  int chunk = 0;  // iterations; 0: the runtime's choice
};

/// A contender's pool, to call algorithms on.
class algorithm_pool {
 public:
  algorithm_pool() = default;
  algorithm_pool(algorithm_pool const&) = delete;
  algorithm_pool& operator=(algorithm_pool const&) = delete;
  virtual ~algorithm_pool() = default;
  /// The contender's version; null: it has none.
  virtual algorithm_call find(std::string_view name) const = 0;
  /// Runs f where users call algorithms: inside the pool, or, if each call makes a team of its own, outside.
  virtual void call_from(std::function<void()> const& f) = 0;
  virtual bool is_called_inside() const { return true; }
  /// For loops with long iterations. False: this contender has no schedules.
  virtual bool use(loop_schedule const&) { return false; }
};

#if BENCH_WITH_TBB
/// std::execution::par; null where the standard library lacks it.
std::unique_ptr<algorithm_pool> make_par_pool(unsigned workers);
#endif

}  // namespace bench

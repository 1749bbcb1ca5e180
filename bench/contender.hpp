// A contender: a scheduler, Filch's or a peer's, that runs every workload.
#pragma once

#include "algorithm.hpp"
#include "server_call.hpp"
#include "workload.hpp"

#include <filch/channel_options.hpp>
#include <filch/channel_stats.hpp>
#include <filch/implicit_stats.hpp>
#include <filch/pool_options.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace bench {

/// The counters of a pool of any scheduler. Those that the scheduler does not have stay 0.
struct pool_counts : filch::implicit_stats {
  filch::channel_stats channel;
};

/// A pool of some scheduler, made once a row.
class running_pool {
 public:
  running_pool() = default;
  running_pool(running_pool const&) = delete;
  running_pool& operator=(running_pool const&) = delete;
  virtual ~running_pool() = default;
  /// Runs the workload on the pool. This is timed.
  virtual void run(std::string_view workload, job& j) = 0;
  /// Runs any function on the pool.
  virtual void enter(std::function<void()> const& f) = 0;
  /// Runs both, perhaps in parallel, on the pool.
  virtual void join(std::function<void()> const& f, std::function<void()> const& g) = 0;
  /// On the pool: joins nested in each other, the second half of each is `second`. In the innermost one `before`
  /// comes before the fork, `inside` is the first half.
  virtual void nest(unsigned joins, std::function<void()> const& before, std::function<void()> const& inside,
                    std::function<void()> const& second) = 0;
  /// Makes the call on the calling thread, in the usual way: through the pool, or without one for a peer whose every
  /// thread may fork. Returns its answer. Several threads may call at once.
  virtual std::uint64_t serve(server_call const& c) = 0;
  /// In a task: does a worker ask for work?
  virtual bool wanted() const = 0;
  virtual std::optional<pool_counts> stats() const = 0;
  /// Bytes in use of the pool's stacks; empty for schedulers without stacks for fibers.
  virtual std::optional<std::size_t> written_stack_bytes() const = 0;
};

struct contender {
  std::string_view name;
  std::string_view about;
  bool is_peer;
  bool has_workers;  // else it has one worker
  bool has_fibers;   // its fibers have stacks of their own
  std::unique_ptr<running_pool> (*make)(filch::pool_options const& options);
  std::unique_ptr<algorithm_pool> (*make_for_algorithms)(filch::pool_options const& options);
};

// Each in a file of its own, so that they compile side by side.
template <class Sched> contender contender_under();
/// A pool of `channel` with options of its own.
std::unique_ptr<running_pool> make_channel_pool(filch::channel_options const& options);
#if BENCH_WITH_TBB
contender onetbb_contender();
#endif
#if BENCH_WITH_OPENMP
contender openmp_contender();
#endif

/// All contenders of this program, as the command line lists them.
std::vector<contender> const& contenders();
/// The contender of that name; null: there is none.
contender const* find_contender(std::string_view name);

struct fork_count {
  std::uint64_t forks = 0;
  std::uint64_t depth = 0;  // depth of the most deeply nested fork
};
/// The forks of the workload, counted in a serial run.
fork_count count_forks(std::string_view workload, job& j);

}  // namespace bench

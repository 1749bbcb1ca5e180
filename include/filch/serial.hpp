// filch::serial: the serial elision, that is the same program without its forks. It is the baseline of every
// measurement, and a member of the typed tests. All of it is here: it has no slow path, no protocol.
#pragma once

#include <filch/detail/first_failure.hpp>
#include <filch/detail/in_order.hpp>
#include <filch/pool_options.hpp>
#include <filch/pool_stats.hpp>
#include <filch/scheduler.hpp>

#include <exception>

namespace filch::inline FILCH_ABI {

/// Runs everything on the calling thread, in the order of the source. A join costs nothing. Exceptions do the same as
/// under every other scheduler.
struct serial {
  /// See filch::scheduler.
  static constexpr std::string_view name = "serial";

  /// f, then g; both results. If f throws, g still runs, and then f's exception leaves.
  template <class Fn, class Gn>
  FILCH_INLINE static std::pair<detail::result_of<Fn>, detail::result_of<Gn>> join(Fn&& f, Gn&& g) {
    return detail::join_in_order(std::forward<Fn>(f), std::forward<Gn>(g));
  }

  /// Runs each task where it is spawned. Keeps the exception of the earliest one for sync().
  class frame {
   public:
    frame() = default;
    frame(frame const&) = delete;
    frame& operator=(frame const&) = delete;

    /// See filch::spawner.
    template <class Fn> void spawn(Fn&& f) {
      unsigned const number = spawned_++;
      try {
        detail::call_spawned(std::forward<Fn>(f));
      } catch (...) {
        // A task that this one spawned may have thrown before.
        std::exception_ptr e = detail::caught_exception();
        failure_.keep(e, number);
      }
    }
    /// See filch::spawner.
    void sync() {
      spawned_ = 0;
      failure_.throw_if_any();
    }

   private:
    unsigned spawned_ = 0;
    detail::first_failure failure_;
  };

  /// One worker: the calling thread. Has no threads.
  class pool {
   public:
    /// Ignores the options, and the environment.
    using options = pool_options;
    explicit pool(pool_options = {}) noexcept {}
    /// The same for `pool({})`.
    explicit pool(detail::no_options) noexcept {}
    /// Calls f here.
    template <class Fn> decltype(auto) run(Fn&& f) { return detail::call_with(std::forward<Fn>(f)); }
    /// Always 1.
    unsigned workers() const noexcept { return 1; }
    /// Always 1.
    unsigned places() const noexcept { return 1; }
    /// Nothing is counted.
    pool_stats stats() const noexcept { return {}; }
  };

  /// See filch::scheduler.
  static bool wanted() noexcept { return false; }
  /// See filch::scheduler.
  static bool inside() noexcept { return true; }
  /// See filch::scheduler.
  static unsigned worker_index() noexcept { return 0; }
  /// See filch::scheduler. There is no worker to help.
  static void attach(detail::task_source&) noexcept {}
  /// Made at the first call; holds nothing.
  static pool& default_pool() {
    static pool the_pool;
    return the_pool;
  }
};

static_assert(scheduler<serial>);

}  // namespace filch::inline FILCH_ABI

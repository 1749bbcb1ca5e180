// Work and span of parts of a program, for use in its code: filch::profile, filch::profiled.
#pragma once

#include <filch/detail/platform.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>

namespace filch::inline FILCH_ABI {

/// The figures of a part of a program. See docs/profiling.md for their meaning.
struct work_and_span {
  using seconds = std::chrono::duration<double>;

  bool is_measured = false;  ///< else all figures are 0
  std::uint64_t forks = 0;   ///< number of forks
  seconds work{};            ///< time of all tasks together
  seconds span{};            ///< time of the longest path
  seconds burdened_span{};   ///< with the cost of a steal on this machine for each task on the path

  /// Work by span, 1 at least. Noise lengthens spans, so the program has this parallelism at least.
  double parallelism() const noexcept { return ratio(span); }
  /// Work by burdened span, 1 at least.
  double burdened_parallelism() const noexcept { return ratio(burdened_span); }

 private:
  double ratio(seconds path) const noexcept {
    return path.count() > 0 ? (std::max)(1.0, work.count() / path.count()) : 1.0;
  }
};

namespace detail {

/// The figures of a thread up to some time, or between two times. Times in cycles.
struct profile_figures {
  std::int64_t work = 0;
  std::int64_t span = 0;
  std::int64_t burdened = 0;
  std::uint64_t forks = 0;
  std::uint64_t runs = 0;
};

/// While it exists, the calling thread's figures are noted. It begins and ends on one thread, or notes nothing.
class FILCH_API profiled_part {
 public:
  /// An empty name is in no report. Throws setup_error if FILCH_PROFILE is invalid, std::bad_alloc.
  explicit profiled_part(std::string_view name);
  profiled_part(profiled_part const&) = delete;
  profiled_part& operator=(profiled_part const&) = delete;
  ~profiled_part();
  /// The figures since it began.
  work_and_span so_far() const noexcept;

 private:
  void* record_ = nullptr;  // of the thread that it began on; null: nothing is measured
  std::size_t region_ = 0;  // its number there, if it has a name
  bool has_name_ = false;
  profile_figures begin_;
};

}  // namespace detail

/// Runs f() on the calling thread, and returns its work and span, if FILCH_PROFILE is set and measures the scheduler
/// of its pools; else it just runs f. The result of f is dropped.
///   * In a task, all of f counts; outside of pools, what f runs in pools from this thread.
///   * A task that f spawns into a scope around it runs later, and does not count.
/// Throws what f throws, and setup_error if FILCH_PROFILE is invalid. Costs about 0.1 us if FILCH_PROFILE is set,
/// else a call.
template <class Fn> work_and_span profile(Fn&& f) {
  detail::profiled_part const part{std::string_view()};
  static_cast<void>(std::invoke(std::forward<Fn>(f)));
  return part.so_far();
}

/// Runs f() on the calling thread and returns its result. If FILCH_PROFILE is set, its report has a line of this
/// name, with the sums over all outermost calls of the name; else it just runs f. The rest is as for filch::profile;
/// allocates at the first call of a name on a thread.
template <class Fn> decltype(auto) profiled(std::string_view name, Fn&& f) {
  detail::profiled_part const part{name};
  return std::invoke(std::forward<Fn>(f));
}

}  // namespace filch::inline FILCH_ABI

// All workloads, compiled for filch::serial. bench/contenders.cpp lists the contenders.
#include "contender_of.hpp"

#include <filch/serial.hpp>

#include <algorithm>

namespace bench {

template <> contender contender_under<filch::serial>() {
  return contender_of<filch::serial>("the serial elision", false, false);
}

namespace {

thread_local fork_count counted;
thread_local std::uint64_t depth = 0;

/// A fork, as long as it is not joined.
class counted_fork {
 public:
  counted_fork() {
    ++counted.forks;
    counted.depth = std::max(counted.depth, ++depth);
  }
  counted_fork(counted_fork const&) = delete;
  counted_fork& operator=(counted_fork const&) = delete;
  ~counted_fork() { --depth; }
};

/// The serial elision that counts its forks.
struct counting {
  static constexpr std::string_view name = "counting";
  template <class F, class G> static auto join(F&& f, G&& g) {
    counted_fork const here;
    return filch::serial::join(std::forward<F>(f), std::forward<G>(g));
  }
  class frame : public filch::serial::frame {
   public:
    template <class F> void spawn(F&& f) {
      counted_fork const here;
      filch::serial::frame::spawn(std::forward<F>(f));
    }
  };
  using pool = filch::serial::pool;
  static bool wanted() noexcept { return false; }
  static bool inside() noexcept { return true; }
  static unsigned worker_index() noexcept { return 0; }
  static void attach(filch::detail::task_source&) noexcept {}
  static pool& default_pool() { return filch::serial::default_pool(); }
};

}  // namespace

fork_count count_forks(std::string_view workload, job& j) {
  pool_of<counting> pool(filch::pool_options{});
  counted = {};
  pool.run(workload, j);
  return counted;
}

}  // namespace bench

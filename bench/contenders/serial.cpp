#include "../contender.hpp"

#include <filch/serial.hpp>

namespace bench {

contender serial_contender() { return contender_of<filch::serial>("the serial elision", false, false); }

namespace {

thread_local std::uint64_t forks = 0;

/// The serial elision that counts its forks.
struct counting {
  static constexpr std::string_view name = "counting";
  template <class F, class G> static auto join(F&& f, G&& g) {
    ++forks;
    return filch::serial::join(std::forward<F>(f), std::forward<G>(g));
  }
  class frame : public filch::serial::frame {
   public:
    template <class F> void spawn(F&& f) {
      ++forks;
      filch::serial::frame::spawn(std::forward<F>(f));
    }
  };
  using pool = filch::serial::pool;
  static bool wanted() noexcept { return false; }
  static bool inside() noexcept { return true; }
  static unsigned worker_index() noexcept { return 0; }
  static pool& default_pool() { return filch::serial::default_pool(); }
};

}  // namespace

std::uint64_t count_forks(std::string_view workload, job& j) {
  pool_of<counting> pool(1);
  forks = 0;
  pool.run(workload, j);
  return forks;
}

}  // namespace bench

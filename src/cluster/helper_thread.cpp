// A rank's helper thread: in a run it enters the pool to help the main loop, which may be in a long
// task. Called by filch/cluster.hpp. Protocol: protocol.md, "Helpers".
#include "cluster/endpoint.hpp"
#include "cluster/ticker.hpp"

#include <atomic>
#include <chrono>
#include <filch/detail/cluster_pace.hpp>
#include <filch/detail/cluster_rank_worker.hpp>

namespace filch::inline FILCH_ABI::detail {

struct helper_thread::parts {
  parts(endpoint_interface& e, unsigned n, std::function<bool()> h)
      : endpoint_(complete(e)),
        workers(n),
        help(std::move(h)),
        thread("a cluster's helper thread", ticker::k_until_woken, [this] { return tick(); }) {}

  ticker::duration tick() {
    // relaxed: the endpoint knows whether there is a run.
    if (!in_run.load(std::memory_order_relaxed)) return ticker::k_until_woken;
    if (endpoint_.wants_help(workers)) in_vain = is_helped() ? 0 : in_vain + 1;
    return std::chrono::duration_cast<ticker::duration>(pace::between_helpers(in_vain));
  }
  bool is_helped() {
    try {
      return help();
    } catch (...) {  // no memory
      endpoint_.end_over_loss("a worker's help");
      return false;
    }
  }

  endpoint& endpoint_;
  unsigned const workers;
  std::function<bool()> const help;
  std::atomic<bool> in_run{false};
  unsigned in_vain = 0;  // calls in a row; the thread's own
  ticker thread;         // uses all of the above
};

helper_thread::helper_thread(endpoint_interface& e, unsigned workers, std::function<bool()> help)
    : parts_(std::make_unique<parts>(e, workers, std::move(help))) {}

helper_thread::~helper_thread() = default;

void helper_thread::begin_run() {
  parts_->in_run.store(true, std::memory_order_relaxed);  // relaxed: as above
  parts_->thread.wake();
}

void helper_thread::end_run() { parts_->in_run.store(false, std::memory_order_relaxed); }  // relaxed: as above

}  // namespace filch::inline FILCH_ABI::detail

// How a rank without tasks waits between its polls: it yields at first, and sleeps later. Called by main loops, by
// waits for futures and by transports that end. The lengths stand in filch/detail/cluster_pace.hpp.
#include <filch/detail/cluster_pace.hpp>
#include <filch/detail/cluster_rank_worker.hpp>

#include <thread>

namespace filch::inline FILCH_ABI::detail {

void idle_pause::wait() {
  auto const now = clock::now();
  if (begin_ == clock::time_point()) begin_ = now;
  // MPI's own progress may have yielded, too.
  if (last_ != clock::time_point()) is_shared_ = now - last_ > pace::k_own_processor;
  if (!is_shared_ && now - begin_ < pace::k_awake) {
    last_ = now;
    std::this_thread::yield();
  } else {
    // MPI has no call that sleeps until a message comes.
    std::this_thread::sleep_for(pace::sleep_after(sleeps_++));
    last_ = clock::time_point();
  }
}

void idle_pause::refused() { request_again_ = clock::now() + pace::silence_after(refusals_++); }

}  // namespace filch::inline FILCH_ABI::detail

// The endpoint's short functions: each locks the mutex and calls one part. Rank workers, main loops, helpers and the
// watchdog call them. See endpoint.hpp. Protocol: protocol.md.
#include "cluster/endpoint.hpp"

#include <filch/rank.hpp>

#include <stdexcept>

namespace filch::inline FILCH_ABI::detail {

unsigned endpoint_interface::own(struct bound b) const {
  if (b.cluster != cluster_ || b.id >= bound_values::k_most) {
    throw std::invalid_argument(
        "filch: this bound is of another cluster: pass the one that make_bound returned here");
  }
  return b.id;
}

// Rank workers and helpers

bool endpoint::take_inbox(task_deque& mine) {
  std::lock_guard const lock(mutex_);
  requests_.move_inbox(mine);
  return !mine.empty();
}

void endpoint::put_back(task_deque& mine) {
  std::lock_guard const lock(mutex_);
  requests_.leave_in_inbox(mine, mine.size());
}

void endpoint::send_result(int home, cluster_future* future, std::optional<std::string> const& failure,
                           message const& result) {
  std::lock_guard const lock(mutex_);
  results_.send(home, future, failure, result);
}

void endpoint::fail(std::string_view text) {
  std::lock_guard const lock(mutex_);
  results_.keep_failure(text);
}

void endpoint::end_over_loss(std::string_view what) {
  std::lock_guard const lock(mutex_);
  messenger_.lose(what);
}

bool endpoint::wants_help(unsigned workers) {
  std::unique_lock const lock(mutex_, std::try_to_lock);
  if (!lock || !termination_.main_loop_works()) return false;
  return requests_.has_inbox() || hints_.workers.read() < workers;
}

void endpoint::help_ends() {
  std::lock_guard const lock(mutex_);
  termination_.helper_ends();
}

// Runs

void endpoint::begin_run(partial const* root_part) {
  std::lock_guard const lock(mutex_);
  root_part_ = root_part;
  termination_.begin_run();
  heartbeats_.count_call(call_kind::run);
  waits_no_more();
  requests_.begin_run();
}

endpoint::leave_outcome endpoint::leave_run() {
  std::lock_guard const lock(mutex_);
  termination_.set_main_loop_works(false);
  root_part_ = nullptr;
  return termination_.helpers() == 0 ? leave_outcome::left : leave_outcome::helpers_work;
}

std::optional<std::string> endpoint::take_failure() {
  std::lock_guard const lock(mutex_);
  return results_.take_failure();
}

cluster_stats endpoint::stats() const {
  std::lock_guard const lock(mutex_);
  return messenger_.stats;
}

// Reductions

void endpoint::contribute(reduction_part part) {
  std::lock_guard const lock(mutex_);
  heartbeats_.count_call(call_kind::reduction);
  reduction_.contribute(std::move(part));
}

std::optional<reduction_part> endpoint::reduce() {
  std::lock_guard const lock(mutex_);
  begin_look();
  requests_.forward_all();
  return reduction_.take_result();
}

std::vector<reduction_part> endpoint::parts_to_fold() {
  std::lock_guard const lock(mutex_);
  return reduction_.take_parts();
}

void endpoint::hand_on(reduction_part sum) {
  std::lock_guard const lock(mutex_);
  reduction_.hand_on(std::move(sum));
}

// The watchdog, and the end

void endpoint::all_are_here() {
  std::lock_guard const lock(mutex_);
  heartbeats_.all_are_here();
}

void endpoint::tick() {
  heartbeats_.begin_tick();
  // A worker may have the mutex for long, in users' packing: it sends the heartbeat, and the next look takes the
  // tick.
  std::unique_lock const lock(mutex_, std::try_to_lock);
  if (lock) take_tick();
}

void endpoint::begin_closing(bool is_thrown) {
  std::lock_guard const lock(mutex_);
  heartbeats_.close(is_thrown);
  requests_.close();
  reduction_.close();
}

std::int64_t endpoint::under_way() {
  std::lock_guard const lock(mutex_);
  static_cast<void>(receive());
  return messenger_.under_way();
}

void endpoint::say_farewell() {
  std::lock_guard const lock(mutex_);
  heartbeats_.say_farewell();
}

bool endpoint::has_farewell() {
  std::lock_guard const lock(mutex_);
  static_cast<void>(receive());
  return heartbeats_.is_complete();
}

void endpoint::miss_farewell() {
  std::lock_guard const lock(mutex_);
  heartbeats_.end_over_silence();
}

void endpoint::end_all(std::string_view text) {
  std::lock_guard const lock(mutex_);
  messenger_.end_all(text);
}

}  // namespace filch::inline FILCH_ABI::detail

// A rank worker: when it polls, how it waits for a future, and where the outcome of a task goes. Called by the code
// of tasks (filch/rank.hpp) and of the pool's workers. Protocol: protocol.md, "Rank workers" and "Results".
#include "cluster/endpoint.hpp"
#include "runtime/serve_thieves.hpp"

#include <filch/detail/cluster_pace.hpp>
#include <filch/detail/cluster_rank_worker.hpp>

#include <algorithm>
#include <chrono>

namespace filch::inline FILCH_ABI::detail {

partial::~partial() = default;

namespace {

constexpr unsigned k_block_most = 1u << 16;
constexpr unsigned k_chunk_most = 64;
// A wait nested deeper than this requests no tasks of other ranks: they would run on top of the same stack.
constexpr unsigned k_thieving_waits = 64;

}  // namespace

template <class Look> void rank_worker::timed_poll(Look look) {
  using clock = std::chrono::steady_clock;
  auto const begin = clock::now();
  look_result const found = look();
  auto const now = clock::now();
  gap_.looked(now - begin, found == look_result::requested);
  // The next block has as many tasks as would have lasted the gap, at most twice as many as the last one.
  auto const took = std::max(begin - last_poll_, clock::duration(1));
  auto const begun = std::max(block_ - behind_it_ - until_look_, 1u);
  auto const fit = static_cast<unsigned long>(begun) * static_cast<unsigned long>(gap_.length().count()) /
                   static_cast<unsigned long>(took.count());
  block_ = static_cast<unsigned>(std::clamp<unsigned long>(fit, 1, std::min(2 * block_, k_block_most)));
  until_look_ = std::min(block_, k_chunk_most);
  behind_it_ = block_ - until_look_;
  last_poll_ = now;
}

void rank_worker::poll(std::size_t spare) {
  timed_poll([&] {
    endpoint& here = complete(endpoint_);
    return waits_ == 0 ? here.poll(tasks, spare) : here.poll_in_task(tasks, spare);
  });
}

void rank_worker::poll_in_task() {
  // A task may catch the exception; what was lost stays lost.
  or_lose_tasks([this] { timed_poll([this] { return complete(endpoint_).poll_in_task(tasks, tasks.size()); }); });
}

bool rank_worker::block_is_over() noexcept {
  if (behind_it_ == 0 || std::chrono::steady_clock::now() - last_poll_ >= gap_.length()) return true;
  until_look_ = std::min(behind_it_, k_chunk_most);
  behind_it_ -= until_look_;
  return false;
}

void rank_worker::failed(cluster_future* future, int home) noexcept {
  std::string text = text_of_current_exception();
  if (!future) {
    endpoint_.fail(text);
  } else if (home == endpoint_.rank()) {
    future->failure = std::move(text);
    future->set_ready();
    // *future may be gone
  } else {
    complete(endpoint_).send_result(home, future, text, {});
  }
}

void rank_worker::merge() {
  if (!part_) return;
  try {
    part_->merge();
  } catch (...) {
    failed(nullptr, endpoint_.rank());
  }
}

void rank_worker::send_result(cluster_future* future, int home, message const& result) {
  complete(endpoint_).send_result(home, future, std::nullopt, result);
}

bool rank_worker::take_back() {
  while (!halves_.empty()) {
    auto const newest = std::move(halves_.back());
    halves_.pop_back();
    if (newest->claim() == half::claim_outcome::too_late) continue;
    task_deque& theirs = newest->tasks.tasks;
    tasks.take_oldest_of(theirs, theirs.size());
    return true;
  }
  return false;
}

void rank_worker::wait_for(cluster_future& future) {
  if (future.ready.load(std::memory_order_acquire)) return;  // edge cluster-1
  exceptions_aside const of_the_waiting_task;
  or_lose_tasks([&] { work_until_ready(future); });
}

void rank_worker::work_until_ready(cluster_future& future) {
  ++waits_;
  bool would_take = false;   // said so to the rank's other workers
  bool has_arrived = false;  // some tasks, at a look of this wait
  auto const waits_no_more = [&] {
    if (std::exchange(would_take, false)) complete(endpoint_).waits_no_more();
  };
  idle_pause pause;
  while (!future.ready.load(std::memory_order_acquire)) {  // edge cluster-1
    serve_all_thieves();
    if (!tasks.empty() || take_back()) {
      waits_no_more();
      step_(*this, frame_);
      pause.reset();
    } else {
      bool const may_steal = waits_ <= k_thieving_waits;
      would_take = may_steal;
      auto const found = complete(endpoint_).poll_waiting(tasks, may_steal && pause.may_request(), may_steal);
      if (found == look_result::refused) pause.refused();
      has_arrived = has_arrived || !tasks.empty();
      if (tasks.empty()) pause.wait();
    }
  }
  waits_no_more();
  if (has_arrived && !tasks.empty()) complete(endpoint_).put_back(tasks);
  --waits_;
}

bool rank_worker::gets_work() {
  using clock = std::chrono::steady_clock;
  auto const begin = clock::now();
  std::uint64_t run = 0;
  for (idle_pause pause;; pause.wait()) {
    clock::duration longest{};
    switch (complete(endpoint_).help(tasks, part_, run)) {
      case endpoint::help_outcome::work: return true;
      case endpoint::help_outcome::leave: return false;
      case endpoint::help_outcome::requested: longest = pace::k_helper_waits; break;
      case endpoint::help_outcome::nothing: longest = pace::k_awake; break;
    }
    if (clock::now() - begin >= longest) return false;
  }
}

}  // namespace filch::inline FILCH_ABI::detail

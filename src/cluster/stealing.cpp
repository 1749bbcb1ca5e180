// Of the endpoint: steal requests, tasks in answer, and what becomes of these.
#include "cluster/messages.hpp"

#include <cstring>
#include <filch/detail/cluster_rank_worker.hpp>
#include <filch/stay.hpp>
#include <numeric>

namespace filch::inline FILCH_ABI::detail {
namespace {

constexpr std::size_t k_tasks_an_answer = 1024;
// Then an answer has its last task. While it is packed the rank hears and says nothing else, and what carries
// messages has bounds of its own.
constexpr std::size_t k_bytes_an_answer = std::size_t{4} << 20;

/// With the endpoint's mutex held, on top of whatever task polls: what is packed may fork, and has exceptions of its
/// own.
template <class F> void call_packing(F f) {
  exceptions_aside const of_the_task;
  stay(f);
}

}  // namespace

// Requests

void endpoint::ask() {
  if (asking_ || closing_ || ranks_ == 1) return;
  asking_ = true;
  std::int32_t stride = 0;
  do stride = 1 + static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(ranks_ - 1));
  while (std::gcd(stride, ranks_) != 1);
  ++stats_.requests;
  send((me_ + stride) % ranks_, message_of(kind::request, me_, std::int32_t{0}, stride));
}

std::uint64_t endpoint::random() noexcept {  // xorshift
  random_ ^= random_ << 13;
  random_ ^= random_ >> 7;
  return random_ ^= random_ << 17;
}

/// Requests that get nothing go on after so many looks. Returns how many may still go.
std::size_t endpoint::serve(task_deque& mine, std::size_t spare, unsigned looks) {
  try {
    std::erase_if(requests_, [&](steal_request& request) {
      if (spare > 0) {
        spare -= give(request, mine, std::min((spare + 1) / 2, k_tasks_an_answer));
        return true;
      }
      if (++request.looks < looks) return false;
      forward(request);
      return true;
    });
  } catch (...) {  // no memory
    lose("an answer");
    throw;
  }
  return spare;
}

/// Returns how many have left `mine`: one at least.
std::size_t endpoint::give(steal_request const& request, task_deque& mine, std::size_t most) {
  packer p;
  packing<kind>::pack(p, kind::tasks);
  packing<std::size_t>::pack(p, 0);
  std::vector<task_header> headers;
  std::size_t count = 0;
  call_packing([&] {
    for (; count < most && p.size() < k_bytes_an_answer; ++count) {
      cluster_task& t = mine.take_oldest();
      std::size_t const before = p.size();
      try {
        t.kind->pack(p, t);
        headers.push_back({t.kind->id, reinterpret_cast<std::uintptr_t>(t.future), p.size() - before, t.home});
      } catch (...) {
        message kept = p.take();
        p.put_bytes(kept.data(), before);
        give_up(t.home, t.future);
      }
      send_due_heartbeat();
    }
  });
  std::size_t const place = p.size();
  packing<std::vector<task_header>>::pack(p, headers);
  message m = p.take();
  std::memcpy(m.data() + sizeof(kind), &place, sizeof place);
  ++stats_.answers;
  stats_.tasks_given += headers.size();
  stats_.bytes_of_tasks += m.size();
  wanted_.store(false, std::memory_order_relaxed);  // relaxed: a hint
  send_basic(request.thief, std::move(m));
  return count;
}

void endpoint::forward(steal_request request) {
  ++request.hops;
  bool const all_asked = request.hops >= ranks_ - 1;
  auto const steps = static_cast<std::int64_t>(request.hops + 1) * request.stride;
  int const to = all_asked ? request.thief : static_cast<int>((request.thief + steps) % ranks_);
  ++stats_.forwards;
  wanted_.store(true, std::memory_order_relaxed);  // relaxed: a hint
  send(to, message_of(kind::request, request.thief, request.hops, request.stride));
}

void endpoint::forward_all() {
  for (steal_request const& request : std::exchange(requests_, {})) forward(request);
}

// Tasks and results

void endpoint::handle_tasks(std::span<std::byte const> bytes) {
  ++basic_.received;
  asking_ = false;
  unpacker arguments(bytes.subspan(sizeof(kind)));
  unpacker headers(bytes.subspan(get<std::size_t>(arguments)));
  auto const all = get<std::vector<task_header>>(headers);
  call_packing([&] {
    for (task_header const& h : all) {
      cluster_task& t = inbox_.room();
      t.kind = find_kind(h.kind);
      if (!t.kind) {
        transport_.end_all("a task of a function that this rank does not have: do all ranks run the same program?");
        return;
      }
      t.home = static_cast<std::int32_t>(h.home);
      t.future = reinterpret_cast<cluster_future*>(static_cast<std::uintptr_t>(h.future));
      unpacker of_this(arguments.get_bytes(h.size));
      try {
        t.kind->unpack(of_this, t);
        inbox_.push();
      } catch (...) {
        give_up(t.home, t.future);
      }
      send_due_heartbeat();
    }
  });
  arrived_.store(true, std::memory_order_relaxed);  // relaxed: the mutex orders the rest
}

void endpoint::handle_result(unpacker& u) {
  ++basic_.received;
  auto& future = *reinterpret_cast<cluster_future*>(get<std::uintptr_t>(u));
  bool failed = get<bool>(u);
  auto text = get<std::string>(u);
  call_packing([&] {
    try {
      if (!failed) future.take_result(future, u);
    } catch (...) {
      failed = true;
      text = text_of_current_exception();
    }
  });
  if (failed) future.failure = std::move(text);
  future.set_ready();
  // future may be gone
}

/// In a handler: a task whose arguments could not travel.
void endpoint::give_up(std::int32_t home, cluster_future* future) {
  std::string text = text_of_current_exception();
  if (!future) {
    keep(std::move(text));
  } else if (home != me_) {
    send_outcome(home, future, text, {});
  } else {
    future->failure = std::move(text);
    future->set_ready();
    // *future may be gone
  }
}

void endpoint::send_result(int home, cluster_future* future, std::optional<std::string> const& failure,
                           message const& result) {
  std::lock_guard const lock(mutex_);
  send_outcome(home, future, failure, result);
}

void endpoint::send_outcome(int home, cluster_future* future, std::optional<std::string> const& failure,
                            message const& result) {
  auto const address = reinterpret_cast<std::uintptr_t>(future);
  message m = message_of(kind::result, address, failure.has_value(), failure.value_or(""));
  m.insert(m.end(), result.begin(), result.end());
  send_basic(home, std::move(m));
}

void endpoint::fail(std::string_view text) {
  std::lock_guard const lock(mutex_);
  keep(text);
}

void endpoint::keep(std::string_view text) {
  if (!failure_) failure_ = text.empty() ? "an exception without a text" : text;
}

std::optional<std::string> endpoint::take_failure() {
  std::lock_guard const lock(mutex_);
  return std::exchange(failure_, std::nullopt);
}

}  // namespace filch::inline FILCH_ABI::detail

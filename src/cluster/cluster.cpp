// A cluster: how it begins and ends, its watchdog, and the folds of reductions. Called by filch/cluster.hpp.
// Protocol: protocol.md, "Reduction" and "The end".
#include "cluster/endpoint.hpp"
#include "cluster/patient_wait.hpp"
#include "cluster/ticker.hpp"
#include "runtime/settings.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <filch/cluster.hpp>
#include <mutex>
#include <stdexcept>
#include <vector>

namespace filch::inline FILCH_ABI::detail {
namespace {

reduction_part failed_with(std::string_view text) {
  auto const bytes = std::as_bytes(std::span(text));
  return {reduction_part::holds::failure, {bytes.begin(), bytes.end()}};
}

reduction_part folded(std::vector<reduction_part> parts, fold_values const& fold) {
  for (reduction_part& part : parts) {
    if (part.what == reduction_part::holds::failure) return std::move(part);
  }
  try {
    reduction_part sum;
    for (reduction_part& part : parts) {
      if (part.what == reduction_part::holds::nothing) continue;
      if (sum.what == reduction_part::holds::nothing) {
        sum = std::move(part);
      } else {
        sum.bytes = fold(std::move(sum.bytes), std::move(part.bytes));
      }
    }
    return sum;
  } catch (...) {
    return failed_part();
  }
}

struct transports_in_use {
  std::mutex mutex;
  std::vector<void const*> all;  // under mutex
};
/// Never destroyed: a static cluster may end late.
transports_in_use& in_use() {
  static auto* const them = new transports_in_use;
  return *them;
}

/// The use of a transport by one cluster. A second one at a time would take messages of the first.
class transport_use {
 public:
  /// Throws setup_error if another cluster uses it.
  explicit transport_use(void const* transport) : transport_(transport) {
    auto& [mutex, all] = in_use();
    std::lock_guard const lock(mutex);
    if (std::find(all.begin(), all.end(), transport) != all.end()) {
      throw setup_error("filch: this transport has a cluster: end that one first, or make a transport for each");
    }
    all.push_back(transport);
  }
  transport_use(transport_use const&) = delete;
  transport_use& operator=(transport_use const&) = delete;
  ~transport_use() {
    auto& [mutex, all] = in_use();
    std::lock_guard const lock(mutex);
    std::erase(all, transport_);
  }

 private:
  void const* const transport_;
};

/// A number that is most likely different at each call, in all processes.
unsigned drawn() noexcept {
  static std::atomic<std::uint64_t> before{0};
  auto const now = static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  // relaxed: each call needs a value of its own, and no order.
  std::uint64_t x = now + (before.fetch_add(1, std::memory_order_relaxed) << 48);
  x = (x ^ x >> 31) * 0x9e3779b97f4a7c15;
  return static_cast<unsigned>(x >> 32);
}

/// A step of a reduction. Where it lacks memory, the other ranks would wait for its outcome.
template <class Step> auto or_lose_part(endpoint& here, Step step) {
  try {
    return step();
  } catch (...) {
    here.end_over_loss("a part of a reduction");
    throw;
  }
}

}  // namespace

reduction_part failed_part() { return failed_with(text_of_current_exception()); }

struct cluster_base::parts {
  static constexpr ticker::duration k_tick{1000 / endpoint::k_ticks_per_second};

  parts(std::unique_ptr<any_transport> carrier, cluster_options const& options)
      : use(carrier->address()),
        transport(begun(std::move(carrier))),
        endpoint_(*transport, endpoint::ticks_in(options.patience), endpoint::ticks_in(options.arrival)),
        watchdog("a cluster's watchdog", k_tick,
                 [this] {
                   endpoint_.tick();
                   return k_tick;
                 }),
        patience(options.patience) {}
  /// Before the first message.
  static std::unique_ptr<any_transport> begun(std::unique_ptr<any_transport> carrier) {
    carrier->begin_cluster();
    return carrier;
  }
  transport_use use;
  std::unique_ptr<any_transport> transport;
  endpoint endpoint_;
  ticker watchdog;
  unsigned const patience;
  unsigned bounds = 0;
  std::mutex calls_mutex;
  bool is_called = false;  // under calls_mutex
  int const exceptions = std::uncaught_exceptions();
};

cluster_base::cluster_base(std::unique_ptr<any_transport> carrier, cluster_options const& options) {
  if (auto const* const kind = ambiguous_kind()) {
    throw setup_error("filch: " + text_of_ambiguity(*kind));
  }
  parts_ = std::make_unique<parts>(std::move(carrier), options);
  // The cluster's number is the sum of one number of each rank: the same on all, and not that of another cluster.
  auto const add = [](message a, message b) { return packed(unpacked<unsigned>(a) + unpacked<unsigned>(b)); };
  parts_->endpoint_.be_of(unpacked<unsigned>(reduce(packed_part(drawn()), add)));
  parts_->endpoint_.all_are_here();
}

cluster_base::~cluster_base() {
  auto const add = [](message a, message b) { return packed(unpacked<std::int64_t>(a) + unpacked<std::int64_t>(b)); };
  bool const is_thrown = std::uncaught_exceptions() > parts_->exceptions;
  parts_->endpoint_.begin_closing(is_thrown);
  auto const nothing = packed_part(std::int64_t{0});
  // Where an exception leaves this rank, the other ranks come here too, or wait for this one in the program.
  patient_wait wait(std::chrono::seconds(is_thrown ? parts_->patience : 0));
  if (!reduce(nothing, add, wait)) parts_->endpoint_.end_all("an exception leaves this rank, and not the others");
  while (unpacked<std::int64_t>(reduce(packed_part(parts_->endpoint_.under_way()), add)) != 0) {
  }
  parts_->watchdog.stop();
  parts_->endpoint_.say_farewell();
  wait_for_farewell();
  parts_->transport->end_cluster();
}

void cluster_base::wait_for_farewell() {
  // No watchdog is left, and all ranks came this far.
  patient_wait wait{std::chrono::seconds(parts_->patience)};
  for (idle_pause pause; !parts_->endpoint_.has_farewell(); pause.wait()) {
    if (!wait.is_over()) continue;
    parts_->endpoint_.miss_farewell();
    return;
  }
}

cluster_base::call::call(cluster_base& c) : whose_(c) {
  std::lock_guard const lock(c.parts_->calls_mutex);
  if (c.parts_->is_called) {
    throw std::logic_error(
        "filch: a cluster is called while a run or a reduction of it goes on, in a task or on another thread: "
        "call it between them");
  }
  c.parts_->is_called = true;
}

cluster_base::call::~call() {
  std::lock_guard const lock(whose_.parts_->calls_mutex);
  whose_.parts_->is_called = false;
}

endpoint_interface& cluster_base::own_endpoint() noexcept { return parts_->endpoint_; }

message cluster_base::reduce(reduction_part part, fold_values const& fold) {
  patient_wait for_ever{std::chrono::seconds(0)};
  return *reduce(std::move(part), fold, for_ever);
}

std::optional<message> cluster_base::reduce(reduction_part part, fold_values const& fold, patient_wait& wait) {
  parts_->endpoint_.contribute(std::move(part));
  idle_pause pause;
  for (;;) {
    if (auto all = or_lose_part(parts_->endpoint_, [this] { return parts_->endpoint_.reduce(); })) {
      if (all->what != reduction_part::holds::failure) return std::move(all->bytes);
      throw task_error::from({reinterpret_cast<char const*>(all->bytes.data()), all->bytes.size()});
    }
    if (hands_on(fold)) continue;
    if (wait.is_over()) return std::nullopt;
    pause.wait();
  }
}

bool cluster_base::hands_on(fold_values const& fold) {
  return or_lose_part(parts_->endpoint_, [&] {
    auto here = parts_->endpoint_.parts_to_fold();
    if (here.empty()) return false;
    parts_->endpoint_.hand_on(folded(std::move(here), fold));
    return true;
  });
}

message cluster_base::finish(reduction_part part, fold_values const& fold) {
  if (auto const failure = parts_->endpoint_.take_failure()) part = failed_with(*failure);
  return reduce(std::move(part), fold);
}

bound cluster_base::make_bound(std::int64_t first) {
  if (parts_->bounds == bound_values::k_most) throw setup_error("filch: a cluster has 64 bounds at most");
  bound const b{.id = parts_->bounds++, .cluster = parts_->endpoint_.cluster()};
  reset(b, first);
  return b;
}

std::int64_t cluster_base::value(bound b) const { return parts_->endpoint_.settled_bound(parts_->endpoint_.own(b)); }

cluster_stats cluster_base::stats() const { return parts_->endpoint_.stats(); }

void cluster_base::reset(bound b, std::int64_t first) {
  parts_->endpoint_.reset_bound(parts_->endpoint_.own(b), first);
  reduce({}, [](message, message) { return message(); });
}

pool_options cluster_base::options_of(cluster_options const& options, unsigned workers_of_transport) {
  bool const said = options.workers > 0 || std::getenv("FILCH_NUM_THREADS");
  pool_options for_pool;
  for_pool.workers = said ? options.workers : workers_of_transport;
  return for_pool;
}

}  // namespace filch::inline FILCH_ABI::detail

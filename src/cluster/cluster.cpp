#include "cluster/ticker.hpp"
#include "runtime/settings.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <filch/cluster.hpp>

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

/// A number that is hardly drawn twice, in this process or another one.
unsigned drawn() noexcept {
  static std::atomic<std::uint64_t> before{0};
  auto const now = static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  // relaxed: each call needs another value, no more.
  std::uint64_t x = now + (before.fetch_add(1, std::memory_order_relaxed) << 48);
  x = (x ^ x >> 31) * 0x9e3779b97f4a7c15;
  return static_cast<unsigned>(x >> 32);
}

}  // namespace

reduction_part failed_part() { return failed_with(text_of_current_exception()); }

struct cluster_base::parts {
  static constexpr ticker::duration k_tick{1000 / endpoint::k_ticks_per_second};

  parts(std::unique_ptr<any_transport> carrier, cluster_options const& options)
      : transport(std::move(carrier)),
        endpoint_(*transport, endpoint::ticks_in(options.patience), endpoint::ticks_in(options.arrival)),
        guard("a cluster's watchdog", k_tick,
              [this] {
                endpoint_.tick();
                return k_tick;
              }),
        patience(options.patience) {}
  std::unique_ptr<any_transport> transport;
  endpoint endpoint_;
  ticker guard;
  unsigned const patience;
  unsigned bounds = 0;
  int const exceptions = std::uncaught_exceptions();
};

cluster_base::cluster_base(std::unique_ptr<any_transport> carrier, cluster_options const& options) {
  if (auto const* const kind = ambiguous_kind()) {
    throw setup_error("filch: two functions that are spawned have one name: " + std::string(kind->name));
  }
  carrier->begin_cluster();
  parts_ = std::make_unique<parts>(std::move(carrier), options);
  // A sum of what each rank draws: the same on all, and not that of another cluster.
  auto const add = [](message a, message b) { return packed(unpacked<unsigned>(a) + unpacked<unsigned>(b)); };
  own_endpoint().be_of(unpacked<unsigned>(reduce(packed_part(drawn()), add)));
  own_endpoint().all_are_here();
}

cluster_base::~cluster_base() {
  auto const add = [](message a, message b) { return packed(unpacked<std::int64_t>(a) + unpacked<std::int64_t>(b)); };
  bool const is_thrown = std::uncaught_exceptions() > parts_->exceptions;
  own_endpoint().begin_closing(is_thrown);
  auto const nothing = packed_part(std::int64_t{0});
  if (is_thrown && parts_->patience > 0) {
    // An exception leaves this rank. If it leaves the others too, they come here; else they wait for this one.
    auto const until = std::chrono::steady_clock::now() + std::chrono::seconds(parts_->patience);
    if (!reduce(nothing, add, until)) own_endpoint().end_all("an exception leaves this rank, and not the others");
  } else {
    reduce(nothing, add);
  }
  while (unpacked<std::int64_t>(reduce(packed_part(own_endpoint().under_way()), add)) != 0) {
  }
  parts_->guard.stop();
  own_endpoint().say_farewell();
  wait_for_farewell();
}

void cluster_base::wait_for_farewell() {
  // Nobody watches any more, and all ranks came this far. Where all of them are stopped and go on, a long step of the
  // clock says nothing.
  using namespace std::chrono_literals;
  using clock = std::chrono::steady_clock;
  clock::duration waited{0};
  clock::time_point last = clock::now();
  for (idle_pause pause; !own_endpoint().silent(); pause.wait()) {
    clock::time_point const now = clock::now();
    waited += std::min<clock::duration>(now - last, 100ms);
    last = now;
    if (parts_->patience == 0 || waited < std::chrono::seconds(parts_->patience)) continue;
    own_endpoint().miss_farewell();
    return;
  }
}

endpoint& cluster_base::own_endpoint() noexcept { return parts_->endpoint_; }

message cluster_base::reduce(reduction_part part, fold_values const& fold) {
  return *reduce(std::move(part), fold, std::chrono::steady_clock::time_point::max());
}

std::optional<message> cluster_base::reduce(reduction_part part, fold_values const& fold,
                                            std::chrono::steady_clock::time_point until) {
  own_endpoint().contribute(std::move(part));
  idle_pause pause;
  for (;;) {
    if (auto all = own_endpoint().reduction()) {
      if (all->what != reduction_part::holds::failure) return std::move(all->bytes);
      throw task_error::from({reinterpret_cast<char const*>(all->bytes.data()), all->bytes.size()});
    }
    if (auto here = own_endpoint().parts_to_fold(); !here.empty()) {
      own_endpoint().hand_on(folded(std::move(here), fold));
      continue;
    }
    if (std::chrono::steady_clock::now() >= until) return std::nullopt;
    pause.wait();
  }
}

message cluster_base::finish(reduction_part part, fold_values const& fold) {
  if (auto const failure = own_endpoint().take_failure()) part = failed_with(*failure);
  return reduce(std::move(part), fold);
}

bound cluster_base::make_bound(std::int64_t first) {
  if (parts_->bounds == endpoint::k_bounds) throw setup_error("filch: a cluster has 64 bounds at most");
  bound const b{.id = parts_->bounds++, .cluster = own_endpoint().cluster()};
  reset(b, first);
  return b;
}

void cluster_base::reset(bound b, std::int64_t first) {
  own_endpoint().set_bound(own_endpoint().own(b), first);
  reduce({}, [](message, message) { return message(); });
}

pool_options cluster_base::options_of(cluster_options const& options, unsigned workers_of_transport) {
  bool const said = options.workers > 0 || std::getenv("FILCH_NUM_THREADS");
  pool_options for_pool;
  for_pool.workers = said ? options.workers : workers_of_transport;
  return for_pool;
}

}  // namespace filch::inline FILCH_ABI::detail

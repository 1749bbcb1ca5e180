// Makes a contender of a scheduler: all workloads, compiled for it.
#pragma once

#include "../contender.hpp"
#include "../workloads.hpp"
#include "algorithm_pool_of.hpp"

#include <filch/serial.hpp>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <type_traits>

namespace bench {

/// Pools whose fibers have stacks of their own.
template <class Pool>
concept pool_of_fibers = requires(Pool const& p) { p.written_stack_bytes(); };

/// Schedulers whose every thread may fork, without a pool.
template <class S>
concept forks_anywhere = requires { requires S::k_forks_anywhere; };

template <class S> class pool_of final : public running_pool {
 public:
  template <class Options> explicit pool_of(Options const& options) : pool_(options) {
    all_workloads::for_each([this]<class W>() {
      runs_[W::name] = [](pool& p, job& j) {
        auto& mine = static_cast<job_of<W>&>(j);
        if constexpr (called_from_outside<W>) {
          mine.answer = W::call_all(mine.input, has_threads, [&p](server_call const& c) { return serve_on(p, c); });
        } else {
          p.run([&mine] { mine.answer = W::template run<S>(mine.input); });
        }
      };
    });
  }
  void run(std::string_view workload, job& j) override { runs_.at(workload)(pool_, j); }
  void enter(std::function<void()> const& f) override { pool_.run(f); }
  void join(std::function<void()> const& f, std::function<void()> const& g) override {
    pool_.run([&] { S::join(f, g); });
  }
  void nest(unsigned joins, std::function<void()> const& before, std::function<void()> const& inside,
            std::function<void()> const& second) override {
    pool_.run([&] { nest_here(joins, before, inside, second); });
  }
  std::uint64_t serve(server_call const& c) override { return serve_on(pool_, c); }
  bool wanted() const override { return S::wanted(); }
  std::optional<pool_counts> stats() const override {
    if constexpr (requires { pool_.stats(); }) {
      auto const counted = pool_.stats();
      pool_counts all;
      static_cast<filch::pool_stats&>(all) = counted;
      if constexpr (requires { counted.stacks_peak; }) static_cast<filch::fiber_stats&>(all) = counted;
      if constexpr (requires { counted.walks; }) all.walks = counted.walks;
      if constexpr (requires { counted.requests; }) all.channel = counted;
      return all;
    }
    return std::nullopt;
  }
  std::optional<std::size_t> written_stack_bytes() const override {
    if constexpr (pool_of_fibers<pool>) return pool_.written_stack_bytes();
    return std::nullopt;
  }

 private:
  using pool = typename S::pool;
  static constexpr bool has_threads = !std::is_same_v<pool, filch::serial::pool>;

  static std::uint64_t serve_on([[maybe_unused]] pool& p, server_call const& c) {
    if constexpr (forks_anywhere<S>) {
      return p.run_in_callers_arena([&c] { return c.run<S>(); });
    } else {
      return p.run([&c] { return c.run<S>(); });
    }
  }
  static void nest_here(unsigned joins, std::function<void()> const& before, std::function<void()> const& inside,
                        std::function<void()> const& second) {
    if (joins == 1) {
      before();
      S::join([&] { inside(); }, [&] { second(); });
    } else {
      S::join([&, joins] { nest_here(joins - 1, before, inside, second); }, [&] { second(); });
    }
  }
  pool pool_;
  std::map<std::string_view, void (*)(pool&, job&)> runs_;
};

template <class S> contender contender_of(std::string_view about, bool is_peer, bool has_workers = true) {
  return {
      S::name,
      about,
      is_peer,
      has_workers,
      pool_of_fibers<typename S::pool>,
      [](filch::pool_options const& o) -> std::unique_ptr<running_pool> { return std::make_unique<pool_of<S>>(o); },
      [](filch::pool_options const& o) -> std::unique_ptr<algorithm_pool> {
        return std::make_unique<algorithm_pool_of<S>>(o);
      }};
}

}  // namespace bench

// All algorithms, compiled for a scheduler or a peer.
#pragma once

#include "../algorithms/list.hpp"

#include <filch/pool_options.hpp>

namespace bench {

/// A peer, whose loops each entry writes with the peer's own means.
template <class S>
concept has_own_loops = requires { S::k_has_own_loops; };
/// Each loop of it makes a team of threads.
template <class S>
concept makes_teams = requires { S::use_threads(1u); };

template <class S> class algorithm_pool_of final : public algorithm_pool {
 public:
  explicit algorithm_pool_of(filch::pool_options const& o) : workers_(o.workers), pool_(o) {}
  algorithm_call find(std::string_view name) const override {
    algorithm_call found = nullptr;
    algorithms::list::for_each([&]<class A>() {
      if (A::name == name) found = call_of<A>();
    });
    return found;
  }
  void call_from(std::function<void()> const& f) override {
    if constexpr (makes_teams<S>) {
      S::use_threads(workers_);
      f();
    } else {
      pool_.run(f);
    }
  }
  bool is_called_inside() const override { return !makes_teams<S>; }
  bool use(loop_schedule const& s) override {
    if constexpr (requires { S::use_schedule(s); }) return S::use_schedule(s), true;
    return false;
  }

 private:
  template <class A> static algorithm_call call_of() {
    using algorithms::input_of;
    if constexpr (!has_own_loops<S>) {
      return [](algorithm_job& j) { A::template on<S>(input_of<A>(j)); };
    } else if constexpr (requires(typename A::input& in) { A::template on_peer<S>(in); }) {
      return [](algorithm_job& j) { A::template on_peer<S>(input_of<A>(j)); };
    } else {
      return nullptr;
    }
  }
  unsigned workers_;
  typename S::pool pool_;
};

}  // namespace bench

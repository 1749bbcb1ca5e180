// A call that a server makes for a request: timed leaves under a tree of joins.
#pragma once

#include "workloads/timed_work.hpp"

#include <filch/join.hpp>

namespace bench {

class server_call {
 public:
  server_call(unsigned leaves, double leaf_microseconds) : leaves_(leaves), leaf_(leaf_microseconds, false) {
    for (unsigned i = 0; i < leaves_; ++i) answer_ += leaf_.result_of(i);
  }
  template <class S> std::uint64_t run() const { return tree<S>(0, leaves_); }
  /// The result of run().
  std::uint64_t answer() const noexcept { return answer_; }

 private:
  template <class S> std::uint64_t tree(unsigned first, unsigned last) const {
    if (last - first == 1) return leaf_.run<S>(first);
    unsigned const middle = first + (last - first) / 2;
    auto [a, b] = filch::join<S>([this, first, middle] { return tree<S>(first, middle); },
                                 [this, middle, last] { return tree<S>(middle, last); });
    return a + b;
  }

  unsigned leaves_;
  timed_work leaf_;
  std::uint64_t answer_ = 0;
};

}  // namespace bench

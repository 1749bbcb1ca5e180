// Calls of a pool of filch::channel beside the test's own.
#pragma once

#include <filch/channel.hpp>

#include <thread>

namespace filch_test {

using S = filch::channel;

/// Another call, on a thread of its own.
template <class F> std::thread call(S::pool& pool, F f) {
  return std::thread([&pool, f] { pool.run(f); });
}

}  // namespace filch_test

// Runs each algorithm of the tests on pools of several sizes, and split into pieces of one iteration.
#pragma once

#include "schedulers.hpp"
#include "stealing.hpp"

#include <filch/detail/pieces.hpp>
#include <filch/serial.hpp>

#include <array>
#include <cstddef>
#include <random>
#include <utility>
#include <vector>

namespace filch_test {

/// One worker, for tests of the engine: counts joins.
struct counts_joins : filch::serial {
  static inline std::size_t joins = 0;
  template <class F, class G> static auto join(F&& f, G&& g) {
    ++joins;
    return filch::serial::join(std::forward<F>(f), std::forward<G>(g));
  }
};

/// While it lives, every loop is split into pieces of one iteration.
class single_pieces {
 public:
  single_pieces() { filch::detail::observer_of_pieces.store(&k_observer, std::memory_order_release); }
  ~single_pieces() { filch::detail::observer_of_pieces.store(nullptr, std::memory_order_release); }
  single_pieces(single_pieces const&) = delete;
  single_pieces& operator=(single_pieces const&) = delete;

 private:
  static constexpr filch::detail::piece_observer k_observer{nullptr, nullptr, true};
};

/// Runs one stretch, as the engine does.
template <class Piece> void run_stretch_of(Piece& piece, std::size_t first, std::size_t last) {
  auto&& runner = filch::detail::runner_of(piece, first);
  runner.run(first, last);
  filch::detail::keep_runner(piece, runner, last);
}

/// Calls body(n) for the lengths at which an algorithm may go wrong: around the bounds of stretches.
template <class Body> void for_lengths(Body body) {
  for (std::size_t n : {0u, 1u, 2u, 3u, 5u, 21u, 22u, 63u, 64u, 65u, 127u, 128u, 129u, 1000u, 10'000u}) {
    SCOPED_TRACE(n);
    body(n);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

/// Calls body(n) for lengths, inside pools of 1 and 3 workers, as usual and in pieces of one iteration; and outside.
template <class S, class Body> void in_every_pool(Body body) {
  for (unsigned workers : {1u, 3u}) {
    SCOPED_TRACE(workers);
    typename S::pool pool({.workers = workers});
    // Not the other way round: the trace belongs to a thread, and the code in the pool may change its thread.
    auto const in_pool = [&](std::size_t n) { pool.run([&] { body(n); }); };
    for_lengths(in_pool);
    SCOPED_TRACE("pieces of one iteration");
    single_pieces const all;
    for_lengths(in_pool);
  }
  SCOPED_TRACE("outside");
  body(std::size_t{1000});
}

/// n numbers, the same in each run.
inline std::vector<int> numbers(std::size_t n, int lowest = -1000, int highest = 1000) {
  std::mt19937 random(static_cast<unsigned>(n) + 17);
  std::uniform_int_distribution<int> one(lowest, highest);
  std::vector<int> v(n);
  for (int& x : v) x = one(random);
  return v;
}

/// A number with an explicit conversion from int that is wrong, and an implicit one that is right.
struct converted_long {
  long x;
  converted_long(long value) : x(value) {}
  explicit converted_long(int value) : x(value + 1'000'000) {}
  friend converted_long operator+(converted_long a, converted_long b) { return a.x + b.x; }
  friend bool operator==(converted_long a, long b) { return a.x == b; }
};

}  // namespace filch_test

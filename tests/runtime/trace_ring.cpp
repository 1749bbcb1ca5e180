// A ring of events is read while its worker opens it and adds (src/runtime/trace.md).
#include "runtime/trace/ring.hpp"

#include "scale.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace filch_test {
namespace {

namespace trace = filch::runtime::trace;

TEST(trace_rings, are_read_while_they_are_opened_and_filled) {
  constexpr std::size_t k_room = 64;
  constexpr std::uint64_t k_events = 1'000;
  for (std::size_t round = 0; round < scaled(200); ++round) {
    trace::ring ring;
    std::atomic<bool> reads{false};
    std::thread worker([&] {
      while (!reads) {
      }
      ring.open(k_room);
      for (std::uint64_t i = 0; i < k_events; ++i) ring.add(i, ~i);
    });
    std::uint64_t seen = 0;
    do {
      std::vector<trace::event> events;
      std::uint64_t const before = ring.read(3, events);
      reads = true;
      std::size_t whole = 0;
      for (trace::event const& e : events) whole += e.time == before + whole && e.word == ~e.time ? 1U : 0U;
      EXPECT_EQ(whole, events.size());
      EXPECT_LE(events.size(), k_room);
      EXPECT_GE(before + events.size(), seen);
      seen = before + events.size();
    } while (seen < k_events);
    worker.join();
    ring.close(3);
    std::vector<trace::event> kept;
    EXPECT_EQ(ring.read(3, kept) + kept.size(), k_events);
    EXPECT_EQ(kept.size(), k_room - 1) << "the next event would take the oldest one's slot";
  }
}

}  // namespace
}  // namespace filch_test

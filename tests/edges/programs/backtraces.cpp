// Code for a debugger to stop in: both sides of a join, one of them stolen, each below frames of its own.
#include "programs/scenario.hpp"

extern "C" {
[[gnu::noinline]] void filch_test_stops(int side);
[[gnu::noinline]] void filch_test_below(int depth, void (*call)(void*), void* argument);

void filch_test_stops(int side) { asm volatile("" : : "r"(side) : "memory"); }

void filch_test_below(int depth, void (*call)(void*), void* argument) {
  depth > 1 ? filch_test_below(depth - 1, call, argument) : call(argument);
  asm volatile("" ::: "memory");  // its frame is there until the call has returned
}
}

namespace filch_test {
namespace {

template <class F> void below(int depth, F f) {
  filch_test_below(depth, [](void* p) { (*static_cast<F*>(p))(); }, &f);
}

/// Stops on a thread whose stack may lie above or below those of workers.
template <class S> void stop_on_both_sides(int) {
  typename S::pool pool({.workers = 2});
  std::thread([&] {
    pool.run([] {
      below(4, [] { join_stolen<S>([] { filch_test_stops(1); }, [] { below(2, [] { filch_test_stops(2); }); }); });
    });
  }).join();
}

scenario const direct{"stop-direct", &stop_on_both_sides<filch::direct>};
scenario const channel{"stop-channel", &stop_on_both_sides<filch::channel>};
#if FILCH_HAS_CACTUS
scenario const cactus{"stop-cactus", &stop_on_both_sides<filch::cactus>};
scenario const implicit{"stop-implicit", &stop_on_both_sides<filch::implicit>};
#endif

}  // namespace
}  // namespace filch_test

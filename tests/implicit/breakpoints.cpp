// A debugger or a probe sets a breakpoint in a landing pad. Joins stay correct; a join with such a pad runs in order.
#include "schedulers/implicit/unwind/pad_reader.hpp"
#include "schedulers/implicit/unwind/walk.hpp"
#include "stealing.hpp"

#include <sys/mman.h>
#include <unistd.h>
#include <unwind.h>

#include <chrono>
#include <thread>
#include <utility>

namespace filch_test {
namespace {

using S = filch::implicit;

/// As long as this lives, the byte of code at this address is a breakpoint.
class breakpoint {
 public:
  explicit breakpoint(std::uint64_t at) : at_(reinterpret_cast<unsigned char*>(at)) { put(0xcc); }
  breakpoint(breakpoint const&) = delete;
  breakpoint& operator=(breakpoint const&) = delete;
  ~breakpoint() { put(was_); }

 private:
  // ThreadSanitizer has no shadow for code.
  __attribute__((no_sanitize("thread"))) void put(unsigned char code) {
    auto const page = static_cast<std::size_t>(getpagesize());
    auto* const from = at_ - reinterpret_cast<std::uintptr_t>(at_) % page;
    ASSERT_EQ(mprotect(from, 2 * page, PROT_READ | PROT_WRITE | PROT_EXEC), 0);
    was_ = *at_;
    *at_ = code;
    ASSERT_EQ(mprotect(from, 2 * page, PROT_READ | PROT_EXEC), 0);
  }
  unsigned char* at_;
  unsigned char was_ = 0;
};

/// The landing pad of the innermost join frame that the caller is called from.
[[gnu::noinline]] std::uint64_t innermost_pad() {
  std::uint64_t pad = 0;
  _Unwind_Backtrace(
      [](_Unwind_Context* context, void* found) {
        auto& to = *static_cast<std::uint64_t*>(found);
        filch::detail::call_frame_scratch scratch;
        auto const f = filch::detail::find_call_frame(_Unwind_GetIP(context), true, scratch);
        // Other functions have pads, too, which no thief enters.
        if (to == 0 && f.pad_is != filch::detail::pad_use::unfit) to = f.pad;
        return _URC_NO_REASON;
      },
      &pad);
  return pad;
}

/// A join in a function of its own. Returns in is_beside whether g ran on another thread than f.
template <class F> [[gnu::noinline]] int join_once(F f, bool& is_beside) {
  std::thread::id const here = std::this_thread::get_id();
  auto const [a, b] = filch::join<S>([&] { return f(); },
                                     [&] {
                                       is_beside = std::this_thread::get_id() != here;
                                       return 2;
                                     });
  return a + b;
}

class a_breakpoint_in_a_landing_pad : public ::testing::Test {
 protected:
  /// f must run long enough for a thief to find the offer.
  template <class F> bool run_once(F f) {
    bool is_beside = false;
    pool_.run([&] {
      wait_for_thief<S>();
      EXPECT_EQ(join_once(f, is_beside), 3);
    });
    return is_beside;
  }
  S::pool pool_{{.workers = 2}};
};

int slow_one(std::uint64_t* pad) {
  if (pad) *pad = innermost_pad();
  auto const until = std::chrono::steady_clock::now() + std::chrono::microseconds(200);
  while (std::chrono::steady_clock::now() < until) {
  }
  return 1;
}

TEST_F(a_breakpoint_in_a_landing_pad, sends_no_thief_there) {
  std::uint64_t pad = 0;
  auto const join = [&] { return run_once([&] { return slow_one(&pad); }); };
  EXPECT_TRUE(eventually([&] { return join(); }));  // the pad is known and readable
  ASSERT_NE(pad, 0u);
  auto const steals = pool_.stats().steals;
  {
    breakpoint const here(pad);
    unsigned beside = 0;
    for (int i = 0; i < 50; ++i) beside += join() ? 1 : 0;
    // A victim that knows the pad as readable offers the frame, and the thief gives it back. Then this victim's next
    // walk sees the breakpoint. Under forced steals the code may continue on the thief's thread, as another victim.
    EXPECT_LE(beside, FILCH_TEST_FORCED ? 4u : 0u);
    EXPECT_LE(pool_.stats().steals - steals, 4u);
  }
  EXPECT_TRUE(eventually([&] { return join(); }));
}

TEST_F(a_breakpoint_in_a_landing_pad, is_seen_by_a_thread_that_has_kept_the_pad) {
  std::uint64_t pad = 0;
  run_once([&] { return slow_one(&pad); });
  ASSERT_NE(pad, 0u);
  if (!filch::detail::can_read_pad(pad)) GTEST_SKIP() << "not optimised: its owner runs the pad";
  filch::detail::pad_cache cache;
  auto const* const moves = cache.find(pad);
  ASSERT_NE(moves, nullptr);
  std::size_t const count = moves->count;
  EXPECT_GT(count, 0u);
  EXPECT_EQ(cache.find(pad), moves);
  {
    breakpoint const here(pad);
    EXPECT_EQ(cache.find(pad), nullptr);
  }
  ASSERT_NE(cache.find(pad), nullptr);
  EXPECT_EQ(cache.find(pad)->count, count);
}

}  // namespace
}  // namespace filch_test

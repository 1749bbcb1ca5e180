// Exception and call-frame tables of code that is not this program's: other languages, libraries, other namespaces.
#include "schedulers/implicit/unwind/tables.hpp"
#include "scale.hpp"
#include "schedulers/implicit/unwind/walk.hpp"
#include "stealing.hpp"

#include <dlfcn.h>
#include <stdlib.h>

#include <array>
#include <memory>

extern "C" void filch_test_call_as_other_language(void (*call)(void*), void* argument);

namespace filch_test {
namespace {

using S = filch::implicit;

long fib(long n) {
  if (n < 2) return n;
  auto const [a, b] = filch::join<S>([n] { return fib(n - 1); }, [n] { return fib(n - 2); });
  return a + b;
}

TEST(tables, of_other_languages_have_no_types_of_ours) {
  S::pool pool({.workers = 2});
  EXPECT_TRUE(eventually([&] {
    long result = 0;
    pool.run(
        [&result] { filch_test_call_as_other_language([](void* p) { *static_cast<long*>(p) = fib(20); }, &result); });
    EXPECT_EQ(result, 6765);
    return pool.stats().steals >= 10;
  }));
}

/// Addresses in the program's code.
std::uint64_t return_address(std::uint64_t offset) { return reinterpret_cast<std::uint64_t>(&fib) + 1 + offset; }

/// Addresses whose low bits are the same, as those of frames anywhere in a process may be.
TEST(tables, of_the_frames_of_a_walk_are_decoded_once) {
  constexpr std::uint64_t k_frames = 8;
  for (std::uint64_t const stride : {64u, 128u}) {
    SCOPED_TRACE(stride);
    auto const cache = std::make_unique<filch::detail::sized_call_frame_cache<64>>();
    for (int walk = 0; walk < 3; ++walk) {
      for (std::uint64_t i = 0; i < k_frames; ++i)
        EXPECT_EQ(cache->at(return_address(i * stride)).ip, return_address(i * stride));
    }
    EXPECT_EQ(cache->decoded(), k_frames);
  }
}

TEST(tables, of_more_frames_than_the_cache_holds_are_right) {
  constexpr std::uint64_t k_frames = 500;
  auto const cache = std::make_unique<filch::detail::sized_call_frame_cache<64>>();
  auto const scratch = std::make_unique<filch::detail::call_frame_scratch>();
  for (int walk = 0; walk < 3; ++walk) {
    for (std::uint64_t i = 0; i < k_frames; ++i) {
      std::uint64_t const ip = return_address(i * 8);
      auto const right = filch::detail::find_call_frame(ip, true, *scratch);
      auto const& found = cache->at(ip);
      EXPECT_EQ(found.ip, ip);
      EXPECT_EQ(found.frame_address_offset, right.frame_address_offset);
      EXPECT_EQ(found.saves, right.saves);
      EXPECT_EQ(&cache->at(ip), &found) << "it went out while its set had a place";
    }
  }
  EXPECT_GE(cache->decoded(), 2 * k_frames);
  cache->forget_all();
  // Not what an empty entry holds.
  EXPECT_EQ(cache->at(0).frame_address_is, filch::detail::call_frame::base::none);
}

#if !FILCH_TEST_ASAN && !FILCH_TEST_TSAN  // whose runtimes replace qsort, and do not bear a second C library
/// Walks in calls of the C library's qsort, each in a comparison of the one before.
struct walk_in_library {
  filch::detail::call_frame_cache& cache;
  int depth;
  std::size_t frames = 0;

  void go() {
    if (depth == 0) return walk();
    --depth;
    std::array<int, 2> two{};  // one comparison
    static walk_in_library* me;
    me = this;
    qsort(two.data(), two.size(), sizeof(int), [](void const*, void const*) {
      me->go();
      return 0;
    });
  }
  void walk() {
    filch::detail::frame_registers here;
    filch_implicit_registers(&here);
    filch::detail::stack_bounds const above{here[filch::detail::frame_registers::rsp], ~std::uint64_t{0}};
    filch::detail::call_frame const* f = &cache.at(here.ip);
    for (frames = 0; filch::detail::step(here, *f, above); ++frames)
      f = &cache.caller_of(const_cast<filch::detail::call_frame&>(*f), here.ip);
  }
};

TEST(tables, of_libraries_are_compared_once_in_a_walk) {
  auto const cache = std::make_unique<filch::detail::sized_call_frame_cache<1024>>();
  std::array<std::uint64_t, 2> checks{};
  for (std::size_t i = 0; i < checks.size(); ++i) {
    int const depth = i == 0 ? 2 : 50;
    walk_in_library w{*cache, depth};
    w.go();
    EXPECT_GE(w.frames, static_cast<std::size_t>(2 * depth)) << "the library has no tables";
    std::uint64_t const before = cache->checks();
    walk_in_library{*cache, depth}.go();
    checks[i] = cache->checks() - before;
  }
  EXPECT_GT(checks[0], 0u);
  EXPECT_EQ(checks[0], checks[1]);
}

TEST(tables, of_another_namespace_are_not_the_programs) {
  void* const library = dlmopen(LM_ID_NEWLM, "libm.so.6", RTLD_NOW);
  ASSERT_NE(library, nullptr) << dlerror();
  auto const code = [](void const* f) { return reinterpret_cast<std::uint64_t>(f); };
  filch::detail::function_tables tables;
  bool is_in_program = true;
  EXPECT_TRUE(filch::detail::find_tables(code(dlsym(library, "fma")), tables, is_in_program));
  EXPECT_FALSE(is_in_program);
  EXPECT_TRUE(filch::detail::find_tables(code(reinterpret_cast<void const*>(&fib)), tables, is_in_program));
  EXPECT_TRUE(is_in_program);
  dlclose(library);
}
#endif

}  // namespace
}  // namespace filch_test

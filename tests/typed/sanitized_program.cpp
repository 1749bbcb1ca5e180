// A program that is built with AddressSanitizer, over a library that was built without one: it is told of every
// change of stacks, so nothing that it reports is false.
#include "stealing.hpp"

#include <array>
#include <csetjmp>
#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <vector>

namespace filch_test {
namespace {

static_assert(FILCH_TEST_ASAN, "this file is for -fsanitize=address");

template <class S> class sanitized_program : public ::testing::Test {};
TYPED_TEST_SUITE(sanitized_program, all_schedulers, scheduler_names);

void escape(void* p) { asm volatile("" : : "r"(p) : "memory"); }

/// Throws from below `depth` frames, each with a variable that has poison around it.
[[gnu::noinline]] void throw_from(int depth) {
  std::array<char, 256> local;
  escape(local.data());
  if (depth == 0) throw std::runtime_error("thrown");
  throw_from(depth - 1);
  escape(local.data());
}
/// The same with longjmp.
[[gnu::noinline]] void jump_from(int depth, std::jmp_buf& to) {
  std::array<char, 256> local;
  escape(local.data());
  if (depth == 0) std::longjmp(to, 1);
  if (depth > 0) jump_from(depth - 1, to);
  escape(local.data());
}
/// Writes to all that such frames may have left behind.
[[gnu::noinline]] void write_below() {
  std::array<char, 16384> local;
  escape(local.data());
  std::memset(local.data(), 0, local.size());
  escape(local.data());
}

TYPED_TEST(sanitized_program, reuses_stack_that_an_exception_passed) {
  typename TypeParam::pool pool({.workers = 1});
  pool.run([] {
    for (int depth = 0; depth < 20; ++depth) {
      EXPECT_THROW(filch::join<TypeParam>([=] { throw_from(depth); }, [] {}), std::runtime_error);
      write_below();
      EXPECT_THROW(filch::join<TypeParam>([] {}, [=] { throw_from(depth); }), std::runtime_error);
      write_below();
      EXPECT_THROW(filch::scope<TypeParam>([=](auto& s) { s.spawn([=] { throw_from(depth); }); }),
                   std::runtime_error);
      write_below();
    }
  });
  write_below();
}

TYPED_TEST(sanitized_program, reuses_stack_that_longjmp_passed) {
  typename TypeParam::pool pool({.workers = 1});
  pool.run([] {
    for (int depth = 0; depth < 20; ++depth) {
      filch::join<TypeParam>(
          [=] {
            std::jmp_buf here;
            if (setjmp(here) == 0) jump_from(depth, here);
            write_below();
          },
          [] { write_below(); });
    }
  });
}

TYPED_TEST(sanitized_program, reuses_stacks_of_stolen_tasks_that_threw) {
  if constexpr (steals<TypeParam>) {
    typename TypeParam::pool pool({.workers = 2});
    for (std::size_t i = 0; i < scaled(1000); ++i) {
      int const depth = static_cast<int>(i % 20);
      pool.run([=] {
        EXPECT_THROW(stolen_join<TypeParam>{}([] { write_below(); }, [=] { throw_from(depth); }), std::runtime_error);
        write_below();
        EXPECT_THROW(stolen_join<TypeParam>{}([=] { throw_from(depth); }, [] { write_below(); }), std::runtime_error);
        write_below();
      });
      write_below();
    }
  }
}

TYPED_TEST(sanitized_program, throws_after_its_frame_waited) {
  if constexpr (steals<TypeParam>) {
    typename TypeParam::pool pool({.workers = 2});
    for (std::size_t i = 0; i < scaled(1000); ++i) {
      pool.run([] {
        std::array<char, 64> local;
        escape(local.data());
        join_with_late_thief<TypeParam>();  // its code may continue on another thread
        std::memset(local.data(), 0, local.size());
        EXPECT_THROW(throw_from(10), std::runtime_error);
        write_below();
      });
      EXPECT_THROW(throw_from(10), std::runtime_error);
      write_below();
    }
  }
}

TYPED_TEST(sanitized_program, throws_in_a_pool_in_a_pool) {
  typename TypeParam::pool outer({.workers = 2});
  outer.run([] {
    for (int i = 0; i < 20; ++i) {
      typename TypeParam::pool inner({.workers = 2});
      EXPECT_THROW(inner.run([] { throw_from(10); }), std::runtime_error);
      EXPECT_THROW(throw_from(10), std::runtime_error);
      write_below();
    }
  });
}

/// Each pool may get the memory of the one before.
TYPED_TEST(sanitized_program, makes_pools_at_the_addresses_of_others) {
  for (std::size_t i = 0; i < scaled(400); ++i) {
    typename TypeParam::pool pool({.workers = 2, .stack_size = std::size_t{1} << 16});
    EXPECT_THROW(pool.run([] {
      filch::join<TypeParam>([] { write_below(); }, [] { write_below(); });
      throw_from(10);
    }),
                 std::runtime_error);
    std::vector<char> where_stacks_were(std::size_t{1} << 20);
    escape(where_stacks_were.data());
  }
}

}  // namespace
}  // namespace filch_test

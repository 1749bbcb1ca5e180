// Joins on stacks of a program's own, as coroutines have: beside the pool's stacks, or in a frame of a task.
#include "scale.hpp"
#include "schedulers.hpp"
#include "stealing.hpp"

#include <sys/mman.h>
#include <ucontext.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace filch_test {
namespace {

/// Code that runs on a stack of its own, and comes back between its steps.
class coroutine {
 public:
  template <class Body> coroutine(std::byte* low, std::size_t bytes, Body& body) {
    getcontext(&inside_);
    inside_.uc_stack.ss_sp = low;
    inside_.uc_stack.ss_size = bytes;
    inside_.uc_link = &outside_;
    body_ = &body;
    call_ = [](void* b, coroutine& self) { (*static_cast<Body*>(b))(self); };
    makecontext(&inside_, reinterpret_cast<void (*)()>(&begin), 2, half(this, 0), half(this, 1));
  }
  coroutine(coroutine const&) = delete;
  coroutine& operator=(coroutine const&) = delete;
  ~coroutine() = default;

  [[gnu::noinline]] void resume() { swapcontext(&outside_, &inside_); }
  [[gnu::noinline]] void yield() { swapcontext(&inside_, &outside_); }

 private:
  static unsigned half(coroutine* c, int which) {
    return static_cast<unsigned>(reinterpret_cast<std::uint64_t>(c) >> 32 * which);
  }
  static void begin(unsigned low, unsigned high) {
    auto& self = *reinterpret_cast<coroutine*>(std::uint64_t{high} << 32 | low);
    self.call_(self.body_, self);
  }

  ucontext_t outside_{};
  ucontext_t inside_{};
  void* body_ = nullptr;
  void (*call_)(void*, coroutine&) = nullptr;
};

/// A stack in pages of its own.
class mapped_stack {
 public:
  explicit mapped_stack(std::size_t bytes)
      : bytes_(bytes),
        low_(static_cast<std::byte*>(
            mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {}
  mapped_stack(mapped_stack const&) = delete;
  mapped_stack& operator=(mapped_stack const&) = delete;
  ~mapped_stack() { munmap(low_, bytes_); }
  std::byte* low() const { return low_; }

 private:
  std::size_t bytes_;
  std::byte* low_;
};

/// Writes to so many bytes of stack, in frames that return.
[[gnu::noinline]] void touch(std::size_t bytes) {
  char volatile room[1024];
  for (char volatile& c : room) c = 1;
  if (bytes > sizeof room) touch(bytes - sizeof room);
}

template <class S> class own_stacks : public ::testing::Test {
 protected:
  /// A join whose thief comes last, so that the owner waits in it, and sleeps or leaves its stack.
  static long join_that_waits(typename S::pool& pool) {
    if constexpr (!steals<S>) {
      auto const [a, b] = filch::join<S>([] { return 1L; }, [] { return 2L; });
      return a + b;
    } else {
      auto const waits = [&] { return pool.stats().sleeps + pool.stats().suspensions; };
      gate begun;
      gate owner_goes_on;
      bool in_order = false;
      std::uint64_t before = 0;
      eventually([] { return S::wanted(); }, std::chrono::milliseconds(20));
      auto const [a, b] = filch::join<S>(
          [&] {
            in_order = !eventually([&] { return begun.is_open(); }, std::chrono::milliseconds(20));
            before = waits();
            owner_goes_on.open();
            return 1L;
          },
          [&] {
            begun.open();
            EXPECT_TRUE(owner_goes_on.pass());
            if (!in_order) {
              eventually([&] { return waits() > before; }, std::chrono::milliseconds(200));
              work_for(std::chrono::milliseconds(1));
            }
            return 2L;
          });
      return a + b;
    }
  }
  /// Runs three steps of a coroutine on [low, low + bytes), each with some joins; frames with something in them lie
  /// below the caller's.
  [[gnu::noinline]] static void run_steps(typename S::pool& pool, std::byte* low, std::size_t bytes) {
    std::array<long, 2000> precious;
    for (std::size_t i = 0; i < precious.size(); ++i) precious[i] = static_cast<long>(i);
    asm volatile("" : "+m"(precious));
    std::vector<long> sums;
    auto body = [&](coroutine& self) {
      for (int step = 0; step < 3; ++step) {
        touch(64 * 1024);
        long sum = join_that_waits(pool);
        filch::scope<S>([&](auto& s) {
          for (int i = 0; i < 10; ++i) s.spawn([] { work_for(std::chrono::microseconds(10)); });
        });
        std::atomic<long> counted{0};
        filch::for_index<S>(0, 100, [&](int) { ++counted; });
        sums.push_back(sum + counted);
        self.yield();
      }
    };
    auto const generator = std::make_unique<coroutine>(low, bytes, body);
    for (int step = 0; step < 3; ++step) {
      generator->resume();
      EXPECT_EQ(join_that_waits(pool), 3);
    }
    EXPECT_EQ(sums, (std::vector<long>{103, 103, 103}));
    for (std::size_t i = 0; i < precious.size(); ++i) ASSERT_EQ(precious[i], static_cast<long>(i));
  }

  template <std::size_t Bytes> [[gnu::noinline]] static void run_steps_in_a_frame(typename S::pool& pool) {
    alignas(64) std::array<std::byte, Bytes> stack;
    asm volatile("" : : "r"(stack.data()) : "memory");
    run_steps(pool, stack.data(), stack.size());
  }
};
TYPED_TEST_SUITE(own_stacks, all_schedulers, scheduler_names);

TYPED_TEST(own_stacks, beside_the_pool_s_may_join) {
  if (is_sanitized) GTEST_SKIP() << "sanitizers are not told of stacks like that";
  std::vector<std::unique_ptr<mapped_stack>> some;  // above and below the pool's
  auto const make_some = [&] {
    for (int i = 0; i < 8; ++i) some.push_back(std::make_unique<mapped_stack>(256 * 1024));
  };
  make_some();
  typename TypeParam::pool pool({.workers = 2});
  make_some();
  for (auto const& stack : some) {
    pool.run([&] {
      touch(512 * 1024);
      this->run_steps(pool, stack->low(), 256 * 1024);
    });
  }
}

TYPED_TEST(own_stacks, in_a_task_s_frame_may_join) {
  if (is_sanitized) GTEST_SKIP() << "sanitizers are not told of stacks like that";
  typename TypeParam::pool pool({.workers = 2, .stack_size = 16 << 20});
  for (std::size_t i = 0; i < scaled(3); ++i) {
    pool.run([&] {
      touch(2 << 20);
      this->template run_steps_in_a_frame<128 * 1024>(pool);
    });
    pool.run([&] { this->template run_steps_in_a_frame<1024 * 1024>(pool); });
  }
}

/// A scope with tasks that wait, and joins on a stack in the frame of its body.
template <class S> [[gnu::noinline]] void join_in_a_frame_below_a_scope(std::atomic<int>& ran) {
  alignas(64) std::array<std::byte, 128 * 1024> stack;
  asm volatile("" : : "r"(stack.data()) : "memory");
  auto body = [&](coroutine& self) {
    for (int i = 0; i < 3; ++i) {
      filch::join<S>(
          [&] {
            for (int k = 0; k < 20; ++k) filch::join<S>([] { work_for(std::chrono::microseconds(20)); }, [] {});
            ++ran;
          },
          [&] { ++ran; });
    }
    self.yield();
  };
  filch::scope<S>([&](auto& s) {
    for (int i = 0; i < 6; ++i) {
      s.spawn([&] {
        work_for(std::chrono::microseconds(100));
        ++ran;
      });
    }
    auto const generator = std::make_unique<coroutine>(stack.data(), stack.size(), body);
    generator->resume();
  });
}

TYPED_TEST(own_stacks, in_a_task_s_frame_may_join_while_tasks_of_a_scope_wait) {
  if (is_sanitized) GTEST_SKIP() << "sanitizers are not told of stacks like that";
  typename TypeParam::pool pool({.workers = 2});
  for (std::size_t i = 0; i < scaled(50); ++i) {
    std::atomic<int> ran{0};
    pool.run([&] { join_in_a_frame_below_a_scope<TypeParam>(ran); });
    ASSERT_EQ(ran, 12);
  }
}

TYPED_TEST(own_stacks, keep_exceptions_of_a_scope_s_tasks_until_its_end) {
  if (is_sanitized) GTEST_SKIP() << "sanitizers are not told of stacks like that";
  mapped_stack const stack(256 * 1024);
  typename TypeParam::pool pool({.workers = 2});
  int caught = 0;
  bool ran = false;
  auto body = [&](coroutine& self) {
    try {
      filch::scope<TypeParam>([&](auto& s) {
        s.spawn([] { throw 7; });
        s.spawn([&] { ran = true; });
      });
    } catch (int e) {
      caught = e;
    }
    self.yield();
  };
  pool.run([&] {
    coroutine generator(stack.low(), 256 * 1024, body);
    generator.resume();
  });
  EXPECT_EQ(caught, 7);
  EXPECT_TRUE(ran);
}

TYPED_TEST(own_stacks, of_callers_may_join_through_the_default_pool) {
  if (is_sanitized) GTEST_SKIP() << "sanitizers are not told of stacks like that";
  mapped_stack const stack(256 * 1024);
  long sum = 0;
  auto body = [&](coroutine& self) {
    auto const [a, b] = filch::join<TypeParam>([] { return 1L; }, [] { return 2L; });
    sum = a + b;
    self.yield();
  };
  coroutine generator(stack.low(), 256 * 1024, body);
  generator.resume();
  EXPECT_EQ(sum, 3);
}

}  // namespace
}  // namespace filch_test

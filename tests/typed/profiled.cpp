// Profilers: in a signal handler, at 2 kHz, while tasks are stolen and fibers change threads, a walk over the stack
// gets from each task to the function that entered the pool, or to the beginning of the worker's thread. One walk is
// the unwinder's, one goes by frame pointers.
#include "known_frame.hpp"
#include "stealing.hpp"
#include "unwinder.hpp"

#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <thread>
#include <vector>

extern "C" {
void filch_call_on_stack();
extern char const __executable_start[];
extern char const etext[];
}

namespace filch_test {
namespace {

template <class F> std::uintptr_t address(F* f) { return reinterpret_cast<std::uintptr_t>(f); }
std::uintptr_t function_of(std::uintptr_t return_address) {
  return address(_Unwind_FindEnclosingFunction(reinterpret_cast<void*>(return_address)));
}

/// Is the calling thread below known_frame()?
thread_local std::atomic<bool> is_in_known_frame{false};

template <class S> [[gnu::noinline]] long fib(long n) {
  asm volatile("");  // not a pure function, which would be called once
  if (n < 2) return n;
  auto const [a, b] = filch::join<S>([=] { return fib<S>(n - 1); }, [=] { return fib<S>(n - 2); });
  return a + b;
}

constexpr std::size_t k_most_frames = 512;

struct walk {
  std::size_t frames = 0;
  bool has_task = false;  // it has a task's frame
  bool has_home = false;  // it passes from a worker's stack to its thread's
  bool has_known = false;
  bool has_end = false;  // the oldest frame says that it is

  void add(std::uintptr_t function, std::uintptr_t task) {
    ++frames;
    has_task = has_task || function == task;
    has_home = has_home || function == address(&filch_call_on_stack);
    has_known = has_known || function == address(&known_frame);
  }
};

std::atomic<std::uintptr_t> task_function{0};
std::atomic<std::size_t> whole{0};
std::atomic<std::size_t> truncated{0};
std::atomic<std::size_t> whole_by_pointers{0};
std::atomic<std::size_t> truncated_by_pointers{0};
std::atomic<std::uintptr_t> one_truncated{0};  // the address of an instruction

[[gnu::noinline]] walk by_unwinder() {
  walk w;
  _Unwind_Backtrace(
      [](_Unwind_Context* context, void* p) {
        auto& all = *static_cast<walk*>(p);
        int is_exact = 0;
        std::uintptr_t const ip = _Unwind_GetIPInfo(context, &is_exact);
        all.has_end = ip == 0;
        if (ip != 0) all.add(function_of(is_exact ? ip + 1 : ip), task_function.load());
        return all.frames == k_most_frames ? _URC_END_OF_STACK : _URC_NO_REASON;
      },
      &w);
  return w;
}

/// Walks as perf does: it ends at an unmapped address.
[[gnu::noinline]] walk by_pointers(ucontext_t const& c) {
  walk w;
  struct frame {
    std::uintptr_t next;
    std::uintptr_t return_address;
  } f{static_cast<std::uintptr_t>(c.uc_mcontext.gregs[REG_RBP]), 0};
  w.add(function_of(static_cast<std::uintptr_t>(c.uc_mcontext.gregs[REG_RIP]) + 1), task_function.load());
  while (w.frames != k_most_frames) {
    iovec const here{&f, sizeof f};
    iovec const there{reinterpret_cast<void*>(f.next), sizeof f};
    if (process_vm_readv(getpid(), &here, 1, &there, 1, 0) != sizeof f || f.return_address == 0) break;
    w.add(function_of(f.return_address), task_function.load());
  }
  return w;
}

/// On the caller's thread a walk comes to the known frame; on another one, from a task, over the worker's own stack.
bool is_whole(walk const& w) { return is_in_known_frame.load() ? w.has_known : w.has_home || !w.has_task; }

void on_profile(int, siginfo_t*, void* context) {
  int const error = errno;
  auto const& c = *static_cast<ucontext_t const*>(context);
  walk const w = by_unwinder();
  if (is_whole(w) && w.has_end) {
    if (w.has_task) whole.fetch_add(1);
  } else {
    truncated.fetch_add(1);
  }
  // The C library has no frame pointers.
  auto const ip = static_cast<std::uintptr_t>(c.uc_mcontext.gregs[REG_RIP]);
  if (ip >= address(__executable_start) && ip < address(etext)) {
    walk const p = by_pointers(c);
    if (!is_whole(p)) {
      truncated_by_pointers.fetch_add(1);
      one_truncated.store(ip);
    } else if (p.has_task) {
      whole_by_pointers.fetch_add(1);
    }
  }
  errno = error;
}

/// While this lives, all threads that there are when it begins get SIGPROF 2000 times a second.
class profiler {
 public:
  profiler() {
    struct sigaction mine{};
    mine.sa_sigaction = on_profile;
    mine.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
    sigfillset(&mine.sa_mask);
    sigaction(SIGPROF, &mine, &before_);
    std::vector<int> threads;
    for (auto const& t : std::filesystem::directory_iterator("/proc/self/task"))
      threads.push_back(std::atoi(t.path().filename().c_str()));
    sampler_ = std::thread([this, threads] {
      while (!is_over_.load()) {
        for (int const t : threads) syscall(SYS_tgkill, getpid(), t, SIGPROF);
        std::this_thread::sleep_for(std::chrono::microseconds(500));
      }
    });
  }
  profiler(profiler const&) = delete;
  profiler& operator=(profiler const&) = delete;
  ~profiler() {
    is_over_.store(true);
    sampler_.join();
    signal(SIGPROF, SIG_IGN);  // signals may still be pending
    sigaction(SIGPROF, &before_, nullptr);
  }

 private:
  struct sigaction before_{};
  std::atomic<bool> is_over_{false};
  std::thread sampler_;
};

template <class S> class profiled : public ::testing::Test {};
TYPED_TEST_SUITE(profiled, all_schedulers, scheduler_names);

TYPED_TEST(profiled, tasks_are_traced_to_where_their_threads_begin) {
  if (is_sanitized) GTEST_SKIP() << "sanitizers put handlers off";
  if (!has_exact_walks_in_handlers()) GTEST_SKIP() << "LLVM's unwinder loses its way in handlers";
  task_function.store(address(&fib<TypeParam>));
  for (auto* const count : {&whole, &truncated, &whole_by_pointers, &truncated_by_pointers}) count->store(0);
  std::size_t const enough = scaled(500);
  std::uint64_t steals = 0;
  {
    typename TypeParam::pool pool({.workers = 3});
    profiler const at_work;
    EXPECT_TRUE(eventually([&] {
      // Many short calls: fibers begin, are stolen, wait and continue. They call nothing of gtest, which has no frame
      // pointers.
      long sum = 0;
      long calls = 0;
      in_known_frame([&] {
        is_in_known_frame.store(true);
        auto const until = std::chrono::steady_clock::now() + std::chrono::milliseconds(50);
        for (; std::chrono::steady_clock::now() < until; ++calls) sum += pool.run([] { return fib<TypeParam>(16); });
        is_in_known_frame.store(false);
      });
      EXPECT_EQ(sum, calls * 987);
      return whole.load() >= enough && whole_by_pointers.load() >= enough / 2;
    }));
    steals = steals_of<TypeParam>(pool);
  }
  EXPECT_TRUE(steals > 0 || !has_stacks<TypeParam>);
  EXPECT_EQ(truncated.load(), 0u) << "of " << whole.load();
  EXPECT_EQ(truncated_by_pointers.load(), 0u) << "of " << whole_by_pointers.load() << ", at " << std::hex
                                              << one_truncated.load() - address(__executable_start);
}

}  // namespace
}  // namespace filch_test

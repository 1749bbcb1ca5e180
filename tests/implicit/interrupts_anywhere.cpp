// Interrupts may come at any instruction: in trees of joins, in assembly that uses the frame pointer, and during
// backtraces. Their handlers read nothing but the stack. src/schedulers/implicit/protocol.md, edge implicit-5.
#include "scale.hpp"
#include "stealing.hpp"

#include <sys/syscall.h>
#include <unistd.h>
#include <unwind.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <iterator>
#include <stdexcept>
#include <thread>
#include <vector>

namespace filch_test {
namespace {

using S = filch::implicit;

std::atomic<unsigned> nodes_begun{0};  // number, in all trees

/// While it lives, sends the library's signal to the thread that made it, again and again. The pause after a signal
/// is longer if no node of a tree has begun since the last one: a handler may take as long as the short pause, and
/// the tree must advance.
class storm {
 public:
  storm() : target_(static_cast<pid_t>(syscall(SYS_gettid))), sender_([this] { blow(); }) {}
  storm(storm const&) = delete;
  storm& operator=(storm const&) = delete;
  ~storm() {
    over_.store(true);
    sender_.join();
  }

 private:
  void blow() {
    while (!over_.load()) {
      unsigned const before = nodes_begun.load();
      syscall(SYS_tgkill, getpid(), target_, SIGURG);
      for (int i = 0; i < 200 || (i < 2'000 && nodes_begun.load() == before); ++i) __builtin_ia32_pause();
    }
  }
  pid_t target_;
  std::atomic<bool> over_{false};
  std::thread sender_;
};

struct joins_at_the_end {
  long& sum;
  ~joins_at_the_end() {
    auto const [a, b] = filch::join<S>([] { return 1L; }, [] { return 2L; });
    sum += a + b;
  }
};

/// A tree in which every seventh node throws, through joins, scopes and destructors that join.
long tree(int depth, unsigned seed) {
  nodes_begun.fetch_add(1, std::memory_order_relaxed);
  if (depth == 0) return 1;
  unsigned const next = seed * 1664525u + 1013904223u;
  if (next >> 16 & 1) {
    long x = 0;
    long y = 0;
    filch::scope<S>([&](auto& s) {
      s.spawn([&] { x = tree(depth - 1, next); });
      y = tree(depth - 1, next + 1);
    });
    return x + y + 1;
  }
  if ((next >> 8) % 7 == 0) {
    long at_end = 0;
    try {
      joins_at_the_end const guard{at_end};
      filch::join<S>([&]() -> long { throw std::runtime_error("from f"); }, [&] { return tree(depth - 1, next); });
    } catch (std::runtime_error const&) {
      auto const [a, b] =
          filch::join<S>([=] { return tree(depth - 1, next); }, [=] { return tree(depth - 1, next + 1); });
      EXPECT_EQ(at_end, 3);
      return a + b + 1;
    }
    ADD_FAILURE() << "nothing was thrown";
  }
  auto const [a, b] =
      filch::join<S>([=] { return tree(depth - 1, next); }, [=] { return tree(depth - 1, next + 1); });
  return a + b + 1;
}

long nodes(int depth) { return (2L << depth) - 1; }

TEST(interrupts_anywhere, leave_trees_of_joins_right) {
  S::pool{{.workers = 2}};  // installs the handler; a pool of one worker would not
  for (unsigned workers : {1u, 2u, 3u}) {
    SCOPED_TRACE(workers);
    S::pool pool({.workers = workers});
    storm const s;
    unsigned seed = 0;
    EXPECT_TRUE(eventually([&] {
      // Many between two yields: where both threads share a processor, each yield is where the signals come.
      for (unsigned const last = seed + 50; seed != last; ++seed) {
        EXPECT_EQ(pool.run([&] { return tree(9, seed); }), nodes(9)) << "seed " << seed;
      }
      auto const stats = pool.stats();
      // A single worker gets no requests: when a signal comes, it offers what it has.
      bool const has_come = is_thread_sanitized || stats.publications >= scaled(20);
      return seed >= scaled(200) && has_come && (workers == 1 || stats.steals >= scaled(20));
    })) << pool.stats().publications
        << " offers, " << pool.stats().walks << " walks, " << pool.stats().steals << " steals";
  }
}

/// A function with a frame pointer, in which inline assembly uses that register for another value. The thread gets
/// the library's signal at that point.
[[gnu::noinline]] void interrupt_with_frame_pointer(std::uint64_t value, long process, long thread) {
  auto* const scratch = static_cast<char*>(__builtin_alloca(static_cast<std::size_t>(thread % 64 + 64)));
  asm volatile("" : : "r"(scratch) : "memory");
  long call = SYS_tgkill;
  asm volatile(
      "subq $128, %%rsp\n\t"  // the compiler may keep values in the red zone
      "pushq %%rbp\n\t"
      "movq %4, %%rbp\n\t"
      "syscall\n\t"
      "popq %%rbp\n\t"
      "addq $128, %%rsp"
      : "+a"(call)
      : "D"(process), "S"(thread), "d"(long{SIGURG}), "r"(value)
      : "rcx", "r11", "memory", "cc");
}

TEST(interrupts_anywhere, read_nothing_but_the_stack_where_assembly_uses_the_frame_pointer) {
  S::pool{{.workers = 2}};
  S::pool pool({.workers = 1});
  long const thread = syscall(SYS_gettid);
  long const process = getpid();
  pool.run([&] {
    alignas(16) std::uint64_t words[64] = {};
    auto const here = reinterpret_cast<std::uint64_t>(&words[32]);
    for (std::uint64_t& word : words) word = here;  // every word is an address of the stack
    std::uint64_t const nowhere[] = {0,
                                     1,
                                     8,
                                     ~std::uint64_t{0},
                                     ~std::uint64_t{7},
                                     std::uint64_t{1} << 63,
                                     here,
                                     here + 1,
                                     here - (std::uint64_t{1} << 20),
                                     here | 0xffff,
                                     here + (std::uint64_t{1} << 30)};
    for (std::uint64_t value : nowhere) {
      auto const [a, b] = filch::join<S>(
          [&] {
            interrupt_with_frame_pointer(value, process, thread);
            return 1;
          },
          [] { return 2; });
      EXPECT_EQ(a + b, 3);
    }
    EXPECT_EQ(words[0], here);
  });
}

/// The return addresses of a backtrace. On request the library's signal interrupts it at each frame.
class return_addresses {
 public:
  [[gnu::noinline]] void take(bool is_interrupted) {
    all_.clear();
    is_interrupted_ = is_interrupted;
    _Unwind_Backtrace(
        [](_Unwind_Context* context, void* self) { return static_cast<return_addresses*>(self)->add(context); },
        this);
  }
  /// The addresses that both backtraces have. The address of a return barrier may be in one of them only.
  std::vector<std::uintptr_t> common_with(return_addresses const& other) const {
    std::vector<std::uintptr_t> common;
    std::copy_if(all_.begin(), all_.end(), std::back_inserter(common), [&](std::uintptr_t ip) {
      return std::find(other.all_.begin(), other.all_.end(), ip) != other.all_.end();
    });
    return common;
  }

 private:
  _Unwind_Reason_Code add(_Unwind_Context* context) {
    all_.push_back(_Unwind_GetIP(context));
    if (is_interrupted_) syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), SIGURG);
    return _URC_NO_REASON;
  }
  std::vector<std::uintptr_t> all_;
  bool is_interrupted_ = false;
};

/// A function for each depth, with a return address of its own. The sizes of their frames differ.
template <int Depth> [[gnu::noinline]] void nest_functions(auto const& innermost) {
  if constexpr (Depth == 0) {
    innermost();
  } else {
    char volatile room[32 * (Depth % 7) + 16];
    room[0] = 1;
    filch::join<S>([&] { nest_functions<Depth - 1>(innermost); }, [] {});
    room[1] = room[0];
  }
}

TEST(interrupts_anywhere, change_no_word_that_an_unwinder_reads) {
  if constexpr (is_thread_sanitized) GTEST_SKIP() << "no interrupts under ThreadSanitizer";
  if constexpr (steals_are_forced<S>) GTEST_SKIP() << "every frame is offered at its fork";
  constexpr int k_depth = 40;
  S::pool{{.workers = 2}};
  S::pool pool({.workers = 1});
  std::uint64_t most_offers = 0;
  EXPECT_TRUE(eventually([&] {
    pool.run([&] {
      nest_functions<k_depth>([&] {
        return_addresses quiet;
        return_addresses traces[2];
        // One loop, so that all three have the same return addresses. The first one is the reference. Compilers don't
        // know the number, so they don't take the first round out of it.
        return_addresses* const all[] = {&quiet, &traces[0], &traces[1]};
        std::size_t const volatile number = std::size(all);
        auto const before = pool.stats().publications;
        for (std::size_t i = 0; i < number; ++i) all[i]->take(i != 0);
        most_offers = std::max(most_offers, pool.stats().publications - before);
        EXPECT_GE(quiet.common_with(quiet).size(), std::size_t{k_depth});
        for (return_addresses const& t : traces) {
          EXPECT_EQ(t.common_with(quiet), quiet.common_with(quiet));
        }
      });
    });
    return most_offers >= 3 || ::testing::Test::HasFailure();
  })) << most_offers;
}

struct from_f {};

/// The same in a function without a frame pointer, where the register holds a caller's value. It saves no register.
/// It throws, so that the owner of an offered frame enters its landing pad.
[[gnu::noinline]] void interrupt_with_callers_frame_pointer(std::uint64_t value, long process, long thread) {
  long call = SYS_tgkill;
  asm volatile(
      "movq %%rbp, %%xmm15\n\t"
      "movq %4, %%rbp\n\t"
      "syscall\n\t"
      "movq %%xmm15, %%rbp"
      : "+a"(call)
      : "D"(process), "S"(thread), "d"(long{SIGURG}), "r"(value)
      : "rcx", "r11", "xmm15", "memory", "cc");
  throw from_f{};
}

/// A join frame that is addressed through its frame pointer.
[[gnu::noinline]] void join_with_frame_pointer(std::uint64_t value, long process, long thread, int& ran) {
  auto* const scratch = static_cast<char*>(__builtin_alloca(static_cast<std::size_t>(thread % 64 + 64)));
  asm volatile("" : : "r"(scratch) : "memory");
  filch::join<S>([=] { interrupt_with_callers_frame_pointer(value, process, thread); }, [&ran] { ++ran; });
}

TEST(interrupts_anywhere, offer_no_frame_whose_frame_pointer_assembly_uses) {
  S::pool{{.workers = 2}};
  S::pool pool({.workers = 1});
  int ran = 0;
  for (std::uint64_t value : {std::uint64_t{0}, std::uint64_t{8}, ~std::uint64_t{0}}) {
    EXPECT_THROW(pool.run([&] { join_with_frame_pointer(value, getpid(), syscall(SYS_gettid), ran); }), from_f);
  }
  EXPECT_EQ(ran, 3);
}

/// As in Clang's header, rbx holds another value around the instruction. The thread gets the library's signal there.
/// On two pages: the instruction's second byte lies on the next one.
template <bool OnTwoPages> [[gnu::noinline]] void interrupt_around_cpuid(long process, long thread) {
  long call = SYS_tgkill;
  long signal = SIGURG;
  std::uint64_t kept = 0x5a5a5a5a;
  asm volatile(
      "xchgq %%rbx, %1\n\t"
      ".if %c5\n\t"
      "jmp 1f\n\t"
      ".p2align 12\n\t"
      ".skip 4093, 0x90\n"
      "1:\n\t"
      ".endif\n\t"
      "syscall\n\t"
      "cpuid\n\t"
      "xchgq %%rbx, %1"
      : "+a"(call), "+r"(kept), "+d"(signal)
      : "D"(process), "S"(thread), "i"(int{OnTwoPages})
      : "rcx", "r11", "memory", "cc");
  throw from_f{};
}

/// g's captures are in registers that f preserves.
template <bool OnTwoPages> [[gnu::noinline]] void join_around_cpuid(long x, long process, long thread, long& sum) {
  filch::join<S>([=] { interrupt_around_cpuid<OnTwoPages>(process, thread); }, [x, sum = &sum] { *sum += x; });
}

TEST(interrupts_anywhere, do_not_take_results_of_cpuid_for_registers_of_a_frame) {
  S::pool{{.workers = 2}};
  S::pool pool({.workers = 1});
  long sum = 0;
  for (long i = 1; i <= 3; ++i) {
    long const process = getpid();
    long const thread = syscall(SYS_gettid);
    EXPECT_THROW(pool.run([&] { join_around_cpuid<false>(i, process, thread, sum); }), from_f);
    EXPECT_THROW(pool.run([&] { join_around_cpuid<true>(i, process, thread, sum); }), from_f);
  }
  EXPECT_EQ(sum, 12);
}

}  // namespace
}  // namespace filch_test

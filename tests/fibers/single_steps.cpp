// A backtrace is complete before each instruction of the assembly that changes stacks. Threads run step by step
// there, by the processor's trap flag, and each trap looks.
#include "known_frame.hpp"
#include "scale.hpp"
#include "schedulers/implicit/probes.hpp"
#include "stealing.hpp"
#include "unwinder.hpp"

#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <type_traits>

extern "C" {
void filch_switch_stack();
void filch_stack_begins();
void filch_call_on_stack();
void filch_implicit_run_pad();
void filch_implicit_offered();
extern char const filch_implicit_barriers_begin[];
void filch_implicit_barrier_outside();
extern std::uint64_t const filch_implicit_barriers[];

#if !FILCH_TEST_ASAN && !FILCH_TEST_TSAN
/// The library blocks signals where a handler would find the stack in use. Traps run on a stack of their own.
long syscall(long number, ...) noexcept {
  std::va_list list;
  va_start(list, number);
  long a[6];
  for (long& x : a) x = va_arg(list, long);
  va_end(list);
  std::uint64_t but_traps = 0;
  if (number == SYS_rt_sigprocmask && a[1] != 0) {
    but_traps = *reinterpret_cast<std::uint64_t const*>(a[1]) & ~(std::uint64_t{1} << (SIGTRAP - 1));
    a[1] = reinterpret_cast<long>(&but_traps);
  }
  register long fourth asm("r10") = a[3];
  register long fifth asm("r8") = a[4];
  register long sixth asm("r9") = a[5];
  long result = number;
  asm volatile("syscall"
               : "+a"(result)
               : "D"(a[0]), "S"(a[1]), "d"(a[2]), "r"(fourth), "r"(fifth), "r"(sixth)
               : "rcx", "r11", "memory");
  if (result >= -4095 && result < 0) {
    errno = static_cast<int>(-result);
    return -1;
  }
  return result;
}
int pthread_sigmask(int how, sigset_t const* set, sigset_t* old) noexcept {
  constexpr std::size_t k_kernels_set = 8;
  return syscall(SYS_rt_sigprocmask, how, set, old, k_kernels_set) == 0 ? 0 : errno;
}
#endif
}

namespace filch_test {
namespace {

enum place : unsigned { switch_stack, call_on_stack, run_pad, offered, barrier_outside, barrier, elsewhere };
constexpr unsigned k_places = elsewhere;
constexpr std::size_t k_most_bytes = 8192;

/// The instructions that were seen, as offsets.
using marks = std::array<std::atomic<bool>, k_most_bytes>;

std::array<marks, k_places> seen;
std::atomic<unsigned> incomplete{0};
std::atomic<unsigned> one_incomplete{~0u};  // place and offset
std::atomic<bool> is_over{true};            // no thread steps any more
std::atomic<bool> fibers_are_known{false};

template <class F> std::uintptr_t address(F* f) { return reinterpret_cast<std::uintptr_t>(f); }

/// The start of the function that the instruction is in, by its call-frame information.
std::uintptr_t function_at(std::uintptr_t instruction) {
  return address(_Unwind_FindEnclosingFunction(reinterpret_cast<void*>(instruction + 1)));
}

std::uintptr_t start_of(place p) {
  static constexpr void (*k_begins[])() = {&filch_switch_stack, &filch_call_on_stack, &filch_implicit_run_pad,
                                           &filch_implicit_offered, &filch_implicit_barrier_outside};
  return p == barrier ? address(filch_implicit_barriers_begin) : address(k_begins[p]);
}

place place_of(std::uintptr_t instruction) {
  if (instruction >= start_of(barrier) && instruction < address(&filch_implicit_barrier_outside)) return barrier;
  std::uintptr_t const f = function_at(instruction);
  for (unsigned p = 0; p < barrier; ++p) {
    if (f == start_of(place{p}) || f == start_of(place{p}) - 1) return place{p};  // a nop before the barrier
  }
  return elsewhere;
}

struct chain {
  bool has_end = false;   // its last address is null, at the oldest frame
  bool is_fiber = false;  // it begins on a fiber's stack
  bool is_home = false;   // at its end it passes from the worker's home stack to the thread's
  bool is_known = false;

  _Unwind_Reason_Code add(_Unwind_Context* context) {
    int is_exact = 0;
    std::uintptr_t const ip = _Unwind_GetIPInfo(context, &is_exact);
    has_end = ip == 0;
    if (has_end) return _URC_NO_REASON;
    std::uintptr_t const f = function_at(is_exact ? ip : ip - 1);
    is_fiber = is_fiber || f == address(&filch_stack_begins) - 1;
    is_home = is_home || f == address(&filch_call_on_stack);
    is_known = is_known || f == address(&known_frame);
    return _URC_NO_REASON;
  }
};

/// Has the chain all its frames?
bool is_complete(place p, unsigned offset, chain const& c) {
  switch (p) {
    case switch_stack: return c.has_end && c.is_home;
    case call_on_stack: return c.has_end && c.is_known && !c.is_fiber;
    case barrier_outside: return c.has_end && !c.is_fiber && (c.is_known || offset == 0);  // it ends at its call
    default: return c.has_end && c.is_home && c.is_fiber && (c.is_known || !fibers_are_known.load());
  }
}

void on_trap(int, siginfo_t*, void* p) {
  int const error = errno;
  constexpr greg_t k_trap_flag = 0x100;
  auto& registers = static_cast<ucontext_t*>(p)->uc_mcontext.gregs;
  if (is_over.load(std::memory_order_relaxed)) registers[REG_EFL] &= ~k_trap_flag;
  auto const instruction = static_cast<std::uintptr_t>(registers[REG_RIP]);
  if (place const here = place_of(instruction); here != elsewhere) {
    chain c;
    _Unwind_Backtrace([](_Unwind_Context* context, void* all) { return static_cast<chain*>(all)->add(context); }, &c);
    auto const offset = static_cast<unsigned>(instruction - start_of(here));
    if (!is_complete(here, offset, c)) {
      incomplete.fetch_add(1, std::memory_order_relaxed);
      one_incomplete.store(here << 16 | offset, std::memory_order_relaxed);
    }
    // Counts only switches by which a fiber in the known function leaves and comes back.
    if (here != switch_stack || (c.is_known && c.is_fiber))
      seen[here].at(offset).store(true, std::memory_order_relaxed);
  }
  errno = error;
}

/// The calling thread runs step by step from here on.
[[gnu::noinline]] void step() {
  // Below the stack pointer there may be the red zone.
  asm volatile("leaq -128(%%rsp), %%rsp\n\tpushfq\n\torq $0x100, (%%rsp)\n\tpopfq\n\tleaq 128(%%rsp), %%rsp" ::
                   : "memory", "cc");
}
/// The calling thread runs without steps until step().
[[gnu::noinline]] void run_freely() {
  asm volatile("leaq -128(%%rsp), %%rsp\n\tpushfq\n\tandq $~0x100, (%%rsp)\n\tpopfq\n\tleaq 128(%%rsp), %%rsp" ::
                   : "memory", "cc");
}

/// While this lives, threads may step.
class steps {
 public:
  explicit steps(bool joins_are_in_known_frame = false) {
    fibers_are_known.store(joins_are_in_known_frame);
    is_over.store(false);
  }
  steps(steps const&) = delete;
  steps& operator=(steps const&) = delete;
  ~steps() { is_over.store(true); }
};

constexpr unsigned char k_return[] = {0xc3};
constexpr unsigned char k_jump_to_pad[] = {0x41, 0xff};
constexpr unsigned char k_jump[] = {0xff, 0x60, 0x38};  // jmp *56(%rax)

template <class S> class single_steps : public ::testing::Test {
 protected:
  void SetUp() override {
    if (is_sanitized) GTEST_SKIP() << "sanitizers put handlers off";
    if (!has_exact_walks_in_handlers()) GTEST_SKIP() << "LLVM's unwinder loses its way in handlers";
    struct sigaction mine{};
    mine.sa_sigaction = on_trap;
    mine.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigfillset(&mine.sa_mask);
    ASSERT_EQ(sigaction(SIGTRAP, &mine, &before_), 0);
    for (marks& all : seen) {
      for (auto& mark : all) mark.store(false);
    }
    incomplete.store(0);
    // Steps take long. The thief would interrupt them, and handlers do not run by steps.
    sigset_t interrupts;
    sigemptyset(&interrupts);
    sigaddset(&interrupts, SIGURG);
    pthread_sigmask(SIG_BLOCK, &interrupts, &mask_before_);
  }
  void TearDown() override {
    if (IsSkipped()) return;
    pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
    sigaction(SIGTRAP, &before_, nullptr);
  }
  static void expect_all_complete() {
    EXPECT_EQ(incomplete.load(), 0u) << "place " << (one_incomplete.load() >> 16) << ", offset "
                                     << (one_incomplete.load() & 0xffff);
  }
  static unsigned char const* instruction(place p, std::size_t offset) {
    return reinterpret_cast<unsigned char const*>(start_of(p)) + offset;
  }
  /// For a function without branches: then all instructions between were seen, too.
  static bool saw_first_and_last(place p, std::span<unsigned char const> last) {
    if (!seen[p][0].load()) return false;
    for (std::size_t i = k_most_bytes; i-- > 0;) {
      if (seen[p][i].load()) return std::equal(last.begin(), last.end(), instruction(p, i));
    }
    return false;
  }
  /// The barrier that stacks of this size have: where f returned, where it threw, and the jumps that they end with.
  static bool saw_barrier_to_its_ends() {
    bool has_entry = false;
    unsigned jumps = 0;
    for (std::size_t i = 0; i < k_most_bytes; ++i) {
      if (!seen[barrier][i].load()) continue;
      for (unsigned b = 0; b < 32; ++b) has_entry = has_entry || filch_implicit_barriers[b] == start_of(barrier) + i;
      jumps += std::equal(std::begin(k_jump), std::end(k_jump), instruction(barrier, i));
    }
    return has_entry && jumps == 2;
  }

 private:
  struct sigaction before_{};
  sigset_t mask_before_{};
};

using fiber_schedulers = ::testing::Types<filch::cactus, filch::implicit>;
TYPED_TEST_SUITE(single_steps, fiber_schedulers, scheduler_names);

/// Owners run all landing pads from here on.
void run_pads(bool all) {
#if defined(FILCH_PROBES)
  filch::detail::probes::all().runs_pads.set(all);
#else
  static_cast<void>(all);
#endif
}

enum class comes_last { f, g, f_that_throws };

/// A join of two workers, with steps where f is offered, where it ends, and where g ends.
template <class S> void join_by_steps(typename S::pool const& pool, comes_last who) {
  gate begun;
  gate ended;
  auto const suspensions = pool.stats().suspensions;
  wait_for_thief<S>();
  steps const here(true);
  step();
  try {
    filch::join<S>(
        [&] {
          run_freely();
          EXPECT_TRUE(begun.pass());
          EXPECT_TRUE(who == comes_last::g || ended.pass());
          step();
          if (who == comes_last::f_that_throws) throw std::runtime_error("from f");
        },
        [&] {
          begun.open();
          EXPECT_TRUE(who != comes_last::g || eventually([&] { return pool.stats().suspensions > suspensions; }));
          step();
          ended.open();
        });
  } catch (std::runtime_error const&) {
  }
}

TYPED_TEST(single_steps, see_all_frames_while_fibers_leave_and_come_back) {
  typename TypeParam::pool pool({.workers = 2});
  for (bool runs_pads : {false, true}) {
    run_pads(runs_pads);
    for (auto who : {comes_last::f, comes_last::g, comes_last::f_that_throws}) {
      pool.run([&] { in_known_frame([&] { join_by_steps<TypeParam>(pool, who); }); });
    }
  }
  run_pads(false);
  this->expect_all_complete();
  EXPECT_TRUE(this->saw_first_and_last(switch_stack, k_return));
  if constexpr (std::is_same_v<TypeParam, filch::implicit>) {
    if (filch::detail::probes::k_are_on) {
      EXPECT_TRUE(this->saw_first_and_last(run_pad, k_jump_to_pad));
      EXPECT_TRUE(this->saw_first_and_last(offered, k_return));
    }
    EXPECT_TRUE(this->saw_barrier_to_its_ends());
  }
}

TYPED_TEST(single_steps, see_all_frames_while_a_thread_enters_a_pool_and_leaves_it) {
  typename TypeParam::pool pool({.workers = 1});
  in_known_frame([&] {
    steps const here;
    step();
    pool.run([] {});
  });
  this->expect_all_complete();
  EXPECT_TRUE(this->saw_first_and_last(call_on_stack, k_return));
}

TYPED_TEST(single_steps, see_all_frames_of_a_thread_whose_join_goes_to_a_pool) {
  if constexpr (std::is_same_v<TypeParam, filch::implicit>) {
    TypeParam::default_pool();  // threads begin with all signals blocked
    in_known_frame([&] {
      steps const here;
      step();
      filch::join<TypeParam>([] {}, [] {});
    });
    this->expect_all_complete();
    EXPECT_TRUE(this->saw_first_and_last(barrier_outside, k_jump));
  }
}

}  // namespace
}  // namespace filch_test

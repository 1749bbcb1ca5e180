// Pools without threads: the calling thread runs all, on a stack of its own. The first thread that enters a pool
// while no other one is in a pool is checked.
#include <filch/detail/race_hooks.hpp>
#include <filch/pool_options.hpp>

#include "arch/call_on_stack.hpp"
#include "races/checker.hpp"
#include "races/runs.hpp"
#include "races/setup.hpp"
#include "races/words.hpp"
#include "runtime/settings.hpp"

#include <array>

namespace filch::races {
namespace {

constinit checked_thread who;
constinit thread_count unchecked_threads;

constexpr unsigned k_schedulers = 8;

struct entered {
  run_record* run;
  std::uint32_t stays;
  std::uint32_t pending;  // pools with tasks that outlive their call
  bool was_told;
  bool is_on_big_stack;
  std::array<std::uint32_t, k_schedulers> inside;
};
constinit thread_local entered mine __attribute__((tls_model("initial-exec"))){};

/// Address space: pages cost memory once touched.
constexpr std::size_t k_stack_bytes = std::size_t{1} << 34;
constexpr std::size_t k_guard_bytes = std::size_t{1} << 20;

std::byte* big_stack() noexcept {
  static std::byte* const low = map_stack(k_stack_bytes, k_guard_bytes);
  return low;
}

/// The thread enters the outermost pool: is it checked from here on?
bool begins() noexcept {
  if (me.checks) return true;  // tasks that outlive their call are still parallel
  if (!who.take(&mine)) {
    if (!mine.was_told) unchecked_threads.add();
    mine.was_told = true;
    return false;
  }
  begin_checking();
  now.stack_low = reinterpret_cast<address>(big_stack());
  now.stack_high = now.stack_low + k_stack_bytes;
  now.stays = 0;
  return true;
}

void ends() noexcept {
  if (mine.pending != 0 || !me.checks) return;
  end_checking();
  who.leave();
}

struct call_record {
  void (*call)(void*);
  void* argument;
};

}  // namespace

run_record* my_run() noexcept { return mine.run; }
std::uint32_t& stays_here() noexcept { return mine.stays; }
unsigned threads_not_checked() noexcept { return unchecked_threads.value(); }

}  // namespace filch::races

namespace filch::inline FILCH_ABI::detail {

using namespace races;

race_pool_base::race_pool_base(unsigned scheduler, pool_options const& asked)
    : scheduler_(scheduler), workers_(workers_of(asked)), detached_{} {}

race_pool_base::~race_pool_base() {
  if (!has_detached_) return;
  join_detached(detached_);
  now.sets.remove(detached_);
  --mine.pending;
  if (mine.run == nullptr) ends();
}

unsigned race_pool_base::places() const noexcept { return 2 * workers_ + 16; }

void race_pool_base::enter(void (*call)(void*), void* argument) {
  bool const is_outermost = mine.run == nullptr;
  bool const is_checked = is_outermost ? begins() : me.checks;
  // In a stay another pool is entered as usual.
  std::uint32_t const stays = mine.stays;
  bool const is_entered = mine.run != nullptr && mine.run->is_entered(this);
  if (!is_entered) mine.stays = 0;
  if (is_checked) now.stays = mine.stays;
  run_record run{mine.run, this, scheduler_, is_checked, {}};
  ++mine.inside[scheduler_];
  mine.run = &run;
  std::uint32_t depth = 0;
  if (is_checked) {
    depth = me.calls->depth();
    me.calls->enter(reinterpret_cast<address>(__builtin_return_address(0)),
                    reinterpret_cast<address>(__builtin_frame_address(0)));
    open_detached(run.detached);
  }
  if (is_outermost && is_checked) {
    filch_call_on_stack(big_stack() + k_stack_bytes, call, argument);
  } else {
    call(argument);
  }
  if (is_checked) {
    if (run.detached.parallel != 0) {
      if (!has_detached_) {
        has_detached_ = true;
        ++mine.pending;
        open_detached(detached_);
      }
      keep_detached(run.detached, detached_);
    }
    now.sets.remove(run.detached);
    me.calls->return_to(depth);
    now.stays = stays;
  }
  mine.run = run.outer;
  mine.stays = stays;
  --mine.inside[scheduler_];
  if (is_outermost) ends();
}

bool race_inside(unsigned scheduler) noexcept { return mine.inside[scheduler] != 0 || mine.stays != 0; }
unsigned race_worker_index(unsigned scheduler) noexcept { return mine.inside[scheduler] != 0 ? 0 : k_no_worker; }

}  // namespace filch::inline FILCH_ABI::detail

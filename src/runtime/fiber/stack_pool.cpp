// Takes stacks for fibers, and gives their pages back to the system. team.cpp of this folder calls it. Protocol:
// ../fibers.md, "Giving pages back".
#include "runtime/fiber/stack_pool.hpp"

#include "os/linux/once.hpp"
#include "runtime/fiber/checks.hpp"
#include "runtime/sanitizer.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <utility>

namespace filch::runtime {

bool has_shadow_stack() noexcept {
  constexpr int k_status = 0x5005;  // ARCH_SHSTK_STATUS
  unsigned long features = 0;
  if (syscall(SYS_arch_prctl, k_status, &features) != 0 || (features & 1) == 0) return false;
  static pthread_once_t flag = PTHREAD_ONCE_INIT;
  os::once(flag, [] {
    std::fputs(
        "filch: shadow stacks are on, and fibers can't change stacks: joins run in order; a scheduler that moves no "
        "code between threads runs in parallel\n",
        stderr);
  });
  return true;
}

void fiber_stack_pool::has_one_more_worker() noexcept {
  std::lock_guard const lock(mutex_);
  most_with_slack_ += k_slack_stacks;
}

fiber_stack* fiber_stack_pool::take(std::size_t most) noexcept {
  std::lock_guard const lock(mutex_);
  check("pool of stacks", [this] { return fiber_checks::of_stacks(*this); });
  if (all_.empty() && has_shadow_stack()) return nullptr;
  for (auto* free : {&free_with_slack_, &free_}) {
    if (free->empty()) continue;
    fiber_stack* const s = free->back();
    free->pop_back();
    return s;
  }
  if (all_.size() >= most) return nullptr;
  try {
    bool const has_slack = with_slack_ < most_with_slack_;
    auto& free = has_slack ? free_with_slack_ : free_;
    free.reserve(all_.size() + 1);
    all_.reserve(all_.size() + 1);
    auto& s = all_.emplace_back(std::make_unique<fiber_stack>(bytes_, lower_bytes_, main_, argument_));
    s->has_slack_ = has_slack;
    if (has_slack) ++with_slack_;
    return s.get();
  } catch (std::exception const&) {
    return nullptr;
  }
}

void fiber_stack_pool::give_back(fiber_stack* s) noexcept {
  std::lock_guard const lock(mutex_);
  check("pool of stacks", [&] { return fiber_checks::of_given_back(*this, *s); });
  (s->has_slack_ ? free_with_slack_ : free_).push_back(s);
}

std::uint64_t fiber_stack_pool::faults_before_entry(fiber_stack const* taken) noexcept {
  return taken && !taken->has_slack_ ? os::own_page_faults() : 0;
}

void fiber_stack_pool::enter(fiber_stack& s, std::uint64_t faults) noexcept {
  s.was_untouched_below_ = std::exchange(s.untouched_below_, nullptr);
  s.faults_before_ = faults;
}

bool fiber_stack_pool::trim(fiber_stack& s, std::uint64_t& faults) noexcept {
  s.too_far_at_ = nullptr;  // its frames are gone
  return trim_if(s, faults, [] { return true; });
}

bool fiber_stack_pool::trim_waiting(fiber_stack& s, std::uint64_t& faults, fiber_stack& home,
                                    unsigned worker) noexcept {
  return trim_if(s, faults, [&] { return is_unused_below(s, faults, home, worker); });
}

/// Is all of a waiting fiber above its stack pointer? It looks itself, on its own stack. The faults of the look are
/// no sign that the next fiber has touched a page.
bool fiber_stack_pool::is_unused_below(fiber_stack& s, std::uint64_t& faults, fiber_stack& home,
                                       unsigned worker) noexcept {
  if (s.resume_at_ <= s.too_far_at_) return false;
  s.is_asked_ = true;
  home.switch_to(s, worker);
  faults = os::own_page_faults();
  s.too_far_at_ = s.frames_lead_ == frames_lead::too_far ? s.resume_at_ : nullptr;
  return s.frames_lead_ == frames_lead::to_its_top;
}

template <class May> bool fiber_stack_pool::trim_if(fiber_stack& s, std::uint64_t& faults, May&& may) noexcept {
  bool const is_there = s.resume_at_ > s.memory_.low() && s.resume_at_ < s.memory_.high();
  if (policy_ == give_back_policy::none || !is_there) return false;
  std::byte* const end = end_of_unused(s);
  if (end - s.memory_.low() < static_cast<std::ptrdiff_t>(os::page_size())) return false;
  bool const is_needed = s.has_slack_ ? was_deeper(s, end) : may_have_touched(s, end, faults);
  if (is_needed && !may()) return false;
  bool const is_done =
      is_needed && (policy_ == give_back_policy::mmap ? os::reservation::replace_pages(s.memory_.low(), end)
                                                      : os::reservation::drop_pages(s.memory_.low(), end));
  if (is_done || !is_needed) s.untouched_below_ = end;
  return is_done;
}

std::byte* fiber_stack_pool::end_of_unused(fiber_stack const& s) const noexcept {
  auto* const in_use = static_cast<std::byte*>(s.resume_at_);
  std::size_t const step = (s.has_slack_ ? k_slack_pages / 2 : 1) * os::page_size();
  return in_use - (reinterpret_cast<std::uintptr_t>(in_use) & (step - 1)) - (s.has_slack_ ? step : 0);
}

/// For a stack without slack: no page below `end` can be in memory if none was when the thread came, and the thread
/// has had no page fault since.
bool fiber_stack_pool::may_have_touched(fiber_stack const& s, std::byte* end, std::uint64_t& faults) noexcept {
  faults = os::own_page_faults();
  return faults != s.faults_before_ || end > s.was_untouched_below_;
}

namespace {

/// In steps of some milliseconds: half the price of the processor's counter on a virtual machine.
std::int64_t nanoseconds_since_some_time() noexcept {
  constexpr std::int64_t k_second = 1'000'000'000;
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return now.tv_sec * k_second + now.tv_nsec;
}

}  // namespace

/// For a stack with slack: has the fiber touched pages below `end` since they came from the system? Reading one page
/// is nearly free. Asking the system takes two microseconds, so it is done now and then only, for frames that leave
/// the page as it was, or zero.
bool fiber_stack_pool::was_deeper(fiber_stack& s, std::byte* end) const noexcept {
  std::size_t const page = os::page_size();
  // Valgrind reports a read below a stack pointer.
  if (!is_on_valgrind() && !os::looks_blank(end - page)) return true;
  std::int64_t const now = nanoseconds_since_some_time();
  if (now - s.looked_at_ < k_between_looks) return false;
  s.looked_at_ = now;
  std::array<unsigned char, 4 * k_slack_pages> in_memory{};
  std::size_t const all = std::min(in_memory.size(), static_cast<std::size_t>(end - s.memory_.low()) / page);
  if (!os::pages_in_memory(end - all * page, all, in_memory.data())) return true;
  for (std::size_t i = 1; i <= all; ++i) {
    // Pages that were only read are there, too: the first of each step.
    bool const is_read = i % (k_slack_pages / 2) == 1;
    if (!is_read && in_memory[all - i]) return true;
  }
  return false;
}

fiber_stack_pool::numbers fiber_stack_pool::count() const noexcept {
  std::lock_guard const lock(mutex_);
  return {all_.size() - free_.size() - free_with_slack_.size(), all_.size()};
}

std::size_t fiber_stack_pool::written_bytes() const noexcept {
  std::lock_guard const lock(mutex_);
  std::size_t sum = 0;
  for (auto const& s : all_) sum += s->memory_.written_bytes();
  return sum;
}

}  // namespace filch::runtime

// Reserves a worker's stack and its scheduler's part in one mapping, and gives deep, unused pages back. Called by the
// team, before a worker sleeps and when a caller leaves.
#include "runtime/worker_space.hpp"

#include "runtime/frames.hpp"
#include "runtime/sanitizer.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <utility>

namespace filch::runtime {

worker_space::worker_space(std::size_t stack_bytes, std::size_t upper_bytes) noexcept {
  std::size_t const bytes = stack_bytes + upper_bytes + k_block;
  if (bytes < stack_bytes || bytes < upper_bytes) {
    errno = ENOMEM;
    return;
  }
  all_ = os::reservation(bytes);
  if (!all_.valid()) return;
  std::size_t const past_middle =
      (reinterpret_cast<std::uintptr_t>(all_.low()) + stack_bytes + k_block / 2) % k_block;
  middle_ = all_.low() + stack_bytes + (past_middle ? k_block - past_middle : 0);
}

namespace {

using pages = std::pair<std::byte*, std::byte*>;

/// Reads a page next to the used ones: the last one of a stack, the first one of tasks.
bool stack_was_touched(pages stack) noexcept {
  return stack.first != stack.second && !os::looks_blank(stack.second - os::page_size());
}
bool upper_was_touched(pages upper) noexcept { return upper.first != upper.second && !os::looks_blank(upper.first); }

/// Asks the system for some of the pages, but the last, which was read.
bool some_are_in_memory(pages part) noexcept {
  if (part.first == part.second) return false;
  std::size_t const page = os::page_size();
  std::byte* const last = part.second - page;
  std::array<unsigned char, 64> in_memory{};
  std::size_t const all = std::min(in_memory.size(), static_cast<std::size_t>(last - part.first) / page);
  return all == 0 || !os::pages_in_memory(last - all * page, all, in_memory.data()) ||
         std::any_of(in_memory.begin(), in_memory.begin() + all, [](unsigned char is) { return (is & 1) != 0; });
}

bool drop_stack(pages p, give_back_policy policy) noexcept {
  return policy == give_back_policy::mmap ? os::reservation::replace_pages(p.first, p.second)
                                          : os::reservation::drop_pages(p.first, p.second);
}

/// By madvise under any policy: thieves may still read tasks there, and a fresh map can't be read at first.
bool drop_upper(pages p) noexcept { return os::reservation::drop_pages(p.first, p.second); }

}  // namespace

worker_space::give_back_result worker_space::give_back(std::byte* stack_in_use, std::byte* upper_in_use,
                                                       give_back_policy policy, when now) noexcept {
  // Valgrind reports every read below a stack pointer.
  if (policy == give_back_policy::none || is_on_valgrind()) return {};
  pages const stack = unused_stack(stack_in_use, k_kept_bytes);
  pages const upper = unused_upper(upper_in_use, k_kept_bytes);
  bool const asks = must_ask(now);
  bool has_stack = stack_was_touched(stack) || (asks && some_are_in_memory(stack));
  // Pages that were not written: a program that locks its memory has filled both parts.
  bool const has_upper = upper_was_touched(upper) || (has_stack && some_are_in_memory(upper));
  if (!has_stack && !has_upper) return {};
  faults_when_asked_ = 0;
  pages const deep = unused_stack(stack_in_use, k_most_left_bytes);
  bool const must_not_stay =
      now == when::leaves && (stack_was_touched(deep) || (asks && some_are_in_memory(deep)) ||
                              upper_was_touched(unused_upper(upper_in_use, k_most_left_bytes)));
  auto const before = clock::now();
  if (before < rests_until_ && !must_not_stay) return {false, rests_until_ - before};
  // A worker that sleeps in a join may stand on a stack of the program's own, in a frame that lies above others.
  if (has_stack && now == when::sleeps_in_join && where_frames_lead(all_.low(), middle_) != frames_lead::to_its_top) {
    has_stack = false;
  }
  bool const is_done = (!has_stack || drop_stack(stack, policy)) && (!has_upper || drop_upper(upper));
  auto const after = clock::now();
  rests_until_ = after + (after - before) * k_rest;
  return {is_done, {}};
}

bool worker_space::must_ask(when now) noexcept {
  if (now == when::sleeps) return true;
  if (now != when::leaves) return false;
  // The clock may have been set back.
  not_asked_for_ += std::clamp(time_stamp() - std::exchange(call_began_, 0), cycles{0}, k_between_questions);
  if (not_asked_for_ < k_between_questions) return false;
  not_asked_for_ = 0;
  // Another thread's number differs, but by chance.
  std::uint64_t const faults = os::own_page_faults();
  return std::exchange(faults_when_asked_, faults) != faults || ++not_asked_ % k_questions_left_out == 0;
}

/// Empty if the thread is on another stack, as in another pool's run.
worker_space::pages worker_space::unused_stack(std::byte* in_use, std::size_t kept) const noexcept {
  bool const is_here = in_use > all_.low() && in_use <= middle_;
  if (!is_here || static_cast<std::size_t>(in_use - all_.low()) < kept + 2 * os::page_size()) return {};
  std::byte* const end = in_use - kept;
  return {all_.low(), end - reinterpret_cast<std::uintptr_t>(end) % os::page_size()};
}

worker_space::pages worker_space::unused_upper(std::byte* in_use, std::size_t kept) const noexcept {
  if (!in_use || static_cast<std::size_t>(high() - in_use) < kept + 2 * os::page_size()) return {};
  std::byte* const begin = in_use + kept + os::page_size() - 1;
  return {begin - reinterpret_cast<std::uintptr_t>(begin) % os::page_size(), high()};
}

}  // namespace filch::runtime

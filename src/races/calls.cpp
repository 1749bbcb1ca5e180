// Finds the call stack of an access from the ring of calls and the stack of open ones. compiled.cpp notes the calls,
// report.cpp asks for the stacks.
#include "races/calls.hpp"

#include "os/linux/fatal.hpp"

#include <algorithm>

namespace filch::races {

std::size_t call_stack::addresses(call_id id, std::uint32_t shared, address* to, std::size_t most) noexcept {
  std::size_t n = 0;
  while (n != most && id != 0) {
    remembered const& r = ring_[id % k_remembered];
    if (r.id != id) break;
    to[n++] = r.pc;
    id = r.outer;
  }
  if (id == 0) return n;
  // Calls are numbered upwards, so those on the stack are sorted.
  std::uint32_t low = 0;
  std::uint32_t high = depth_;
  while (low < high) {
    std::uint32_t const middle = (low + high + 1) / 2;
    (calls_[middle].id <= id ? low : high) = calls_[middle].id <= id ? middle : middle - 1;
  }
  bool const is_on_stack = calls_[low].id == id;
  for (std::uint32_t i = is_on_stack ? low : std::min(shared, depth_); i != 0 && n != most; --i)
    to[n++] = calls_[i].pc;
  return n;
}

void call_stack::release() noexcept {
  calls_.release();
  ring_.release();
}

void call_stack::no_room() noexcept { os::end_with_line("filch: races: too many calls are open at once\n"); }

}  // namespace filch::races

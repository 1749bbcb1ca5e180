// The heap: new memory has no history, and memory that is given back was used by the section that did.
#pragma once

#include "races/calls.hpp"

#include <cstddef>

namespace filch::races {

/// A live allocation, for reports.
struct allocation {
  address begin;  // 0: none
  std::size_t bytes;
  call_stack* calls;  // of its thread; null: unknown
  call_id call;
  address pc;
  address callers[4];
};

/// malloc of `alignment`, or 0. Null if there is no memory.
void* allocate(std::size_t bytes, std::size_t alignment, address pc) noexcept;
void release(void* p, address pc) noexcept;
/// The live allocation around an address; begin is 0 if there is none. Looks at all of them.
allocation allocation_of(address a) noexcept;

}  // namespace filch::races

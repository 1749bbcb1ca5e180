// Which unwinder walks here.
#pragma once

#include <dlfcn.h>
#include <unwind.h>

#include <cstring>

namespace filch_test {

/// LLVM's unwinder takes the address at which a signal interrupts for a return address, and looks for the frame of
/// the instruction before it. After a push it goes wrong, in every program.
inline bool has_exact_walks_in_handlers() {
  Dl_info found{};
  auto* const walk = reinterpret_cast<void*>(&_Unwind_Backtrace);
  return dladdr(walk, &found) == 0 || !std::strstr(found.dli_fname, "libunwind");
}

}  // namespace filch_test

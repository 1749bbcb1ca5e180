// Running a function on another stack.
#pragma once

#include "os/linux/memory.hpp"

namespace filch::runtime {

/// Calls call(argument) on `stack`, as worker `worker`, and comes back. An overflow there is reported in
/// one line. `call` must not throw. Costs some nanoseconds.
void call_on(os::reservation const& stack, unsigned worker, void (*call)(void*), void* argument);

}  // namespace filch::runtime

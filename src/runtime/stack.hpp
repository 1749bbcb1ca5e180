// Running a function on another stack.
#pragma once

#include "runtime/worker_space.hpp"

namespace filch::runtime {

/// Calls call(argument) on the stack of `space`, as worker `worker`, and comes back. An overflow there is reported in
/// one line. `call` must not throw. Costs some nanoseconds.
void call_on(worker_space const& space, unsigned worker, void (*call)(void*), void* argument);

}  // namespace filch::runtime

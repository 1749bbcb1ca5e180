// The scheduler that is used when none is named: fixed when the library is built.
#pragma once

#include <filch/config.hpp>
#include <filch/schedulers.hpp>

namespace filch::inline FILCH_ABI {

/// `direct`, unless the library was built with another FILCH_DEFAULT_SCHEDULER.
using default_scheduler = FILCH_DEFAULT_SCHEDULER;

/// The default scheduler's pool of workers.
using pool = default_scheduler::pool;

}  // namespace filch::inline FILCH_ABI

// For code outside of the schedulers, before it waits for another thread or process.
#pragma once

#include <filch/config.hpp>
#include <filch/detail/platform.hpp>

namespace filch::inline FILCH_ABI::detail {

/// Before a wait that no scheduler sees. Every scheduler's worker on the calling thread returns the tasks that it
/// received and has not begun, and offers some of its own to thieves that requested them: the wait may be for one of
/// these.
FILCH_API void serve_all_thieves() noexcept;

}  // namespace filch::inline FILCH_ABI::detail

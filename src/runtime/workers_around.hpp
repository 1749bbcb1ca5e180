// The size of the caller's pool, for code of the library that cuts its work by it.
#pragma once

#include <filch/config.hpp>
#include <filch/detail/platform.hpp>

namespace filch::inline FILCH_ABI::detail {

/// Where Sched::inside() is true: the number of workers of the pool that the caller's joins are in; 1 in a stay,
/// where they run in order. Each scheduler with workers defines it beside its pool.
template <class Sched> unsigned workers_around() noexcept;

}  // namespace filch::inline FILCH_ABI::detail

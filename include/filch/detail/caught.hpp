// What a handler of `catch (...)` caught.
#pragma once

#include <filch/detail/platform.hpp>

#include <exception>

namespace filch::inline FILCH_ABI::detail {

// in src/runtime/pools.cpp

/// In a handler: the exception that it handles. Other languages throw what is no C++ exception, and pthread_exit()
/// unwinds stacks as well: nobody can keep such a thing and throw it elsewhere, so the process ends with one line on
/// stderr.
FILCH_API std::exception_ptr caught_exception() noexcept;
/// The same in a handler that drops it.
FILCH_API void drop_caught_exception() noexcept;

}  // namespace filch::inline FILCH_ABI::detail

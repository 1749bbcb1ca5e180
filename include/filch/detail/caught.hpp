// The exception that a handler of `catch (...)` has caught. Every such handler of Filch calls one of these functions.
#pragma once

#include <filch/detail/platform.hpp>

#include <exception>

namespace filch::inline FILCH_ABI::detail {

// in src/runtime/pools.cpp

/// In a handler: returns the exception that it handles. Exceptions of other languages and the unwinding of
/// pthread_exit() cannot be kept and thrown again elsewhere: the process ends with a one-line message.
FILCH_API std::exception_ptr caught_exception() noexcept;
/// The same in a handler that drops the exception.
FILCH_API void drop_caught_exception() noexcept;

}  // namespace filch::inline FILCH_ABI::detail

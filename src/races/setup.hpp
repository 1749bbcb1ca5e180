// The beginning and the end of the process, and of the checks in it.
#pragma once

#include <filch/pool_options.hpp>

#include <cstddef>

namespace filch::races {

/// Makes the tables, once. Instrumented code calls it before main, perhaps before any constructor.
void set_up() noexcept;
/// Ends the program if the compiler's runtime for -fsanitize=thread is linked, too. The earliest code that runs calls
/// it: where that runtime is a shared library, it begins before the program, and calls mmap.
void refuse_other_runtime() noexcept;
/// The calling thread becomes the checked one.
void begin_checking() noexcept;
void end_checking() noexcept;
/// The lower end of `bytes` of stack, above a guard.
std::byte* map_stack(std::size_t bytes, std::size_t guard) noexcept;

/// The workers that a pool would have.
unsigned workers_of(pool_options const& asked);
/// How many threads entered pools while another one was checked.
unsigned threads_not_checked() noexcept;

}  // namespace filch::races

// filch::std_par: included before every other header (-include filch/std_par.hpp), it makes libstdc++'s parallel
// algorithms run on Filch. Valid C++17. docs/std_par.md.
#pragma once

#if __cplusplus >= 201703L

#if defined(_GLIBCXX_EXECUTION) || defined(_PSTL_PARALLEL_BACKEND_H) || defined(_PSTL_EXECUTION_DEFS_H) || \
    defined(_PSTL_GLUE_ALGORITHM_DEFS_H) || defined(_PSTL_GLUE_MEMORY_DEFS_H) || defined(_PSTL_GLUE_NUMERIC_DEFS_H)
#error "filch/std_par.hpp must come before every header of the standard library: -include filch/std_par.hpp"
#else

#include <filch/config.hpp>

// A scheduler's name: direct, channel, cactus, implicit or serial. One that the library does not have fails to link.
#if !defined(FILCH_STD_PAR_SCHEDULER)
#define FILCH_STD_PAR_SCHEDULER FILCH_DEFAULT_SCHEDULER
#endif

// All of the parallel algorithms gets another name: files with and without this header, or with different schedulers,
// share no template, and policies that differ don't match in signatures.
#define FILCH_STD_PAR_JOIN_AGAIN(first, second, third) first##second##third
#define FILCH_STD_PAR_JOIN(first, second, third) FILCH_STD_PAR_JOIN_AGAIN(first, second, third)
// NOLINTBEGIN(bugprone-reserved-identifier): libstdc++'s names.
#define __pstl FILCH_STD_PAR_JOIN(__pstl_filch_, FILCH_STD_PAR_SCHEDULER, )
#define FILCH_STD_PAR_CALLS FILCH_STD_PAR_JOIN(, FILCH_STD_PAR_SCHEDULER, _calls)

// libstdc++ takes neither its own backend nor oneTBB's.
#define _GLIBCXX_USE_TBB_PAR_BACKEND 0
#define _PSTL_PARALLEL_BACKEND_H
// NOLINTEND(bugprone-reserved-identifier)

#include <cstddef>

#if !defined(__GLIBCXX__)
#error "filch/std_par.hpp is for libstdc++, and this is another standard library"
#else
#if !defined(_PSTL_VERSION) || (_PSTL_VERSION != 12000 && _PSTL_VERSION != 17000)
#warning "filch/std_par.hpp does not know the parallel algorithms of this libstdc++: they may not compile"
#endif
#include <filch/detail/std_par/backend.hpp>
#endif

#endif
#endif

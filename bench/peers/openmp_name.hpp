// The name of the OpenMP peer in this program: it depends on the compiler, whose runtime it uses.
#pragma once

#include <string_view>

namespace bench {

#if defined(__clang__)
inline constexpr std::string_view k_openmp = "openmp-llvm";
#else
inline constexpr std::string_view k_openmp = "openmp-gcc";
#endif

}  // namespace bench

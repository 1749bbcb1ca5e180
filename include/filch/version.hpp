// The version of the headers (macros in config.hpp) and of the library that was linked.
#pragma once

#include <filch/detail/platform.hpp>

namespace filch::inline FILCH_ABI {

/// The version of the library that was linked, "major.minor.patch"; compare with FILCH_VERSION_STRING.
FILCH_API char const* version() noexcept;

}  // namespace filch::inline FILCH_ABI

#include <filch/version.hpp>

namespace filch::inline FILCH_ABI {

char const* version() noexcept { return FILCH_VERSION_STRING; }

}  // namespace filch::inline FILCH_ABI

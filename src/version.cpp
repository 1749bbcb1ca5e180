// The version of the library, which may be newer than the header that a program was compiled with. Users call
// version().
#include <filch/version.hpp>

namespace filch::inline FILCH_ABI {

char const* version() noexcept { return FILCH_VERSION_STRING; }

}  // namespace filch::inline FILCH_ABI

// Hides the exceptions of a thread from tasks on top of other code. Called by headers of task groups and of the
// cluster.
#include "runtime/exceptions_in_flight.hpp"

#include <filch/detail/exceptions_aside.hpp>

namespace filch::inline FILCH_ABI::detail {

exceptions_aside::exceptions_aside() noexcept {
  auto const taken = runtime::take_exceptions();
  caught_ = taken.caught;
  uncaught_ = taken.uncaught;
}
exceptions_aside::~exceptions_aside() { runtime::put_exceptions_below({caught_, uncaught_}); }

}  // namespace filch::inline FILCH_ABI::detail

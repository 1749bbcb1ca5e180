// The costs of the loops of filch::std_par, and the thread's mark of a cancelled loop. The layer's headers call it
// (filch/detail/std_par).
#include "std_par/layer.hpp"

#include <new>

namespace filch::inline FILCH_ABI::std_par {
namespace {

constinit thread_local bool is_cancelled __attribute__((tls_model("initial-exec"))) = false;

}  // namespace

loop_costs& make_loop_costs() noexcept {
  static constinit loop_costs of_all;  // for those that find no memory
  auto* const made = new (std::nothrow) loop_costs;
  return made != nullptr ? *made : of_all;
}

[[gnu::noinline]] void cancel() noexcept { is_cancelled = true; }
[[gnu::noinline]] bool take_cancel() noexcept { return std::exchange(is_cancelled, false); }

}  // namespace filch::inline FILCH_ABI::std_par

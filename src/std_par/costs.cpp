// The costs of the loops of filch::std_par, and the thread's mark of a cancelled loop. The layer's headers call it
// (filch/detail/std_par).
#include "std_par/layer.hpp"

#include <atomic>
#include <new>

namespace filch::inline FILCH_ABI::std_par {
namespace {

constinit thread_local bool is_cancelled __attribute__((tls_model("initial-exec"))) = false;

}  // namespace

loop_costs& make_loop_costs(loop_costs*& costs) noexcept {
  static constinit loop_costs of_all;  // for those that find no memory
  std::atomic_ref<loop_costs*> shared(costs);
  auto* const made = new (std::nothrow) loop_costs;
  if (made == nullptr) return of_all;
  loop_costs* before = nullptr;
  // acq_rel: the thread that reads the pointer reads the costs.
  if (shared.compare_exchange_strong(before, made, std::memory_order_acq_rel)) return *made;
  delete made;
  return *before;
}

[[gnu::noinline]] void cancel() noexcept { is_cancelled = true; }
[[gnu::noinline]] bool take_cancel() noexcept { return std::exchange(is_cancelled, false); }

}  // namespace filch::inline FILCH_ABI::std_par

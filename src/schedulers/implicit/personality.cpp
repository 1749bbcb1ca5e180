// The entries from assembly and from the unwinder into C++: the calls of the return barrier when f is done, and the
// barrier's personality, by which it takes f's exception. Called by src/arch/x86_64/continuation.S. See protocol.md,
// "The return barrier".
#include <filch/detail/caught.hpp>

#include "runtime/pools.hpp"
#include "schedulers/implicit/barrier.hpp"

#include <cxxabi.h>
#include <unwind.h>

#include <cstring>
#include <exception>
#include <utility>

using filch::detail::implicit_state;

extern "C" {

[[gnu::visibility("hidden"), gnu::used]] implicit_state* filch_implicit_child_returned(
    filch::detail::implicit_returned const* returned, unsigned bits) noexcept {
  return filch::detail::child_returned(*returned, bits);
}

[[gnu::visibility("hidden"), gnu::used]] implicit_state* filch_implicit_child_threw(void* exception,
                                                                                    void const* on_stack,
                                                                                    unsigned bits) noexcept {
  abi::__cxa_begin_catch(exception);
  std::exception_ptr thrown = filch::detail::caught_exception();
  abi::__cxa_end_catch();
  return filch::detail::child_threw(on_stack, bits, std::move(thrown));
}

[[gnu::visibility("hidden"), gnu::used]] implicit_state* filch_implicit_returned_outside() noexcept {
  return filch::detail::child_returned_outside();
}

/// The barrier catches whatever comes, as the `catch (...)` of the join frame above it would. Its exception table has
/// the landing pad at a fixed place, counted from where the function begins (src/arch/x86_64/continuation.S).
[[gnu::visibility("hidden"), gnu::used]] _Unwind_Reason_Code filch_implicit_personality(int, _Unwind_Action actions,
                                                                                        _Unwind_Exception_Class,
                                                                                        _Unwind_Exception* exception,
                                                                                        _Unwind_Context* context) {
  if (actions & _UA_SEARCH_PHASE) return _URC_HANDLER_FOUND;
  if (!(actions & _UA_HANDLER_FRAME)) filch::runtime::no_cxx_exception();  // pthread_exit(), say
  _Unwind_SetGR(context, 0, reinterpret_cast<_Unwind_Word>(exception));
  constexpr std::size_t k_landing_pad_at = 12;
  std::uint32_t landing_pad = 0;
  std::memcpy(&landing_pad,
              reinterpret_cast<char const*>(_Unwind_GetLanguageSpecificData(context)) + k_landing_pad_at,
              sizeof landing_pad);
  _Unwind_SetIP(context, _Unwind_GetRegionStart(context) + landing_pad);
  return _URC_INSTALL_CONTEXT;
}

}  // extern "C"

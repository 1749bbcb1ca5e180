// The join of filch::implicit: the call stack is the deque. src/schedulers/implicit/protocol.md argues the protocol.
//
//   join frame    the frame of a function that forked, while f runs; what it does after f is a continuation
//   offer         a continuation that was made public, in a record that thieves find
//   landing pad   where the exception tables say that a join frame would continue if f threw a `continuation`
//
// Nothing throws a `continuation`. A thief that takes an offer enters the landing pad of its frame: it reads the
// machine code of the pad, and does what an unwinder's jump there would do, as far as the destructor of
// implicit_offering. That destructor says what g is and where the frame continues. (The owner runs a pad that cannot
// be read.) From then on the frame continues at the landing pad, in implicit_after_pad. A frame whose pad was not
// entered continues where f returns to. The return barrier, in src/arch/x86_64/continuation.S, sends f's return to
// one of the two.
#pragma once

#include <filch/detail/implicit/child.hpp>
#include <filch/detail/implicit/offering.hpp>
#include <filch/detail/standard.hpp>

#include <exception>
#include <utility>

namespace filch::inline FILCH_ABI::detail {

/// How a slot is passed to the cold path: in no register if it is none.
template <class Slot> using passed_slot = std::conditional_t<std::is_same_v<Slot, no_slot>, no_slot, Slot&>;

template <class Fn, class Gn>
FILCH_COLD std::pair<result_of<Fn>, result_of<Gn>> implicit_after_pad(travels_as<Gn> g,
                                                                      passed_slot<child_slot<result_of<Fn>>> f_slot,
                                                                      passed_slot<second_slot<Gn>> g_slot);

/// The join, inlined into the joining function.
template <class Fn, class Gn>
FILCH_INLINE std::pair<result_of<Fn>, result_of<Gn>> implicit_fork_join_here(std::remove_reference_t<Fn>& f,
                                                                             std::remove_reference_t<Gn>& g) {
  using FnResult = result_of<Fn>;
  child_slot<FnResult> f_slot;
  second_slot<Gn> g_slot;
  waiting_closure<Gn> waiting(g);
  carried<FnResult> a;
  try {
    implicit_offering<Gn, implicit_f_of<Fn, FnResult>::function()> offering(waiting.get(), g_slot);
    if constexpr (comes_in_slot<FnResult>) {
      implicit_f_of<Fn, FnResult>::call(f, f_slot);
    } else if constexpr (std::is_same_v<FnResult, nothing>) {
      implicit_f_of<Fn, FnResult>::call(f);
    } else {
      a.value = implicit_f_of<Fn, FnResult>::call(f);
      detail::use_result(a.value);
    }
    offering.dismiss();
  } catch (caught_continuation) {
    // The handlers are equal, so that no register is saved for which of them runs.
    implicit_caught();
    goto caught;
  } catch (...) {
    implicit_caught();
    goto caught;
  }
  if constexpr (comes_in_slot<FnResult>) {
    drop_on_exit<FnResult> guard{f_slot};
    return {f_slot.take(), detail::call(static_cast<Gn&&>(waiting.get()))};
  } else {
    return {a.take(), detail::call(static_cast<Gn&&>(waiting.get()))};
  }
caught:  // outside the handlers, so that std::current_exception() is the same in g as around the join
  return detail::implicit_after_pad<Fn, Gn>(detail::hand_on<Gn>(waiting.get()), f_slot, g_slot);
}

/// The join as a function of its own.
template <class Fn, class Gn>
FILCH_OUTLINE_ALIGNED std::pair<result_of<Fn>, result_of<Gn>> implicit_fork_join(travels_as<Fn> f, travels_as<Gn> g) {
  return detail::implicit_fork_join_here<Fn, Gn>(f, g);
}

/// The rest of a join whose landing pad was entered, or whose f threw. g runs to its end in any case, and then f's
/// exception leaves.
template <class Fn, class Gn>
FILCH_COLD std::pair<result_of<Fn>, result_of<Gn>> implicit_after_pad(travels_as<Gn> g,
                                                                      passed_slot<child_slot<result_of<Fn>>> f_slot,
                                                                      passed_slot<second_slot<Gn>> g_slot) {
  using FnResult = result_of<Fn>;
  using GnResult = result_of<Gn>;
  implicit_outcome outcome = implicit_resumed();
  result_slot<GnResult>& b = implicit_second<Gn>::slot(outcome, std::addressof(g_slot));
  if (outcome.f_threw) {
    if (!outcome.is_stolen) {
      try {
        static_cast<void>(detail::call_with(static_cast<Gn&&>(g)));
      } catch (...) {  // dropped: f's exception is the one that leaves
        detail::drop_caught_exception();
      }
    } else if (!outcome.g_threw) {
      b.drop();
    }
    std::rethrow_exception(std::move(outcome.f_threw));
  }
  auto const rest = [&](auto&& a) -> std::pair<FnResult, GnResult> {
    if (!outcome.is_stolen) return {static_cast<FnResult&&>(a), detail::call(static_cast<Gn&&>(g))};
    if (outcome.g_threw) std::rethrow_exception(std::move(outcome.g_threw));
    drop_on_exit<GnResult> guard{b};
    return {static_cast<FnResult&&>(a), b.take()};
  };
  if constexpr (comes_in_slot<FnResult>) {
    drop_on_exit<FnResult> guard{f_slot};
    return rest(f_slot.take());
  } else {
    return rest(carried_from<FnResult>(outcome.f).take());
  }
}

}  // namespace filch::inline FILCH_ABI::detail

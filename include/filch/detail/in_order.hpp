// A join in order: f, then g, on the calling thread. For filch::serial, and for joins whose g cannot be stolen.
#pragma once

#include <filch/detail/caught.hpp>
#include <filch/detail/result.hpp>
#include <filch/detail/standard.hpp>

#include <exception>

namespace filch::inline FILCH_ABI::detail {

/// After f threw: runs g to its end and throws f's exception, which `kept` holds. Destroys `kept`.
template <class Gn> [[noreturn]] FILCH_COLD void run_after_throw(Gn&& g, std::exception_ptr& kept) {
  std::exception_ptr of_f = std::move(kept);
  std::destroy_at(&kept);
  try {
    static_cast<void>(detail::call_with(std::forward<Gn>(g)));
  } catch (...) {  // dropped: f's exception is the one that leaves
    detail::drop_caught_exception();
  }
  std::rethrow_exception(std::move(of_f));
}

template <class Fn, class Gn> FILCH_INLINE std::pair<result_of<Fn>, result_of<Gn>> join_in_order(Fn&& f, Gn&& g) {
  using FnResult = result_of<Fn>;
  result_slot<FnResult> a;
  result_slot<std::exception_ptr> of_f;
  try {
    a.make(std::forward<Fn>(f));
  } catch (...) {
    // g runs outside the handler, so that std::current_exception() is the same in g as around the join.
    of_f.make(detail::caught_exception);
    goto threw;
  }
  {
    drop_on_exit<FnResult> guard{a};
    return {a.take(), detail::call(std::forward<Gn>(g))};
  }
threw:
  detail::run_after_throw(std::forward<Gn>(g), of_f.value);
}

}  // namespace filch::inline FILCH_ABI::detail

// A call that enters a pool as a function pointer and an argument, and its result or exception on the way back.
#pragma once

#include <filch/detail/caught.hpp>
#include <filch/detail/result.hpp>
#include <filch/detail/standard.hpp>

#include <exception>

namespace filch::inline FILCH_ABI::detail {

/// Calls enter(call, argument), which must run call(argument) once, on any thread. Returns what f returns, and throws
/// what f throws.
template <class Fn, class Enter> raw_result<Fn> call_through(Enter&& enter, Fn&& f) {
  using Result = result_of<Fn>;
  struct packet {
    std::remove_reference_t<Fn>* f;
    result_slot<Result> result{};
    std::exception_ptr failure{};
  } p{std::addressof(f)};
  enter(
      [](void* argument) {
        auto& mine = *static_cast<packet*>(argument);
        try {
          mine.result.make(static_cast<Fn&&>(*mine.f));
        } catch (...) {
          mine.failure = detail::caught_exception();
        }
      },
      static_cast<void*>(&p));
  if (p.failure) std::rethrow_exception(std::move(p.failure));
  drop_on_exit<Result> guard{p.result};
  if constexpr (!std::is_void_v<raw_result<Fn>>) return p.result.take();
}

}  // namespace filch::inline FILCH_ABI::detail

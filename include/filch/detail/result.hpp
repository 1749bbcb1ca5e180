// Makes results of every kind (values, move-only values, references, void) uniform for the schedulers. Decides how
// callables travel into a fork: by value or by reference. Every scheduler's join uses it.
#pragma once

#include <filch/detail/may_refer.hpp>
#include <filch/detail/standard.hpp>

#include <new>
#include <type_traits>
#include <utility>

namespace filch::inline FILCH_ABI {

/// The result of a callable that returns void, in a pair or tuple of results.
struct nothing {
  friend constexpr bool operator==(nothing, nothing) noexcept { return true; }
};

namespace detail {

/// `type` keeps code on its thread while it lives, for filch::stay. Each scheduler that needs one specialises this.
template <class Sched> struct staying_of_scheduler {
  using type = nothing;
};
template <class Sched> using staying_of = typename staying_of_scheduler<Sched>::type;

template <class Fn> using raw_result = std::invoke_result_t<Fn>;
/// The type of Fn's result in a pair or tuple of results: void becomes nothing, and a const value loses its const.
template <class Fn>
using result_of = std::conditional_t<std::is_void_v<raw_result<Fn>>, nothing, std::remove_cv_t<raw_result<Fn>>>;

/// Can a pair or tuple of the results of Fn... be returned?
template <class... Fn>
inline constexpr bool results_can_be_moved = (std::is_move_constructible_v<result_of<Fn>> && ...);

/// Calls f and returns its result, or nothing{} where it returns void.
template <class Fn> FILCH_INLINE result_of<Fn> call(Fn&& f) {
  if constexpr (std::is_void_v<raw_result<Fn>>) {
    detail::call_with(std::forward<Fn>(f));
    return nothing{};
  } else {
    return detail::call_with(std::forward<Fn>(f));
  }
}

/// Room for one result that is made later, or never. After make() the caller calls take() once.
template <class Result> struct result_slot {
  union {
    Result value;
  };
  result_slot() noexcept {}
  result_slot(result_slot const&) = delete;
  result_slot& operator=(result_slot const&) = delete;
  ~result_slot() {}
  template <class Fn> FILCH_INLINE void make(Fn&& f) {
    ::new (static_cast<void*>(std::addressof(value))) Result(detail::call(std::forward<Fn>(f)));
  }
  FILCH_INLINE Result&& take() noexcept { return static_cast<Result&&>(value); }
  FILCH_INLINE void drop() noexcept { value.~Result(); }
};

template <class Result> struct result_slot<Result&> {
  Result* value;
  template <class Fn> FILCH_INLINE void make(Fn&& f) { value = std::addressof(detail::call(std::forward<Fn>(f))); }
  FILCH_INLINE Result& take() const noexcept { return *value; }
  FILCH_INLINE void drop() const noexcept {}
};

template <class Result> struct result_slot<Result&&> {
  Result* value;
  template <class Fn> FILCH_INLINE void make(Fn&& f) {
    Result&& r = detail::call(std::forward<Fn>(f));
    value = std::addressof(r);
  }
  FILCH_INLINE Result&& take() const noexcept { return static_cast<Result&&>(*value); }
  FILCH_INLINE void drop() const noexcept {}
};

/// Destroys the value in a slot when the function that took it returns.
template <class Result> struct [[nodiscard]] drop_on_exit {
  result_slot<Result>& slot;
  explicit drop_on_exit(result_slot<Result>& s) noexcept : slot(s) {}
  drop_on_exit(drop_on_exit const&) = delete;
  drop_on_exit& operator=(drop_on_exit const&) = delete;
  ~drop_on_exit() { slot.drop(); }
};

/// Room for a Type whose bytes are written one by one.
template <class Type> union raw_bytes_of {
  Type value;
  raw_bytes_of() noexcept {}
  ~raw_bytes_of() {}
  void* bytes() noexcept { return static_cast<void*>(std::addressof(value)); }
};

template <class Type> consteval bool is_small_and_trivial(std::size_t bytes, std::size_t alignment) {
  if constexpr (std::is_reference_v<Type>) {
    return false;
  } else {
    return detail::is_copied_as_bytes<Type>() && sizeof(Type) <= bytes && alignof(Type) <= alignment;
  }
}
/// May the result of Fn refer to a capture of Fn?
template <class Fn> consteval bool returns_a_view() {
  if constexpr (!std::is_invocable_v<Fn>) {
    return false;
  } else if constexpr (std::is_reference_v<std::invoke_result_t<Fn>>) {
    return true;
  } else {
    return !std::is_empty_v<Fn> && detail::may_refer<std::invoke_result_t<Fn>>();
  }
}
/// May a temporary callable be copied before it is called? Not if its result may refer to a capture.
template <class Fn> consteval bool is_small_closure(std::size_t bytes, std::size_t alignment) {
  if (detail::returns_a_view<Fn>()) return false;
  // A type that can only be moved is copied as bytes, too: so the constructors are asked for.
  return is_small_and_trivial<Fn>(bytes, alignment) && std::is_trivially_constructible_v<Fn, Fn&> &&
         std::is_trivially_constructible_v<Fn, Fn const&>;
}
/// Runs a spawned callable in place. An lvalue is copied first, as where it becomes a task.
template <class Fn> FILCH_INLINE void call_spawned(Fn&& f) {
  using closure = std::decay_t<Fn>;
  if constexpr (std::is_same_v<Fn, closure>) {
    static_cast<void>(detail::call_with(std::forward<Fn>(f)));
  } else {
    static_cast<void>(detail::call_with(closure(std::forward<Fn>(f))));
  }
}

/// How a callable travels into an outlined fork: small trivial temporaries by value, in registers; all others by
/// reference.
template <class Fn> inline constexpr bool travels_by_value = is_small_closure<Fn>(2 * sizeof(void*), alignof(void*));
template <class Fn> using travels_as = std::conditional_t<travels_by_value<Fn>, Fn, Fn&&>;
/// Passes a callable that has travelled on to the next function.
template <class Fn> FILCH_INLINE travels_as<Fn> hand_on(std::remove_reference_t<Fn>& f) noexcept {
  return static_cast<travels_as<Fn>>(f);
}

}  // namespace detail
}  // namespace filch::inline FILCH_ABI

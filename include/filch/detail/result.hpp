// Results of every kind - values, move-only values, references, void - made uniform for the schedulers.
#pragma once

#include <filch/detail/may_refer.hpp>

#include <functional>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace filch::inline FILCH_ABI {

/// What stands in a tuple of results for a callable that returns void.
struct nothing {
  friend constexpr bool operator==(nothing, nothing) noexcept { return true; }
};

namespace detail {

template <class F> using raw_result = std::invoke_result_t<F>;
/// The type that stands for F's result in a pair or tuple of results: void becomes nothing, and a value that
/// is returned as const is a value like others.
template <class F>
using result_of = std::conditional_t<std::is_void_v<raw_result<F>>, nothing, std::remove_cv_t<raw_result<F>>>;

/// Can a pair or tuple of the results of F... be returned?
template <class... F>
inline constexpr bool results_can_be_moved = (std::is_move_constructible_v<result_of<F>> && ...);

/// Calls f and returns its result, or nothing{} where it returns void.
template <class F> FILCH_INLINE result_of<F> call(F&& f) {
  if constexpr (std::is_void_v<raw_result<F>>) {
    std::invoke(std::forward<F>(f));
    return nothing{};
  } else {
    return std::invoke(std::forward<F>(f));
  }
}

/// Room for one result that is made later, or never. Who calls make() sees to it that take() is called, once.
template <class R> struct result_slot {
  union {
    R value;
  };
  result_slot() noexcept {}
  result_slot(result_slot const&) = delete;
  result_slot& operator=(result_slot const&) = delete;
  ~result_slot() {}
  template <class F> FILCH_INLINE void make(F&& f) {
    ::new (static_cast<void*>(std::addressof(value))) R(detail::call(std::forward<F>(f)));
  }
  FILCH_INLINE R&& take() noexcept { return static_cast<R&&>(value); }
  FILCH_INLINE void drop() noexcept { value.~R(); }
};

template <class R> struct result_slot<R&> {
  R* value;
  template <class F> FILCH_INLINE void make(F&& f) { value = std::addressof(detail::call(std::forward<F>(f))); }
  FILCH_INLINE R& take() const noexcept { return *value; }
  FILCH_INLINE void drop() const noexcept {}
};

template <class R> struct result_slot<R&&> {
  R* value;
  template <class F> FILCH_INLINE void make(F&& f) {
    R&& r = detail::call(std::forward<F>(f));
    value = std::addressof(r);
  }
  FILCH_INLINE R&& take() const noexcept { return static_cast<R&&>(*value); }
  FILCH_INLINE void drop() const noexcept {}
};

/// Destroys what a slot holds on the way out of a function that took the value.
template <class R> struct [[nodiscard]] drop_on_exit {
  result_slot<R>& slot;
  explicit drop_on_exit(result_slot<R>& s) noexcept : slot(s) {}
  drop_on_exit(drop_on_exit const&) = delete;
  drop_on_exit& operator=(drop_on_exit const&) = delete;
  ~drop_on_exit() { slot.drop(); }
};

template <class T> consteval bool is_small_and_trivial(std::size_t bytes, std::size_t alignment) {
  if constexpr (std::is_reference_v<T>) {
    return false;
  } else {
    return std::is_trivially_copyable_v<T> && sizeof(T) <= bytes && alignof(T) <= alignment;
  }
}
/// May what F returns refer to what it captured?
template <class F> consteval bool returns_a_view() {
  if constexpr (!std::is_invocable_v<F>) {
    return false;
  } else if constexpr (std::is_reference_v<std::invoke_result_t<F>>) {
    return true;
  } else {
    return !std::is_empty_v<F> && detail::may_refer<std::invoke_result_t<F>>();
  }
}
/// May a temporary that is called be copied? Not if what it returns may refer to what it captured.
template <class F> consteval bool is_small_closure(std::size_t bytes, std::size_t alignment) {
  if (detail::returns_a_view<F>()) return false;
  // A type that can only be moved is trivially copyable, too.
  return is_small_and_trivial<F>(bytes, alignment) && std::is_trivially_constructible_v<F, F&> &&
         std::is_trivially_constructible_v<F, F const&>;
}
/// Calls what was spawned where it is: of what its owner keeps a copy, as elsewhere.
template <class F> FILCH_INLINE void call_spawned(F&& f) {
  using closure = std::decay_t<F>;
  if constexpr (std::is_same_v<F, closure>) {
    static_cast<void>(std::invoke(std::forward<F>(f)));
  } else {
    static_cast<void>(std::invoke(closure(std::forward<F>(f))));
  }
}

/// How a callable travels into an outlined fork: small trivial temporaries by value, that is in registers,
/// and everything else by reference.
template <class F> inline constexpr bool travels_by_value = is_small_closure<F>(2 * sizeof(void*), alignof(void*));
template <class F> using travels_as = std::conditional_t<travels_by_value<F>, F, F&&>;
/// A callable that travelled, on its way into the next function.
template <class F> FILCH_INLINE travels_as<F> hand_on(std::remove_reference_t<F>& f) noexcept {
  return static_cast<travels_as<F>>(f);
}

}  // namespace detail
}  // namespace filch::inline FILCH_ABI

// The parts of <functional>, <iterator>, <memory>, <mutex> and <ranges> that the headers need: with libstdc++ without
// their streams, hash tables and views, which take longer to compile than a sort.
#pragma once

#include <filch/detail/platform.hpp>

#include <cstddef>
#include <initializer_list>
#include <type_traits>

// In later releases these files may need others before them.
#if defined(_GLIBCXX_RELEASE) && _GLIBCXX_RELEASE <= 15 && __has_include(<bits/ranges_util.h>) && \
    __has_include(<bits/std_mutex.h>) && __has_include(<bits/invoke.h>) && __has_include(<bits/ranges_cmp.h>)
#include <bits/move.h>
#include <bits/ptr_traits.h>
#include <bits/stl_construct.h>
#include <bits/stl_iterator.h>

// These use those above.
#include <bits/invoke.h>
#include <bits/ranges_cmp.h>
#include <bits/ranges_util.h>
#include <bits/std_mutex.h>
#include <bits/stl_function.h>
#define FILCH_STANDARD_INVOKE std::__invoke
#else
#include <functional>
#include <iterator>
#include <memory>
#include <mutex>
#include <ranges>
#define FILCH_STANDARD_INVOKE std::invoke
#endif

namespace filch::inline FILCH_ABI::detail {

/// Is a Type copied and moved, but for assignments, by copying its bytes? std::is_trivially_copyable will not do: GCC
/// 12 gives it another answer for a closure once anything has asked whether that can be assigned. So two files of a
/// program might disagree.
template <class Type> consteval bool is_copied_as_bytes() {
  bool const copies = std::is_trivially_copy_constructible_v<Type>;
  bool const moves = std::is_trivially_move_constructible_v<Type>;
  bool const is_another_way =
      (!copies && std::is_copy_constructible_v<Type>) || (!moves && std::is_move_constructible_v<Type>);
  return (copies || moves) && !is_another_way && std::is_trivially_destructible_v<Type>;
}

// GCC inlines a fork with two instructions less if it may choose; Clang with six more.
#if defined(__clang__)
#define FILCH_INLINE_CALL FILCH_INLINE
#else
#define FILCH_INLINE_CALL
#endif

/// std::invoke.
template <class Fn, class... Args>
FILCH_INLINE_CALL constexpr std::invoke_result_t<Fn, Args...> call_with(Fn&& f, Args&&... args) {
  if constexpr (std::is_member_pointer_v<std::remove_cvref_t<Fn>>) {
    return FILCH_STANDARD_INVOKE(static_cast<Fn&&>(f), static_cast<Args&&>(args)...);
  } else {
    return static_cast<Fn&&>(f)(static_cast<Args&&>(args)...);
  }
}
#undef FILCH_STANDARD_INVOKE
#undef FILCH_INLINE_CALL

/// A std::unique_ptr: deletes its object, or its array.
template <class Type> class owned {
 public:
  using element = std::remove_extent_t<Type>;

  owned() noexcept = default;
  explicit owned(element* made) noexcept : made_(made) {}
  owned(owned const&) = delete;
  owned& operator=(owned const&) = delete;
  owned(owned&& other) noexcept : made_(other.release()) {}
  ~owned() { reset(); }

  void reset(element* made = nullptr) noexcept {
    element* const old = made_;
    made_ = made;
    if constexpr (std::is_array_v<Type>) {
      delete[] old;
    } else {
      delete old;
    }
  }
  element* release() noexcept {
    element* const made = made_;
    made_ = nullptr;
    return made;
  }
  element* get() const noexcept { return made_; }
  element& operator*() const noexcept { return *made_; }
  element* operator->() const noexcept { return made_; }
  element& operator[](std::size_t i) const noexcept { return made_[i]; }
  explicit operator bool() const noexcept { return made_ != nullptr; }

 private:
  element* made_ = nullptr;
};

}  // namespace filch::inline FILCH_ABI::detail

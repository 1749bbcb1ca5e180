// Memory that an algorithm can do without.
#pragma once

#include <filch/detail/converting.hpp>
#include <filch/detail/platform.hpp>
#include <filch/detail/standard.hpp>

#include <concepts>
#include <cstddef>
#include <limits>
#include <new>
#include <type_traits>
#include <utility>

namespace filch::inline FILCH_ABI::detail {

/// Can an Element be made in memory and moved to an Out later, in place of an assignment? By an implicit conversion:
/// an explicit one may mean something else.
template <class Element, class Out>
inline constexpr bool can_wait_for = std::convertible_to<Element, std::iter_value_t<Out>> &&
                                     std::is_assignable_v<std::iter_reference_t<Out>, std::iter_value_t<Out>>;

/// Memory for n elements, or none. Destroys the elements that were made in it and are left.
template <class Type> class raw_buffer {
 public:
  explicit raw_buffer(std::size_t n) : n_(n) {
    if (n > std::numeric_limits<std::ptrdiff_t>::max() / sizeof(Type)) return;
    if constexpr (!std::is_trivially_destructible_v<Type>) {
      lives_.reset(new (std::nothrow) bool[n]());
      if (!lives_) return;
    }
    elements_ = static_cast<Type*>(::operator new(n * sizeof(Type), std::align_val_t(alignof(Type)), std::nothrow));
  }
  raw_buffer(raw_buffer const&) = delete;
  raw_buffer& operator=(raw_buffer const&) = delete;
  ~raw_buffer() {
    if (elements_ == nullptr) return;
    if constexpr (!std::is_trivially_destructible_v<Type>) {
      for (std::size_t i = 0; i < n_; ++i) {
        if (lives_[i]) std::destroy_at(elements_ + i);
      }
    }
    ::operator delete(elements_, std::align_val_t(alignof(Type)));
  }
  explicit operator bool() const noexcept { return elements_ != nullptr; }

  Type& operator[](std::size_t i) const noexcept { return elements_[i]; }
  template <class Other> void make(std::size_t i, Other&& value) const {
    if constexpr (std::convertible_to<Other, Type>) {
      ::new (static_cast<void*>(elements_ + i)) Type(detail::converted_to<Type>(std::forward<Other>(value)));
    } else {
      ::new (static_cast<void*>(elements_ + i)) Type(std::forward<Other>(value));
    }
    if constexpr (!std::is_trivially_destructible_v<Type>) lives_[i] = true;
  }
  void destroy(std::size_t i) const noexcept {
    if constexpr (!std::is_trivially_destructible_v<Type>) {
      std::destroy_at(elements_ + i);
      lives_[i] = false;
    }
  }

 private:
  std::size_t const n_;
  Type* elements_ = nullptr;
  owned<bool[]> lives_;
};

}  // namespace filch::inline FILCH_ABI::detail

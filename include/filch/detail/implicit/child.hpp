// f of a join, in a call of its own: the child. While it runs, its caller is a join frame. The child polls first:
// where a thief has requested, it enters the library, which offers the join frames of this stack.
#pragma once

#include <filch/detail/caught.hpp>
#include <filch/detail/implicit/captures.hpp>
#include <filch/detail/implicit/offer.hpp>
#include <filch/detail/standard.hpp>

#include <atomic>
#include <cstring>

namespace filch::inline FILCH_ABI::detail {

/// Is this worker's poll word set?
FILCH_INLINE bool is_polled() noexcept {
  // relaxed: a request that is missed is seen at the next fork.
  return fiber_self().poll.load(std::memory_order_relaxed) != 0;
}

/// The slot for f's result: the child's last parameter, if it has one.
template <class FnResult, class... Slot>
FILCH_INLINE child_slot<FnResult>& slot_of(no_slot& none, Slot&... slot) noexcept {
  if constexpr (comes_in_slot<FnResult>) {
    static_cast<void>(none);
    return (slot, ...);
  } else {
    return none;
  }
}

/// Outside all pools: f and g run in the default pool. The join frame continues at its landing pad, as after a theft.
template <class Fn, class FnResult>
FILCH_COLD child_returns<FnResult> implicit_child_outside(travels_as<Fn> f, child_slot<FnResult>& slot) {
  implicit_offer* const offer = implicit_offer_to_pool();
  if (!offer) return detail::call_and_carry<FnResult>(static_cast<Fn&&>(f), slot);
  auto const first = [&] {
    try {
      if constexpr (std::is_void_v<child_returns<FnResult>>) {
        detail::call_and_carry<FnResult>(static_cast<Fn&&>(f), slot);
      } else {
        auto const r = detail::call_and_carry<FnResult>(static_cast<Fn&&>(f), slot);
        void* const to =
            std::is_floating_point_v<child_returns<FnResult>> ? &offer->outcome.f.xmm0 : &offer->outcome.f.rax;
        std::memcpy(to, std::addressof(r), sizeof r);
      }
    } catch (...) {
      offer->outcome.f_threw = detail::caught_exception();
    }
  };
  implicit_join_in_default_pool([](void* p) { (*static_cast<decltype(&first)>(p))(); },
                                const_cast<void*>(static_cast<void const*>(&first)), *offer);
  implicit_return_to_pad(*offer);
  if constexpr (!std::is_void_v<child_returns<FnResult>>) return {};
}

/// The child's rest where its poll word is set.
template <class Fn, class FnResult, class... Slot>
FILCH_COLD child_returns<FnResult> implicit_child_polled(travels_as<Fn> f, Slot&... slot) {
  no_slot none;
  child_slot<FnResult>& to = detail::slot_of<FnResult>(none, slot...);
  if (implicit_polled() == implicit_polled_as::outside) {
    return detail::implicit_child_outside<Fn, FnResult>(static_cast<travels_as<Fn>>(f), to);
  }
  return detail::call_and_carry<FnResult>(static_cast<Fn&&>(f), to);
}

/// The child of an f that travels as one argument.
template <class Fn, class FnResult, class... Slot>
FILCH_OUTLINE_ALIGNED child_returns<FnResult> implicit_child(travels_as<Fn> f, Slot&... slot) {
  if (is_polled()) [[unlikely]]
    return detail::implicit_child_polled<Fn, FnResult>(static_cast<travels_as<Fn>>(f), slot...);
  no_slot none;
  return detail::call_and_carry<FnResult>(static_cast<Fn&&>(f), detail::slot_of<FnResult>(none, slot...));
}

/// The child of an f that travels word by word.
template <class Fn, class FnResult, class Indices, class... Slot> struct implicit_child_of_words;
template <class Fn, class FnResult, std::size_t... Words, class... Slot>
struct implicit_child_of_words<Fn, FnResult, std::index_sequence<Words...>, Slot...> {
  using words = words_of<Fn, FnResult>;
  template <std::size_t> using word = typename words::travelling;

  FILCH_INLINE static child_returns<FnResult> call_with(Fn const& f, Slot&... slot) {
    return call(words::template take<Words>(f)..., slot...);
  }
  FILCH_OUTLINE_ALIGNED static child_returns<FnResult> call(word<Words>... each, Slot&... slot) {
    if (is_polled()) [[unlikely]]
      return polled(each..., slot...);
    raw_bytes_of<Fn> f;
    (words::template put<Words>(f, each), ...);
    no_slot none;
    return detail::call_and_carry<FnResult>(static_cast<Fn&&>(f.value), detail::slot_of<FnResult>(none, slot...));
  }

 private:
  FILCH_COLD static child_returns<FnResult> polled(word<Words>... each, Slot&... slot) {
    raw_bytes_of<Fn> f;
    (words::template put<Words>(f, each), ...);
    return detail::implicit_child_polled<Fn, FnResult>(static_cast<Fn&&>(f.value), slot...);
  }
};

/// The child of a join: how the join calls it, and its address.
template <class Fn, class FnResult, class... Slot> struct implicit_f {
  using child = implicit_child_of_words<Fn, FnResult, typename words_of<Fn, FnResult>::indices, Slot...>;
  static consteval auto function() {
    if constexpr (words_of<Fn, FnResult>::fit) {
      return &child::call;
    } else {
      return &implicit_child<Fn, FnResult, Slot...>;
    }
  }
  FILCH_INLINE static child_returns<FnResult> call(std::remove_reference_t<Fn>& f, Slot&... slot) {
    if constexpr (words_of<Fn, FnResult>::fit) {
      return child::call_with(f, slot...);
    } else {
      return detail::implicit_child<Fn, FnResult>(detail::hand_on<Fn>(f), slot...);
    }
  }
};
template <class Fn, class FnResult>
using implicit_f_of = std::conditional_t<comes_in_slot<FnResult>, implicit_f<Fn, FnResult, result_slot<FnResult>>,
                                         implicit_f<Fn, FnResult>>;

}  // namespace filch::inline FILCH_ABI::detail

// Shared by the joins of filch::implicit and the library: the record of an offer, and the functions by which a join
// enters the library. They are defined in src/schedulers/implicit.
#pragma once

#include <filch/detail/fiber.hpp>
#include <filch/detail/implicit/result.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>

namespace filch::inline FILCH_ABI::detail {

/// The tag of this scheduler's workers.
inline constexpr fiber_kind k_implicit_tag = fiber_tag(1);

/// The results of a join whose frame was offered.
struct implicit_outcome {
  static constexpr std::size_t k_storage = 32;

  bool is_stolen = false;  // a thief runs g; else the owner still has to run it
  implicit_registers f{};
  std::exception_ptr f_threw;
  std::exception_ptr g_threw;
  alignas(16) std::byte g[k_storage];  // g's result, if it fits
};

/// An offered continuation, as a thief finds it.
struct implicit_offer : fiber_task {
  std::uint64_t words[2];  // g's bytes, or its address
  void* g_slot;            // room for g's result in the join frame; null: in the outcome
  join_counter counter;
  implicit_outcome outcome;
};

enum class [[nodiscard]] implicit_polled_as { worker, outside };

/// Child: its poll word is not zero. Offers the continuations of this stack, the caller's join frame included. Throws
/// nothing; but it is not noexcept, or the compiler would drop the landing pad.
FILCH_API implicit_polled_as implicit_polled();
/// Child, outside all pools: offers the newest join frame to a call in the default pool. Null: it cannot be offered.
FILCH_API implicit_offer* implicit_offer_to_pool() noexcept;
/// Child, outside all pools: runs first(argument) and the offer in the default pool, as the two sides of a join.
/// `first` must not throw.
FILCH_API void implicit_join_in_default_pool(void (*first)(void*), void* argument, implicit_offer&);
/// Child, outside all pools: makes its return continue the join frame at the landing pad.
FILCH_API void implicit_return_to_pad(implicit_offer&) noexcept;
/// Join frame, in a handler: keeps the exception if f threw one.
FILCH_API void implicit_caught() noexcept;
/// Join frame, after the landing pad: returns the outcome and frees the offer; or returns f's exception in an outcome
/// that is not stolen.
FILCH_API implicit_outcome implicit_resumed() noexcept;

}  // namespace filch::inline FILCH_ABI::detail

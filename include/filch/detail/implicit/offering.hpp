// g of a join while its f runs: where it is kept, how a thief runs it, and the statement on the landing pad that
// passes it to the library (implicit_offering). src/schedulers/implicit/protocol.md has the rules for landing pads.
#pragma once

#include <filch/detail/caught.hpp>
#include <filch/detail/implicit/captures.hpp>
#include <filch/detail/implicit/offer.hpp>
#include <filch/detail/standard.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

namespace filch::inline FILCH_ABI::detail {

/// Does an offer hold the bytes of g? Else it holds g's address. Sanitizers turn copies into calls, and a landing pad
/// must not call.
template <class Gn> inline constexpr bool offered_as_bytes = !k_is_sanitized && travels_by_value<Gn>;

/// How a thief runs g, and where it leaves the result. Files with a sanitizer and without one have types of their
/// own.
template <class Gn, bool AsBytes = offered_as_bytes<Gn>> struct implicit_second {
  using Result = result_of<Gn>;
  static constexpr bool fits = sizeof(result_slot<Result>) <= implicit_outcome::k_storage &&
                               alignof(result_slot<Result>) <= 16 &&
                               (std::is_reference_v<Result> || detail::is_copied_as_bytes<Result>());

  static result_slot<Result>& slot(implicit_outcome& outcome, void* g_slot) noexcept {
    if constexpr (fits) {
      return *reinterpret_cast<result_slot<Result>*>(outcome.g);
    } else {
      return *static_cast<result_slot<Result>*>(g_slot);
    }
  }
  static join_counter& run_stolen(fiber_task& task) noexcept {
    auto& offer = static_cast<implicit_offer&>(task);
    auto* const room =
        ::new (static_cast<void*>(std::addressof(slot(offer.outcome, offer.g_slot)))) result_slot<Result>;
    try {
      if constexpr (AsBytes) {
        raw_bytes_of<std::remove_cvref_t<Gn>> g;
        std::memcpy(g.bytes(), offer.words, sizeof(Gn));
        room->make(static_cast<Gn&&>(g.value));
      } else {
        room->make(static_cast<Gn&&>(*reinterpret_cast<std::remove_reference_t<Gn>*>(offer.words[0])));
      }
    } catch (...) {
      offer.outcome.g_threw = detail::caught_exception();
    }
    return offer.counter;
  }
};

/// Room in the join frame for a result of g that does not fit into an offer.
template <class Gn>
using second_slot = std::conditional_t<implicit_second<Gn>::fits, no_slot, result_slot<result_of<Gn>>>;

/// Is g copied to the join frame just before f is called? The landing pad needs g in memory while f runs. Were it the
/// same variables as f's captures, compilers would keep those in memory, too, and f would have to load them.
template <class Gn>
inline constexpr bool waits_in_memory = !k_is_sanitized && !travels_by_value<Gn> && is_small_closure<Gn>(64, 16);
template <class Gn, bool = waits_in_memory<Gn>> class waiting_closure {
 public:
  FILCH_INLINE explicit waiting_closure(std::remove_reference_t<Gn>& g) noexcept {
    if constexpr (!k_is_clang && words::fit) {
      // GCC would gather four ints in a vector register first.
      words::copy(room_, g, typename words::indices());
    } else {
      ::new (static_cast<void*>(__builtin_addressof(room_.value))) std::remove_cv_t<Gn>(static_cast<Gn&&>(g));
    }
    asm volatile("" : "+m"(reinterpret_cast<char(&)[sizeof(Gn)]>(room_.value)));
  }
  FILCH_INLINE Gn& get() noexcept { return room_.value; }

 private:
  using words = words_of<Gn, result_of<Gn>>;
  raw_bytes_of<std::remove_cv_t<Gn>> room_;
};
template <class Gn> class waiting_closure<Gn, false> {
 public:
  FILCH_INLINE explicit waiting_closure(std::remove_reference_t<Gn>& g) noexcept : g_(g) {
    // A compiler that does not inline calls a pure function where its result is needed. Where that is the landing pad
    // alone, and the function returns g (std::forward does), it would be called there.
    if constexpr (!k_inlines && std::is_object_v<std::remove_reference_t<Gn>>) {
      asm volatile("" : : "m"(reinterpret_cast<char const&>(g)));
    }
  }
  FILCH_INLINE std::remove_reference_t<Gn>& get() noexcept { return g_; }

 private:
  std::remove_reference_t<Gn>& g_;
};

/// A word of the join frame, read on the landing pad. Without optimisation a sanitizer would put a call before a
/// plain read.
template <class Type> FILCH_INLINE Type unseen_read(Type const& word) noexcept {
  if constexpr (k_is_sanitized && !k_is_optimized) {
    Type read;
    asm("mov %1, %0" : "=r"(read) : "m"(word));  // as wide as the register
    return read;
  } else {
    return word;
  }
}

/// A local of the join frame while f runs, so its destructor is the landing pad. On an entered pad the destructor
/// passes g to the library, with the address where the frame continues. While an exception of f leaves, it does
/// nothing.
template <class Gn, auto Child> struct implicit_offering {
  std::remove_reference_t<Gn>* g;
  second_slot<Gn>* slot;
  bool is_on = true;

  FILCH_INLINE implicit_offering(std::remove_reference_t<Gn>& closure, second_slot<Gn>& s) noexcept
      : g(__builtin_addressof(closure)), slot(__builtin_addressof(s)) {}
  implicit_offering(implicit_offering const&) = delete;
  implicit_offering& operator=(implicit_offering const&) = delete;
  /// f has returned: there is nothing to offer.
  FILCH_INLINE void dismiss() noexcept { is_on = false; }
  /// A word of g in the offer: its bytes from At on, or its address as the first word.
  template <std::size_t At> FILCH_INLINE std::uint64_t word_of_g() const noexcept {
    using object = std::remove_cvref_t<Gn>;
    if constexpr (!offered_as_bytes<Gn>) {
      if constexpr (At == 0) return reinterpret_cast<std::uint64_t>(unseen_read(g));
    } else if constexpr (!std::is_empty_v<object> && At < sizeof(object)) {  // else nothing reads g's address
      std::uint64_t word = 0;
      constexpr std::size_t k_bytes = sizeof(object) - At < 8 ? sizeof(object) - At : 8;
      __builtin_memcpy(&word, reinterpret_cast<std::byte const*>(g) + At, k_bytes);
      return word;
    }
    return 0;
  }

  // Must not call or push: younger frames lie below the stack pointer.
  FILCH_INLINE ~implicit_offering() {
    if (!unseen_read(is_on)) return;
    std::uint64_t const first = word_of_g<0>();
    std::uint64_t const second = word_of_g<8>();
    void* where = nullptr;
    if constexpr (!implicit_second<Gn>::fits) where = unseen_read(slot);
    constexpr auto k_known_to = k_child_address_escapes ? Child : nullptr;
    // If the pad is not entered, falls through. The library keeps all general registers but rax and r11, so the frame
    // saves none for this statement.
    asm volatile(
        "movq filch_implicit_offering@gottpoff(%%rip), %%rax\n\t"
        "movq %%fs:(%%rax), %%rax\n\t"
        "testq %%rax, %%rax\n\t"
        "je 2f\n\t"
        "leaq 2f(%%rip), %%r11\n\t"
        "jmp *filch_implicit_offered@GOTPCREL(%%rip)\n"
        "2:"
        :
        : "D"(&implicit_second<Gn>::run_stolen), "S"(first), "d"(second), "c"(where), "r"(k_known_to)
        : "rax", "r11", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",
          "xmm11", "xmm12", "xmm13", "xmm14", "xmm15",
#ifdef __AVX512F__
          "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25", "xmm26", "xmm27",
          "xmm28", "xmm29", "xmm30", "xmm31", "k1", "k2", "k3", "k4", "k5", "k6", "k7",
#endif
          "memory", "cc");
  }
};

}  // namespace filch::inline FILCH_ABI::detail

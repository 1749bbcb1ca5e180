// The call stack as the deque: the fast path of a fork. The protocol is argued in
// src/schedulers/implicit/protocol.md; the edge ids below are its.
//
//   join frame   the frame of the function that forked, while f runs: its rest is a continuation
//   offer        a continuation that was made public, in a record that thieves find
//   landing pad  where the exception tables say that a join frame goes on, should f throw a `continuation`
//
// Nobody throws one. Who takes an offer lands in its frame, as the unwinder would: the landing pad is read, or run
// where it can't be, as far as the destructor of implicit_offering, which says what g is and how to go on from there.
// From then on the frame continues at its landing pad; a frame in which nobody landed, where f returns to. The return
// barrier sees to that.
#pragma once

#include <filch/detail/fiber.hpp>
#include <filch/detail/packet.hpp>

// Whether a join is a call, or part of the function that joins: the faster one depends on the compiler, and is
// measured in docs/decisions/0005-implicit.md.
#if !defined(FILCH_IMPLICIT_OUTLINE)
#if defined(__clang__)
#define FILCH_IMPLICIT_OUTLINE 1
#else
#define FILCH_IMPLICIT_OUTLINE 0
#endif
#endif

// GCC splits functions that begin with a short way out, as recursions do, and inlines that beginning into their
// callers: into f's child and behind it into g, whose leaves are no calls then. It splits none that has handlers, so
// small joins may not be part of the joining function until that is done, which is before it inlines what is called
// through a pointer.
#if defined(__clang__)
#define FILCH_IMPLICIT_INLINED_LATE 0
#else
#define FILCH_IMPLICIT_INLINED_LATE 1
#endif

// The barrier finds the child's result where the calling convention puts it, so compilers must not change the
// convention for what looks like a function of their own. GCC before 14 drops a result only where it is not used;
// others also find out that it is always the same, and must think that somebody else may call the child.
#if !defined(__clang__) && __GNUC__ < 14
#define FILCH_IMPLICIT_USES_RESULT 1
#else
#define FILCH_IMPLICIT_USES_RESULT 0
#endif

// How a handler names the marker. For Clang by reference: it would think that the end of a handler of a pointer can't
// throw, while the other's can. For GCC by pointer: what is caught is not a C++ exception, so its address is null, of
// which a sanitizer would say that no reference may be bound to it.
#if defined(__clang__)
#define FILCH_IMPLICIT_CAUGHT continuation const&
#else
#define FILCH_IMPLICIT_CAUGHT continuation*
#endif

// Sanitizers turn copies into calls, and on a landing pad nothing may be called.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define FILCH_IMPLICIT_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define FILCH_IMPLICIT_SANITIZED 1
#endif
#endif
#if !defined(FILCH_IMPLICIT_SANITIZED)
#define FILCH_IMPLICIT_SANITIZED 0
#endif

#if defined(__has_feature)
#if __has_feature(safe_stack)
#error "filch: cactus and implicit change stacks and threads, of which -fsanitize=safe-stack is not told"
#endif
#endif

#include <cstring>
#include <exception>
#include <memory>
#include <tuple>
#include <utility>

namespace filch::inline FILCH_ABI::detail {

/// In the exception tables, marks a join frame. None is ever thrown.
struct __attribute__((visibility("default"))) continuation {};

/// What f returned, as it was in the processor's registers.
struct implicit_registers {
  std::uint64_t rax;
  std::uint64_t rdx;
  std::uint64_t xmm0;
};

/// What became of the parts of a join that was offered.
struct implicit_outcome {
  static constexpr std::size_t k_storage = 32;

  bool is_stolen = false;  // else g is still to be run
  implicit_registers f{};
  std::exception_ptr f_threw;
  std::exception_ptr g_threw;
  alignas(16) std::byte g[k_storage];  // g's result where it fits
};

struct implicit_offer : fiber_task {
  std::uint64_t words[2];  // g, or its address
  void* g_slot;            // null: in the outcome
  join_counter counter;
  implicit_outcome outcome;
};

enum class [[nodiscard]] implicit_polled_as { worker, outside };

/// A fork's poll was not zero: offers what is there. Called from the child, so that the newest continuation is
/// among it. It throws nothing; but the compiler must not know, or the landing pads would vanish.
FILCH_API implicit_polled_as implicit_polled();
/// Offers the newest join frame to a call in the default pool; null if it can't be had.
FILCH_API implicit_offer* implicit_offer_to_pool() noexcept;
/// The join frame goes on at its landing pad when the calling child returns.
FILCH_API void implicit_return_to_pad(implicit_offer&) noexcept;
/// In the handler of a join frame: keeps the exception that is handled, if f threw one.
FILCH_API void implicit_caught() noexcept;
/// The frame goes on: the outcome, out of its offer, which is free from here on; or f's exception.
FILCH_API implicit_outcome implicit_resumed() noexcept;
/// Runs first(argument) and the offer in the default pool, as the two sides of a join. `first` must not throw.
FILCH_API void implicit_join_in_default_pool(void (*first)(void*), void* argument, implicit_offer&);
/// Room for a Type that is there byte by byte.
template <class Type> union raw_bytes_of {
  Type value;
  raw_bytes_of() noexcept {}
  ~raw_bytes_of() {}
  void* bytes() noexcept { return static_cast<void*>(std::addressof(value)); }
};

// ---- how results travel in registers ------------------------------------------------------------

struct two_words {
  std::uint64_t a;
  std::uint64_t b;
};

/// How a child hands its result back: in registers whatever the compiler, else through a slot in the join frame.
template <class FnResult> consteval auto choose_carrier() {
  if constexpr (std::is_reference_v<FnResult>) {
    return std::type_identity<std::remove_reference_t<FnResult>*>{};
  } else if constexpr (std::is_same_v<FnResult, nothing>) {
    return std::type_identity<void>{};
  } else if constexpr (std::is_scalar_v<FnResult> && sizeof(FnResult) <= 8) {
    return std::type_identity<FnResult>{};
  } else if constexpr (is_small_and_trivial<FnResult>(8, 8)) {
    return std::type_identity<std::uint64_t>{};
  } else if constexpr (is_small_and_trivial<FnResult>(16, 8)) {
    return std::type_identity<two_words>{};
  } else {
    return std::type_identity<result_slot<FnResult>>{};
  }
}
template <class FnResult> using carrier_of = typename decltype(choose_carrier<FnResult>())::type;
template <class FnResult>
inline constexpr bool comes_in_slot = std::is_same_v<carrier_of<FnResult>, result_slot<FnResult>>;
/// What a child returns.
template <class FnResult>
using child_returns = std::conditional_t<comes_in_slot<FnResult>, void, carrier_of<FnResult>>;

struct no_slot {
  no_slot() noexcept {}
};
template <class FnResult>
using child_slot = std::conditional_t<comes_in_slot<FnResult>, result_slot<FnResult>, no_slot>;

template <class FnResult, class Fn>
FILCH_INLINE child_returns<FnResult> call_and_carry(Fn&& f, child_slot<FnResult>& slot) {
  static_cast<void>(slot);
  if constexpr (comes_in_slot<FnResult>) {
    slot.make(static_cast<Fn&&>(f));
  } else if constexpr (std::is_same_v<FnResult, nothing>) {
    static_cast<void>(std::invoke(static_cast<Fn&&>(f)));
  } else if constexpr (std::is_reference_v<FnResult>) {
    result_slot<FnResult> r;
    r.make(static_cast<Fn&&>(f));
    return r.value;
  } else if constexpr (std::is_same_v<child_returns<FnResult>, FnResult>) {
    return std::invoke(static_cast<Fn&&>(f));
  } else {
    FnResult const a = std::invoke(static_cast<Fn&&>(f));
    child_returns<FnResult> words{};
    std::memcpy(&words, static_cast<void const*>(std::addressof(a)), sizeof a);
    return words;
  }
}

/// What a child returned, kept until its value is wanted. Trivial where it came in registers.
template <class FnResult> struct carried {
  carrier_of<FnResult> value;
  FILCH_INLINE FnResult take() noexcept {
    if constexpr (std::is_reference_v<FnResult>) {
      return static_cast<FnResult>(*value);
    } else if constexpr (std::is_same_v<carrier_of<FnResult>, FnResult>) {
      return value;
    } else {
      raw_bytes_of<FnResult> a;
      std::memcpy(a.bytes(), std::addressof(value), sizeof(FnResult));
      return static_cast<FnResult&&>(a.value);
    }
  }
};
template <class FnResult>
  requires std::is_same_v<FnResult, nothing>
struct carried<FnResult> {
  FILCH_INLINE FnResult take() noexcept { return {}; }
};

/// The same, from the registers that the return barrier saved.
template <class FnResult> carried<FnResult> carried_from(implicit_registers const& r) noexcept {
  carried<FnResult> c;
  if constexpr (!std::is_same_v<FnResult, nothing>) {
    if constexpr (std::is_floating_point_v<carrier_of<FnResult>>) {
      std::memcpy(std::addressof(c.value), &r.xmm0, sizeof c.value);
    } else {
      static_assert(sizeof c.value <= 16);
      std::memcpy(std::addressof(c.value), &r, sizeof c.value);
    }
  }
  return c;
}

// ---- g, for whoever runs it ----------------------------------------------------------------------

/// Is g in an offer as its bytes? Else the offer says where it is.
template <class Gn> inline constexpr bool offered_as_bytes = !FILCH_IMPLICIT_SANITIZED && travels_by_value<Gn>;

template <class Gn> struct implicit_second {
  using Result = result_of<Gn>;
  static constexpr bool fits = sizeof(result_slot<Result>) <= implicit_outcome::k_storage &&
                               alignof(result_slot<Result>) <= 16 &&
                               (std::is_reference_v<Result> || std::is_trivially_copyable_v<Result>);

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
      if constexpr (offered_as_bytes<Gn>) {
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

// ---- f -------------------------------------------------------------------------------------------

/// Outside all pools: f and g run in the default pool, and the join frame goes on where it would after a theft.
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

/// The room for f's result, where it comes in one.
template <class FnResult, class... Slot>
FILCH_INLINE child_slot<FnResult>& slot_of(no_slot& none, Slot&... slot) noexcept {
  if constexpr (comes_in_slot<FnResult>) {
    static_cast<void>(none);
    return (slot, ...);
  } else {
    return none;
  }
}

template <class Fn, class FnResult, class... Slot>
FILCH_COLD child_returns<FnResult> implicit_child_polled(travels_as<Fn> f, Slot&... slot) {
  no_slot none;
  child_slot<FnResult>& to = detail::slot_of<FnResult>(none, slot...);
  if (implicit_polled() == implicit_polled_as::outside) {
    return detail::implicit_child_outside<Fn, FnResult>(static_cast<travels_as<Fn>>(f), to);
  }
  return detail::call_and_carry<FnResult>(static_cast<Fn&&>(f), to);
}

/// Does this worker's poll word ask for something?
FILCH_INLINE bool is_polled() noexcept {
  // relaxed: a request may as well be seen at the next fork.
  return fiber_self().poll.load(std::memory_order_relaxed) != 0;
}

/// f of a join, in a call of its own: while it runs, its caller is a join frame.
template <class Fn, class FnResult, class... Slot>
FILCH_OUTLINE_ALIGNED child_returns<FnResult> implicit_child(travels_as<Fn> f, Slot&... slot) {
  if (is_polled()) [[unlikely]]
    return detail::implicit_child_polled<Fn, FnResult>(static_cast<travels_as<Fn>>(f), slot...);
  no_slot none;
  return detail::call_and_carry<FnResult>(static_cast<Fn&&>(f), detail::slot_of<FnResult>(none, slot...));
}

// A callable of more than two words would go by reference, that is through memory. Where it fits into the registers
// of a call, it goes there word by word. What it captured is not known: a word may be one value or two halves. Clang
// keeps either in registers where words are copied as bytes, GCC where a word leaves as two halves and arrives as a
// whole.
#if defined(__clang__)
using leaving_word = std::uint64_t;
using half_word = std::uint32_t;
#else
struct [[gnu::may_alias]] leaving_word {
  std::uint32_t low;
  std::uint32_t high;
};
struct [[gnu::may_alias]] arriving_word {
  std::uint64_t bits;
};
struct [[gnu::may_alias]] half_word {
  std::uint32_t bits;
};
#endif

template <class Fn, class FnResult> struct words_of {
  using object = std::conditional_t<std::is_reference_v<Fn>, char, Fn>;  // never a function
  static constexpr bool are_whole = alignof(object) == 8;
  using leaving = std::conditional_t<are_whole, leaving_word, half_word>;
  /// A callable with a floating-point result has likely captured such values.
  using travelling =
      std::conditional_t<std::is_floating_point_v<FnResult>, std::conditional_t<are_whole, double, float>, leaving>;
  static constexpr std::size_t k_registers = std::is_floating_point_v<FnResult> ? 8 : comes_in_slot<FnResult> ? 5 : 6;
  static constexpr bool fit = !FILCH_IMPLICIT_SANITIZED && !travels_by_value<Fn> && !std::is_const_v<Fn> &&
                              alignof(object) >= sizeof(leaving) &&
                              is_small_closure<Fn>(k_registers * sizeof(leaving), 8);
  static constexpr std::size_t k_count = sizeof(object) / sizeof(leaving);
};

template <class Fn, class FnResult, class Indices, class... Slot> struct implicit_child_of_words;
template <class Fn, class FnResult, std::size_t... Words, class... Slot>
struct implicit_child_of_words<Fn, FnResult, std::index_sequence<Words...>, Slot...> {
  template <std::size_t> using word = typename words_of<Fn, FnResult>::travelling;

  FILCH_INLINE static child_returns<FnResult> call_with(Fn const& f, Slot&... slot) {
    return call(take<Words>(f)..., slot...);
  }
  /// The same words, into memory.
  FILCH_INLINE static void write(raw_bytes_of<Fn>& room, Fn const& f) noexcept {
    (put<Words>(room, take<Words>(f)), ...);
  }
  FILCH_OUTLINE_ALIGNED static child_returns<FnResult> call(word<Words>... words, Slot&... slot) {
    if (is_polled()) [[unlikely]]
      return polled(words..., slot...);
    raw_bytes_of<Fn> f;
    (put<Words>(f, words), ...);
    no_slot none;
    return detail::call_and_carry<FnResult>(static_cast<Fn&&>(f.value), detail::slot_of<FnResult>(none, slot...));
  }

 private:
  FILCH_COLD static child_returns<FnResult> polled(word<Words>... words, Slot&... slot) {
    raw_bytes_of<Fn> f;
    (put<Words>(f, words), ...);
    return detail::implicit_child_polled<Fn, FnResult>(static_cast<Fn&&>(f.value), slot...);
  }
#if defined(__clang__)
  template <std::size_t At> FILCH_INLINE static word<At> take(Fn const& f) noexcept {
    word<At> w;
    __builtin_memcpy(&w, reinterpret_cast<std::byte const*>(__builtin_addressof(f)) + At * sizeof w, sizeof w);
    return w;
  }
  template <std::size_t At> FILCH_INLINE static void put(raw_bytes_of<Fn>& f, word<At> w) noexcept {
    __builtin_memcpy(reinterpret_cast<std::byte*>(__builtin_addressof(f)) + At * sizeof w, &w, sizeof w);
  }
#else
  using leaving = typename words_of<Fn, FnResult>::leaving;
  using arriving = std::conditional_t<words_of<Fn, FnResult>::are_whole, arriving_word, half_word>;
  // Not through bit_cast where the types are the same: GCC would read two halves at once.
  template <std::size_t At> FILCH_INLINE static word<At> take(Fn const& f) noexcept {
    leaving const w = reinterpret_cast<leaving const*>(__builtin_addressof(f))[At];
    if constexpr (std::is_same_v<leaving, word<At>>) {
      return w;
    } else {
      return __builtin_bit_cast(word<At>, w);
    }
  }
  template <std::size_t At> FILCH_INLINE static void put(raw_bytes_of<Fn>& f, word<At> w) noexcept {
    reinterpret_cast<arriving*>(__builtin_addressof(f))[At] = __builtin_bit_cast(arriving, w);
  }
#endif
};

/// f of a join, the way it travels: what `call` is called with, and its address.
template <class Fn, class FnResult, class... Slot> struct implicit_f {
  using child =
      implicit_child_of_words<Fn, FnResult, std::make_index_sequence<words_of<Fn, FnResult>::k_count>, Slot...>;
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

template <class Carrier> FILCH_INLINE void use_result(Carrier& c) noexcept {
#if FILCH_IMPLICIT_USES_RESULT
  if constexpr (std::is_floating_point_v<Carrier>) {
    asm volatile("" : "+x"(c));
  } else if constexpr (std::is_same_v<Carrier, two_words>) {
    asm volatile("" : "+r"(c.a), "+r"(c.b));
  } else {
    asm volatile("" : "+r"(c));
  }
#else
  static_cast<void>(c);
#endif
}

// ---- g, while f runs -----------------------------------------------------------------------------

/// A g of more than two words has to survive f in memory. It is written there just before f is called, and read again
/// by whoever runs it. Were it the same variables as f's captures, compilers would keep those in memory as well,
/// since the landing pad needs them: f would compute with what it has to load.
template <class Gn>
inline constexpr bool waits_in_memory =
    !FILCH_IMPLICIT_SANITIZED && !travels_by_value<Gn> && is_small_closure<Gn>(64, 16);
template <class Gn, bool = waits_in_memory<Gn>> class waiting_closure {
 public:
  FILCH_INLINE explicit waiting_closure(std::remove_reference_t<Gn>& g) noexcept {
#if defined(__clang__)
    constexpr bool k_by_words = false;
#else
    constexpr bool k_by_words =
        words::fit;  // copied as it is, four ints would be gathered in a vector register first
#endif
    if constexpr (k_by_words) {
      implicit_child_of_words<Gn, result_of<Gn>, std::make_index_sequence<words::k_count>>::write(room_, g);
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
#if defined(__NO_INLINE__)
    // Where only the pad needs g's address, and a pure function that is not inlined returns it, std::forward say,
    // compilers would call that on the pad.
    if constexpr (std::is_object_v<std::remove_reference_t<Gn>>) {
      asm volatile("" : : "m"(reinterpret_cast<char const&>(g)));
    }
#endif
  }
  FILCH_INLINE std::remove_reference_t<Gn>& get() noexcept { return g_; }

 private:
  std::remove_reference_t<Gn>& g_;
};

/// A word of the join frame, read on the landing pad. Without optimisation, sanitizers would call something first.
template <class Type> FILCH_INLINE Type unseen_read(Type const& word) noexcept {
#if FILCH_IMPLICIT_SANITIZED && !defined(__OPTIMIZE__)
  Type read;
  asm("mov %1, %0" : "=r"(read) : "m"(word));  // as wide as the register
  return read;
#else
  return word;
#endif
}

/// On the landing pad of a join frame: tells who lands there what g is and how to go on. On the way of an
/// exception that f threw, nothing.
template <class Gn, auto Child> struct implicit_offering {
  std::remove_reference_t<Gn>* g;
  second_slot<Gn>* slot;
  bool is_on = true;

  FILCH_INLINE implicit_offering(std::remove_reference_t<Gn>& closure, second_slot<Gn>& s) noexcept
      : g(__builtin_addressof(closure)), slot(__builtin_addressof(s)) {}
  implicit_offering(implicit_offering const&) = delete;
  implicit_offering& operator=(implicit_offering const&) = delete;
  FILCH_INLINE void dismiss() noexcept { is_on = false; }
  /// What a thief is handed of g: its bytes from At on, or first its address.
  template <std::size_t At> FILCH_INLINE std::uint64_t word_of_g() const noexcept {
    using object = std::remove_cvref_t<Gn>;
    if constexpr (!offered_as_bytes<Gn>) {
      if constexpr (At == 0) return reinterpret_cast<std::uint64_t>(unseen_read(g));
    } else if constexpr (!std::is_empty_v<object> && At < sizeof(object)) {  // else its address is not looked for
      std::uint64_t word = 0;
      constexpr std::size_t k_bytes = sizeof(object) - At < 8 ? sizeof(object) - At : 8;
      __builtin_memcpy(&word, reinterpret_cast<std::byte const*>(g) + At, k_bytes);
      return word;
    }
    return 0;
  }

  // Nothing here may call or push anything: below the stack pointer lie younger frames.
  FILCH_INLINE ~implicit_offering() {
    if (!unseen_read(is_on)) return;
    std::uint64_t const first = word_of_g<0>();
    std::uint64_t const second = word_of_g<8>();
    void* where = nullptr;
    if constexpr (!implicit_second<Gn>::fits) where = unseen_read(slot);
    // Comes back with all general registers but rax and r11 as they were, so that the frame needs to save none for
    // it.
    constexpr auto k_known_to = FILCH_IMPLICIT_USES_RESULT ? nullptr : Child;
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

// ---- the join frame ------------------------------------------------------------------------------

/// How a slot comes to the cold path: in no register where there is none.
template <class Slot> using passed_slot = std::conditional_t<std::is_same_v<Slot, no_slot>, no_slot, Slot&>;

/// The rest of a join whose frame was offered, or whose f threw: g still runs to its end, and then f's exception
/// leaves.
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
        static_cast<void>(std::invoke(static_cast<Gn&&>(g)));
      } catch (...) {  // f's exception is the one that leaves
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
  } catch (FILCH_IMPLICIT_CAUGHT) {
    // Both handlers are the same, so that no register has to be saved for which of them it is.
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
caught:  // g runs outside the handlers: in it, current_exception() is what it was around the join
  return detail::implicit_after_pad<Fn, Gn>(detail::hand_on<Gn>(waiting.get()), f_slot, g_slot);
}

template <class Fn, class Gn>
FILCH_OUTLINE_ALIGNED std::pair<result_of<Fn>, result_of<Gn>> implicit_fork_join(travels_as<Fn> f, travels_as<Gn> g) {
  return detail::implicit_fork_join_here<Fn, Gn>(f, g);
}

}  // namespace filch::inline FILCH_ABI::detail

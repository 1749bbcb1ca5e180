// The cactus stack: types, and the fast path of a fork. Protocol: src/schedulers/cactus/protocol.md, which has the
// edges below.
//
//   task      the rest of a join up to its join counter, or a spawned task
//   private   a task at or above `split`: only its owner touches it
//   requested `split` is above every place: a thief wants the owner to make more tasks public
#pragma once

#include <filch/detail/cactus_words.hpp>
#include <filch/detail/closure_words.hpp>
#include <filch/detail/in_order.hpp>
#include <filch/detail/packet.hpp>
#include <filch/detail/standard.hpp>

#include <atomic>
#include <exception>

namespace filch::inline FILCH_ABI::detail {

struct cactus_task : fiber_task {
  join_counter counter;  // a join's; made ready when the task becomes public, so that other forks pay nothing

  /// Owner: where the task was pushed, if its join keeps that. In the join counter's room, so null once it has been
  /// public.
  void keep_place(fiber_task** place) noexcept { counter.suspended = reinterpret_cast<runtime::fiber_stack*>(place); }
  fiber_task** place() const noexcept { return reinterpret_cast<fiber_task**>(counter.suspended); }
};

enum class [[nodiscard]] cactus_outcome { run_it, met };

/// After a push: answers a request for tasks.
FILCH_API void cactus_pushed_slow() noexcept;
/// A join whose compare failed. run_it: the task is the owner's again. met: a thief ran it, and it is done; the
/// caller may be on another thread than before.
FILCH_API cactus_outcome cactus_join_slow(join_counter&) noexcept;
/// Runs call(argument) as a worker of the default pool. `call` must not throw.
FILCH_API void cactus_enter_default(void (*call)(void*), void* argument);

/// Does a join of these remember its task's place? Then it does not have to wait for the top that f stores last. That
/// is most of what a fork of short functions costs; where closures are large, the store costs as much as it saves
/// (docs/decisions/0006-cactus.md).
template <class Fn, class Gn> inline constexpr bool cactus_keeps_place = travels_by_value<Fn> && travels_by_value<Gn>;

/// g of a join, for the worker that runs it.
template <class Gn> struct cactus_second : cactus_task {
  using Result = result_of<Gn>;

  // As in direct's descriptors: a closure that fits in two registers is copied, others stay where they are.
  std::conditional_t<travels_by_value<Gn>, std::remove_reference_t<Gn>, std::remove_reference_t<Gn>*> closure;
  result_slot<Result> result;
  result_slot<std::exception_ptr> failure;  // there once a thief ran it

  FILCH_INLINE explicit cactus_second(std::remove_reference_t<Gn>& g) noexcept : closure(hold(g)) {
    run = &run_stolen;
  }

  static auto hold(std::remove_reference_t<Gn>& g) noexcept {
    if constexpr (travels_by_value<Gn>) {
      return g;
    } else {
      return std::addressof(g);
    }
  }
  /// g, of the category with which it was handed to join.
  Gn&& g() noexcept {
    if constexpr (travels_by_value<Gn>) {
      return static_cast<Gn&&>(closure);
    } else {
      return static_cast<Gn&&>(*closure);
    }
  }

  static join_counter& run_stolen(fiber_task& task) noexcept {
    auto& self = static_cast<cactus_second&>(task);
    std::exception_ptr failure;
    try {
      self.result.make(self.g());
    } catch (...) {
      failure = detail::caught_exception();
    }
    self.failure.make([&failure] { return std::move(failure); });
    return self.counter;
  }
  /// The result that the thief left.
  FILCH_COLD Result take() {
    std::exception_ptr const thrown = failure.take();
    failure.drop();
    if (thrown) std::rethrow_exception(thrown);
    drop_on_exit<Result> guard{result};
    return result.take();
  }
};

/// Takes the newest task back from the current worker, or waits for its thief.
template <bool KeepsPlace> FILCH_INLINE cactus_outcome cactus_take_back(cactus_task& task) noexcept {
  fiber_worker& w = fiber_self();
  // A kept place is right: a task that was never public is the newest one of this worker (I4 in protocol.md).
  fiber_task** const place = KeepsPlace ? task.place() : w.head - 1;
  if (cactus_split(w).is_above(place)) [[unlikely]]
    return cactus_join_slow(task.counter);
  w.head = place;
  return cactus_outcome::run_it;
}

/// f threw: g still runs to its end, and then f's exception leaves.
template <bool KeepsPlace, class Gn>
[[noreturn]] FILCH_COLD void cactus_join_after_throw(cactus_second<Gn>& second, std::exception_ptr& kept) {
  std::exception_ptr of_f = std::move(kept);
  std::destroy_at(&kept);
  try {
    if (cactus_take_back<KeepsPlace>(second) == cactus_outcome::run_it) {
      static_cast<void>(detail::call_with(second.g()));
    } else {
      static_cast<void>(second.take());
    }
  } catch (...) {  // f's exception is the one that leaves
    detail::drop_caught_exception();
  }
  std::rethrow_exception(std::move(of_f));
}

template <class Fn, class Gn>
std::pair<result_of<Fn>, result_of<Gn>> cactus_fork_join(travels_as<Fn> f, travels_as<Gn> g);

/// On no worker, or in a stay: the call is not forked here.
template <class Fn, class Gn>
FILCH_COLD std::pair<result_of<Fn>, result_of<Gn>> cactus_join_unforked(travels_as<Fn> f, travels_as<Gn> g) {
  if (fiber_self().kind == fiber_kind::staying)
    return detail::join_in_order(static_cast<Fn&&>(f), static_cast<Gn&&>(g));
  return detail::call_through(&cactus_enter_default, [&] {
    return detail::cactus_fork_join<Fn, Gn>(static_cast<Fn&&>(f), static_cast<Gn&&>(g));
  });
}

template <class Fn, class Gn>
FILCH_INLINE std::pair<result_of<Fn>, result_of<Gn>> cactus_fork_join_here(std::remove_reference_t<Fn>& f,
                                                                           std::remove_reference_t<Gn>& g) {
  using FnResult = result_of<Fn>;
  constexpr bool k_keeps_place = cactus_keeps_place<Fn, Gn>;
  cactus_second<Gn> second(g);
  {
    fiber_worker& w = fiber_self();
    fiber_task** const place = w.head;
    if constexpr (k_keeps_place) second.keep_place(place);
    if (cactus_split(w).is_above(place)) [[unlikely]] {
      if (w.kind != k_cactus_tag) {
        if constexpr (is_small_closure<Fn>(128, 64)) {
          // The slow path gets a copy: f's address is not taken then, and its captures stay in registers.
          Fn copy(f);
          return detail::cactus_join_unforked<Fn, Gn>(detail::hand_on<Fn>(copy), detail::hand_on<Gn>(g));
        } else {
          return detail::cactus_join_unforked<Fn, Gn>(detail::hand_on<Fn>(f), detail::hand_on<Gn>(g));
        }
      }
      *place = std::addressof(second);
      w.head = place + 1;
      cactus_pushed_slow();
    } else {
      *place = std::addressof(second);
      w.head = place + 1;
    }
  }
  result_slot<FnResult> a;
  result_slot<std::exception_ptr> of_f;
  try {
    a.make(static_cast<Fn&&>(f));
  } catch (...) {
    // g runs outside the handler: in it, current_exception() is what it was around the join.
    of_f.make(detail::caught_exception);
    goto threw;
  }
  {
    drop_on_exit<FnResult> guard{a};
    if (cactus_take_back<k_keeps_place>(second) != cactus_outcome::run_it) [[unlikely]]
      return {a.take(), second.take()};
    return {a.take(), detail::call(static_cast<Gn&&>(g))};
  }
threw:
  cactus_join_after_throw<k_keeps_place, Gn>(second, of_f.value);
}

/// A frame of its own, as for direct: docs/decisions/0001-outlined-join.md.
template <class Fn, class Gn>
FILCH_OUTLINE_ALIGNED std::pair<result_of<Fn>, result_of<Gn>> cactus_fork_join(travels_as<Fn> f, travels_as<Gn> g) {
  return detail::cactus_fork_join_here<Fn, Gn>(f, g);
}
template <class Fn, class Gn>
FILCH_OUTLINE_ALIGNED std::pair<result_of<Fn>, result_of<Gn>> cactus_fork_join_words(std::uintptr_t f,
                                                                                     std::uintptr_t more_of_f,
                                                                                     std::uintptr_t g,
                                                                                     std::uintptr_t more_of_g) {
  Fn whole_f = detail::closure_of_words<Fn>(f, more_of_f);
  Gn whole_g = detail::closure_of_words<Gn>(g, more_of_g);
  return detail::cactus_fork_join_here<Fn, Gn>(whole_f, whole_g);
}

}  // namespace filch::inline FILCH_ABI::detail

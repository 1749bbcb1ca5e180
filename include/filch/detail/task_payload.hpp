// The payload of a descriptor of a task stack: at a fork the closure or its address, after a steal the result or the
// exception. The fork (task_stack.hpp) stores it, the thief's wrapper reads it and leaves the outcome, the join takes
// that. `Stack` is described in task_stack.hpp.
#pragma once

#include <filch/detail/caught.hpp>
#include <filch/detail/result.hpp>
#include <filch/detail/standard.hpp>

#include <cstddef>
#include <exception>
#include <new>

namespace filch::inline FILCH_ABI::detail {

inline constexpr std::size_t k_cache_line = 64;
inline constexpr std::size_t k_task_payload = 48;

enum class [[nodiscard]] join_outcome { run_it, returned, threw };

/// While it exists, joins run in order on the thread that made it: a worker without room for tasks.
template <class Stack> struct task_staying : Stack::worker {
  typename Stack::worker* outer;  // the thread's worker before

  FILCH_API task_staying();
  FILCH_API ~task_staying();
  task_staying(task_staying const&) = delete;
  task_staying& operator=(task_staying const&) = delete;
};

/// Does it fork in no copy, move or destructor?
template <class Type>
inline constexpr bool never_forks = std::is_reference_v<Type> || detail::is_copied_as_bytes<Type>();
/// Stands while a payload is copied, moved or destroyed in its descriptor: forks would overwrite the descriptor.
template <class Stack, bool Forks> using in_order_if = std::conditional_t<Forks, task_staying<Stack>, nothing>;

/// Is the closure copied into the descriptor? Trivial temporaries that fit in two registers are. All others stay in
/// the joining frame, and the descriptor holds their address (docs/decisions/0004-large-closures.md).
template <class Gn> inline constexpr bool task_by_value = travels_by_value<Gn>;

/// Does the result travel back in the descriptor? The thief makes all others on the heap.
template <class Result>
inline constexpr bool task_result_fits =
    sizeof(result_slot<Result>) <= k_task_payload && alignof(result_slot<Result>) <= 16;

template <class Type> Type* room_as(void* room) noexcept { return std::launder(static_cast<Type*>(room)); }
template <class Type, class Task> Type* payload_as(Task& t) noexcept { return room_as<Type>(t.payload); }

/// Thief: leaves the result of call() in the room, or its exception. Returns whether there is a result.
template <class Result, class Call> bool keep_outcome(void* room, Call&& call) noexcept {
  try {
    if constexpr (task_result_fits<Result>) {
      (::new (room) result_slot<Result>)->make(std::forward<Call>(call));
    } else {
      owned<result_slot<Result>> slot(new result_slot<Result>());
      slot->make(std::forward<Call>(call));
      ::new (room) result_slot<Result>*(slot.release());
    }
    return true;
  } catch (...) {
    ::new (room) std::exception_ptr(detail::caught_exception());
    return false;
  }
}

/// Thief: runs the task. The wrapper of K.-F. Faxen's paper (ICPP 2010). Gn is the type with which the closure was
/// handed to join.
template <class Gn, class Task> bool run_stolen(Task& t, void* outcome) noexcept {
  using Result = result_of<Gn>;
  if constexpr (task_by_value<Gn>) {
    Gn closure = *payload_as<Gn>(t);
    return detail::keep_outcome<Result>(outcome,
                                        [&]() -> raw_result<Gn> { return detail::call_with(std::move(closure)); });
  } else {
    auto* const closure = *payload_as<std::remove_reference_t<Gn>*>(t);
    return detail::keep_outcome<Result>(
        outcome, [&]() -> raw_result<Gn> { return detail::call_with(static_cast<Gn&&>(*closure)); });
  }
}

/// Owner, at a fork.
template <class Gn, class Task> FILCH_INLINE void store_task(Task& t, std::remove_reference_t<Gn>& g) noexcept {
  t.run = &run_stolen<Gn, Task>;
  if constexpr (task_by_value<Gn>) {
    ::new (static_cast<void*>(t.payload)) Gn(g);
  } else {
    ::new (static_cast<void*>(t.payload)) std::remove_reference_t<Gn>*(std::addressof(g));
  }
}

inline std::exception_ptr take_exception(void* room) noexcept {
  auto* const kept = room_as<std::exception_ptr>(room);
  std::exception_ptr e = std::move(*kept);
  kept->~exception_ptr();
  return e;
}

/// Owner, at the join of a stolen task: returns its result, or throws its exception.
template <class Stack, class Result> FILCH_COLD Result take_outcome(typename Stack::task& t, join_outcome outcome) {
  if (outcome == join_outcome::threw) std::rethrow_exception(take_exception(t.payload));
  if constexpr (task_result_fits<Result>) {
    [[maybe_unused]] in_order_if<Stack, !never_forks<Result>> const here{};
    auto& slot = *payload_as<result_slot<Result>>(t);
    drop_on_exit<Result> guard{slot};
    return slot.take();
  } else {
    owned<result_slot<Result>> slot(*payload_as<result_slot<Result>*>(t));
    drop_on_exit<Result> guard{*slot};
    return slot->take();
  }
}

}  // namespace filch::inline FILCH_ABI::detail

// Many forks on one frame, on a task stack: the `frame` of filch::direct and filch::channel, which filch::scope uses.
// src/runtime/task_frame_sync.hpp has sync()'s slow part. Protocol: "Scope" in src/schedulers/direct/protocol.md.
#pragma once

#include <filch/detail/first_failure.hpp>
#include <filch/detail/task_stack.hpp>

#include <optional>

namespace filch::inline FILCH_ABI::detail {

/// Spawned tasks lie one above the other on the owner's task stack. sync() runs them where they lie, the oldest
/// first, while their own forks lie above all of them; then it takes them off. Invariant: they are the descriptors
/// [base_, next_) of worker_. A spawn runs its task in place if the top is elsewhere (under a join, say), or while
/// sync() takes tasks off. On another worker it runs the task in place and touches nothing.
template <class Stack> class task_frame {
  using worker = typename Stack::worker;
  using task = typename Stack::task;

 public:
  task_frame() noexcept : worker_(Stack::self()), base_(worker_->top), next_(base_) {}
  task_frame(task_frame const&) = delete;
  task_frame& operator=(task_frame const&) = delete;
  /// Waits for all spawned tasks. Drops an exception that no sync() has thrown.
  ~task_frame() {
    if (next_ != base_) drain();
  }

  /// See filch::spawner::spawn.
  template <class Fn> void spawn(Fn&& f) {
    using closure = std::decay_t<Fn>;
    worker& w = *Stack::self();
    if (&w != worker_) {
      detail::call_spawned(std::forward<Fn>(f));
      return;
    }
    if constexpr (fits<closure>) {
      unsigned const number = spawned_++;
      if (!room_above()) {
        run_in_place(std::forward<Fn>(f), number);
        return;
      }
      task& t = *w.top;
      {
        [[maybe_unused]] in_order_if<Stack, !std::is_trivially_constructible_v<closure, Fn>> const here{};
        ::new (static_cast<void*>(t.payload)) closure(std::forward<Fn>(f));
      }
      push<closure, !never_forks<closure>>(w, number);
    } else {
      // Made first, since the copy constructor may spawn, too.
      owned<closure> made(new closure(std::forward<Fn>(f)));
      unsigned const number = spawned_++;
      if (!room_above()) {
        run_in_place(std::move(*made), number);
        return;
      }
      ::new (static_cast<void*>(w.top->payload)) closure*(made.release());
      push<closure, !never_forks<closure>>(w, number);
    }
  }

  /// See filch::spawner::sync.
  void sync() {
    if (next_ && next_ != base_) drain();  // a task of its own has nothing to wait for
    spawned_ = 0;
    failure_.throw_if_any();
  }

 private:
  static constexpr std::ptrdiff_t k_pending_most = 4096;  // 256 KiB of descriptors
  // Bytes for the closure. The last bytes of the payload hold the task's number in the order of spawns.
  static constexpr std::size_t k_room = k_task_payload - sizeof(unsigned);

  template <class Closure>
  static constexpr bool fits =
      sizeof(Closure) <= k_room && alignof(Closure) <= 16 && std::is_nothrow_move_constructible_v<Closure>;

  static unsigned& number_of(task& t) noexcept {
    return *std::launder(reinterpret_cast<unsigned*>(t.payload + k_room));
  }

  /// May the next task go on top of the worker's stack, as a task of this frame?
  bool room_above() noexcept {
    if (worker_->top != next_) return false;
    auto const has_room = [this] { return next_ - base_ < k_pending_most && next_ != worker_->end; };
    if (!has_room()) reclaim();
    return has_room();
  }

  template <class Fn> void run_in_place(Fn&& f, unsigned number) {
    try {
      detail::call_spawned(std::forward<Fn>(f));
    } catch (...) {
      std::exception_ptr e = detail::caught_exception();
      failure_.keep(e, number);
    }
  }

  // The payload is free as soon as the closure is out of it. If the owner runs the frame's last task, forks of the
  // closure and of its destructor lie there. So the exception goes into its room last. A thief's room is the payload,
  // its owner's is not.
  template <class Closure, bool Forks> static bool run_stored(task& t, void* outcome) noexcept {
    std::exception_ptr failure;
    // The owner runs it. This comes first: the stay below may offer tasks on the stack, this one included.
    if (outcome != t.payload) Stack::emptied(t);
    if constexpr (fits<Closure>) {
      std::optional<Closure> closure;
      {
        [[maybe_unused]] in_order_if<Stack, Forks> const here{};
        closure.emplace(std::move(*payload_as<Closure>(t)));
        payload_as<Closure>(t)->~Closure();
      }
      failure = run_closure(*closure);
    } else {
      owned<Closure> closure(*payload_as<Closure*>(t));
      failure = run_closure(*closure);
    }
    if (!failure) return true;
    ::new (outcome) std::exception_ptr(std::move(failure));
    return false;
  }
  template <class Closure> static std::exception_ptr run_closure(Closure& closure) noexcept {
    try {
      static_cast<void>(detail::call_with(std::move(closure)));
      return nullptr;
    } catch (...) {
      return detail::caught_exception();
    }
  }
  /// Makes the top descriptor, which holds the closure or its address already, a task of this frame.
  template <class Closure, bool Forks> void push(worker& w, unsigned number) {
    task& t = *w.top;
    ::new (static_cast<void*>(t.payload + k_room)) unsigned(number);
    t.run = &run_stored<Closure, Forks>;
    w.top = next_ = &t + 1;
#if FILCH_COUNT_FORKS
    count_fork(w);
#endif
    if (Stack::is_slow(w, &t)) [[unlikely]]
      Stack::pushed_slow(w, t);
  }

  // in src/runtime/task_frame_sync.hpp
  FILCH_API void drain() noexcept;
  FILCH_API void reclaim() noexcept;
  void run_in_order(task* end) noexcept;
  void run_here(task&, decltype(task::run)) noexcept;
  void finish(task&, join_outcome) noexcept;

  worker* const worker_;  // outside all pools: one without room, so all tasks run in place
  task* const base_;
  task* next_;            // the descriptor of the next task; null while sync() takes tasks off
  unsigned spawned_ = 0;  // tasks since the last sync(), those that ran in place included
  first_failure failure_;
};

}  // namespace filch::inline FILCH_ABI::detail

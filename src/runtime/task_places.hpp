// The state of a thread for a scheduler with task stacks: on a worker, in a stay, in the run of another scheduler's
// pool, outside. The source file of each such scheduler includes it.
#pragma once

#include <filch/detail/task_stack.hpp>

#include "runtime/fork_generation.hpp"
#include "runtime/team.hpp"

#include <cstddef>
#include <memory>
#include <span>

namespace filch::inline FILCH_ABI::detail {

/// `Member` is a worker: `team`, `index`, and `outer`, the thread's worker before this one.
template <class Stack, class Member> class task_places {
  using worker = typename Stack::worker;
  using task = typename Stack::task;
  using staying = task_staying<Stack>;

 public:
  /// The worker of all threads outside all pools. It has no room, so that a fork's compare sends them to the slow
  /// path.
  /// Never written.
  inline static constinit worker outside{nullptr};
  /// Begin and end of the task arrays of threads in a stay.
  inline static constinit task no_room{};

  static bool is_staying(worker const* w) noexcept { return w->end == &no_room; }

  /// The innermost worker, also inside a stay; null outside.
  static Member* member_or_null(worker* w) noexcept {
    w = around_stays(w);
    return w == &outside || is_screen(w) ? nullptr : static_cast<Member*>(w);
  }

  /// The index of the calling thread's innermost worker; k_no_worker outside.
  static unsigned index_of_caller() noexcept {
    Member const* const m = member_or_null(Stack::self());
    return m ? m->index : k_no_worker;
  }

  /// Attaches s to the team of the calling thread's worker; to the other pool outside. Where joins run in order
  /// without a worker, s gets no pool.
  template <class Pool> static void attach(task_source& s, Pool& (*default_pool)()) {
    if (Member* const m = member_or_null(Stack::self())) {
      m->team->attach(s, runtime::k_any_root);
    } else if (!is_staying(Stack::self())) {
      default_pool().attach(s);
    }
  }

  /// On a worker, for loops: see filch::scheduler.
  static bool pays_to_wake(std::uint64_t ticks) noexcept {
    Member const& m = *member_or_null(Stack::self());
    return m.team->pays_to_wake(m.index, ticks);
  }
  static void ran_alone(std::uint64_t ticks) noexcept {
    Member const& m = *member_or_null(Stack::self());
    m.team->ran_alone(m.index, ticks);
  }
  static bool works_alone() noexcept { return workers_around() == 1; }
  /// See workers_around.hpp.
  static unsigned workers_around() noexcept {
    Member const* const m = member_or_null(Stack::self());
    return m == nullptr || is_staying(Stack::self()) ? 1 : m->team->workers();
  }

  /// Lays the tasks of a new worker out, from behind it to `end`. Returns the first one. Memory that the kernel has
  /// zeroed is empty descriptors.
  static task* lay_out(Member& m, std::byte* end) noexcept {
    auto* const first = reinterpret_cast<task*>(&m + 1);
    m.top = first;
    m.end = first + static_cast<std::size_t>(end - reinterpret_cast<std::byte*>(first)) / sizeof(task);
    return first;
  }

  /// The calling thread's place in this team, where it is further out on its stack; else null.
  template <class Team> static Member* place_of_caller(Team const& team) noexcept { return find(team).place; }

  /// pool.run: in place where the caller is a worker of this team already.
  template <class Team> static void enter(Team& team, void (*call)(void*), void* argument) {
    auto const [here, stay] = find(team);
    if (!here) {
      team.enter(call, argument);
      return;
    }
    worker* const inner = Stack::self();
    // A fiber of another pool inside this one stays on its thread, which has this worker.
    runtime::kept_thread const stays;
    // For workers further in, which look at nothing meanwhile.
    if (inner != here) serve_all_thieves();
    worker* const during = stay ? stay : here;
    Stack::self() = during;
    call(argument);
    go_back(during, inner);
  }

  /// Runs call(argument) with the calling thread as this worker.
  template <class Call> static void as_worker(Member& m, Call&& call) {
    worker* const outer = Stack::self();
    m.outer = outer;
    Stack::self() = &m;
    call();
    go_back(&m, outer);
  }

  static void begin_stay(staying& s) {
    runtime::hide_on_entry({hide, show, answer, block});
    s.outer = Stack::self();
    serve_own_thieves();
    s.top = s.end = &no_room;
    Stack::self() = &s;
  }
  static void end_stay(staying& s) noexcept {
    go_back(&s, s.outer);
    serve_own_thieves();
  }

  /// Before the first worker of this scheduler: registers them for children of fork() and runs of other pools.
  static void watch() {
    runtime::watch_forks(leave_pools_in_child);
    runtime::hide_on_entry({hide, show, answer, block});
  }

  /// In a poll; before a stay or another pool's run, and after it: thieves that requested meanwhile may sleep.
  static void serve_own_thieves() noexcept {
    if (Member* const m = member_or_null(Stack::self())) m->team->serve_thieves(*m);
  }

 private:
  /// The worker of a thread in another pool's run: as `outside`, without room. Code that runs there may change
  /// threads, and must not fork on a worker of this pool.
  struct screen : worker {
    worker* outer;
    explicit screen(worker* o) noexcept : worker(nullptr), outer(o) {}
  };

  /// A worker of the calling thread, and the stay, if any, in which its code goes on: also where runs of other pools
  /// lie inside the stay.
  struct found {
    Member* place = nullptr;
    worker* stay = nullptr;
  };
  template <class Team> static found find(Team const& team) noexcept {
    worker* stay = nullptr;
    for (worker* w = Stack::self(); w != &outside; w = outer_of(w)) {
      if (is_staying(w)) {
        if (!stay) stay = w;
        continue;
      }
      if (!is_screen(w) && static_cast<Member*>(w)->team == &team) return {static_cast<Member*>(w), stay};
      stay = nullptr;
    }
    return {};
  }

  /// A child that was forked meanwhile is outside all pools, and stays there.
  static void go_back(worker const* from, worker* to) noexcept {
    if (Stack::self() == from) Stack::self() = to;
  }

  static bool is_screen(worker const* w) noexcept { return w != &outside && w->end == nullptr; }
  /// Not of `outside`.
  static worker* outer_of(worker* w) noexcept {
    if (is_staying(w)) return static_cast<staying*>(w)->outer;
    return is_screen(w) ? static_cast<screen*>(w)->outer : static_cast<Member*>(w)->outer;
  }
  static worker* around_stays(worker* w) noexcept {
    while (is_staying(w)) w = static_cast<staying*>(w)->outer;
    return w;
  }

  // A child of fork() is outside all pools, also where it was forked by a task.
  static void leave_pools_in_child() { Stack::self() = &outside; }

  static bool hide(void* room) noexcept {
    worker* const w = Stack::self();
    if (w == &outside) return false;
    answer();
    static_assert(sizeof(screen) <= runtime::hideable::k_room && alignof(screen) <= 64);
    Stack::self() = ::new (room) screen(w);
    return true;
  }
  static void show(void* room) noexcept {
    auto* const hiding = std::launder(static_cast<screen*>(room));
    go_back(hiding, hiding->outer);
    std::destroy_at(hiding);
    serve_own_thieves();
  }
  /// Outwards from the worker on which a run goes on in place: those further in, of this scheduler, are left out.
  static std::size_t block(std::span<runtime::team*> of) noexcept {
    std::size_t n = 0;
    for (worker* w = Stack::self(); w != &outside && n < of.size(); w = outer_of(w)) {
      if (is_staying(w) || is_screen(w)) continue;
      auto* const m = static_cast<Member*>(w);
      m->team->offer_all(*m);
      of[n++] = m->team;
    }
    return n;
  }
  /// In a wait for tasks of other workers: offers some of its own tasks, and gives back received tasks that it has
  /// not begun, under schedulers that have such.
  static void answer() noexcept {
    Member* const m = member_or_null(Stack::self());
    if (!m) return;
    m->team->serve_thieves(*m);
    if constexpr (requires { m->team->give_back_received(*m); }) m->team->give_back_received(*m);
  }
};

}  // namespace filch::inline FILCH_ABI::detail

// Where programs that are checked for races call the library filch_races: src/races has it, docs/races.md says how to
// use it. The library is not instrumented, so the words here are invisible to the checks.
#pragma once

#include <filch/detail/first_failure.hpp>
#include <filch/detail/platform.hpp>
#include <filch/pool_options.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>

namespace filch::inline FILCH_ABI::detail {

/// Where sections become parallel: a join, or a scope with its tasks. Written by the library only.
struct race_place {
  race_place* outer;     // the next older one
  race_place* inner;     // the next newer one
  std::uintptr_t stack;  // lower addresses were free at the fork: code in the parallel set had its own frames there
  std::uintptr_t pc;     // in the function that forks
  std::uint32_t slot;
  std::uint32_t depth;     // calls on the stack of calls
  std::uint32_t parent;    // the section that forked
  std::uint32_t parallel;  // a section of the parallel set; 0: there is none
  std::uint32_t locks;     // that the parent holds
  std::uint8_t kind;       // 0: joins here run in order
};

/// A join. `begins` is called in the function whose frame lives until `ends`.
FILCH_API void race_join_begins(race_place&) noexcept;
FILCH_API void race_join_turns(race_place&) noexcept;
FILCH_API void race_join_ends(race_place&) noexcept;

/// A scope: tasks run where they are spawned.
struct FILCH_API race_scope {
  race_scope() noexcept;
  race_scope(race_scope const&) = delete;
  race_scope& operator=(race_scope const&) = delete;
  ~race_scope();
  /// Runs task(argument), and keeps its exception.
  void spawn(void (*task)(void*), void* argument);
  /// Throws the kept exception.
  void sync();

 private:
  race_place place_;
  unsigned spawned_ = 0;
  std::uint32_t stays_;  // how many stays were around it when it began
  first_failure failure_;
};

/// Settings and name of a pool that has no threads.
class FILCH_API race_pool_base {
 public:
  race_pool_base(unsigned scheduler, pool_options const& asked);
  race_pool_base(race_pool_base const&) = delete;
  race_pool_base& operator=(race_pool_base const&) = delete;
  ~race_pool_base();
  unsigned workers() const noexcept { return workers_; }
  unsigned places() const noexcept;

 protected:
  void enter(void (*call)(void*), void* argument);

 private:
  unsigned const scheduler_;
  unsigned const workers_;
  race_place detached_;  // tasks that outlive their call
  bool has_detached_ = false;
};

/// Is the calling thread in a pool of that scheduler, or in a stay?
FILCH_API bool race_inside(unsigned scheduler) noexcept;
FILCH_API unsigned race_worker_index(unsigned scheduler) noexcept;
/// Runs task(argument), beside all that follows up to the barrier of this call of run.
FILCH_API void race_detach(void (*task)(void*), void* argument) noexcept;
FILCH_API void race_barrier() noexcept;

/// While it exists, joins run in order.
struct FILCH_API race_staying {
  race_staying() noexcept;
  race_staying(race_staying const&) = delete;
  race_staying& operator=(race_staying const&) = delete;
  ~race_staying();
};

FILCH_API void race_locked(void const* lock) noexcept;
FILCH_API void race_unlocked(void const* lock) noexcept;
/// The caller got this value of a worker_local: until its next fork or join no other section has it.
FILCH_API void race_has_local(void const* value, std::size_t bytes) noexcept;

}  // namespace filch::inline FILCH_ABI::detail

// The frame of filch::implicit: many forks, one join. src/schedulers/implicit/frame.cpp has its slow paths, and
// protocol.md there argues them.
#pragma once

#include <filch/detail/fiber_frame.hpp>

#include <atomic>
#include <cstdint>

namespace filch::inline FILCH_ABI::detail {

struct implicit_stack;
class implicit_team;
struct implicit_member;

/// Spawned tasks wait in a list of the frame. A thief's request offers the oldest ones, in one order of age with the
/// join frames of the stack. sync() runs the rest, the oldest first, and then waits for the thieves. A spawn runs in
/// place if the frame is no longer the newest on its stack, or if the caller is another fiber.
class implicit_frame : public fiber_frame<implicit_frame> {
 public:
  FILCH_INLINE implicit_frame() noexcept { begin(); }
  implicit_frame(implicit_frame const&) = delete;
  implicit_frame& operator=(implicit_frame const&) = delete;
  /// Waits for the spawned tasks. Drops an exception that no sync() has thrown.
  ~implicit_frame() {
    if (has_tasks()) drain();
  }

  /// See filch::spawner::sync.
  void sync() {
    if (has_tasks()) drain();
    throw_first();
  }

 private:
  friend class fiber_frame<implicit_frame>;
  friend class implicit_team;
  friend struct implicit_checks;
  static constexpr unsigned k_pending_most = 4096;

  struct waiting : fiber_task {
    waiting* older = nullptr;  // next older and newer task in the frame's list
    waiting* newer = nullptr;
    implicit_frame& frame;
    unsigned number = 0;
    waiting(join_counter& (*r)(fiber_task&) noexcept, implicit_frame& f) noexcept : fiber_task{r}, frame(f) {}
  };

  /// The handler of an interrupt moves tasks from the list to the records, so the list is read first.
  bool has_tasks() const noexcept {
    bool const some_wait = waiting_ != 0;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    return some_wait || offered_ != 0;
  }

  // in src/schedulers/implicit/frame.cpp
  FILCH_API void begin() noexcept;
  FILCH_API where place_for_next() noexcept;
  FILCH_API void push(waiting&) noexcept;
  FILCH_API void drain() noexcept;
  bool make_room() noexcept;
  void forget_stolen() noexcept;
  waiting& take_oldest() noexcept;
  waiting* take_first(implicit_team& team, implicit_member& w, bool& is_offer) noexcept;
  bool take_offers_back(implicit_team& team, implicit_member& w) noexcept;
  bool may_follow_newest() const noexcept;
  void enlist() noexcept;
  void leave_list() noexcept;

  join_counter counter_{};
  fiber_worker* worker_ = nullptr;   // the worker on which the frame began
  implicit_stack* stack_ = nullptr;  // that of its fiber; null: outside implicit's pools
  std::uint64_t position_ = 0;       // an address on that stack, below the frame of its function
  std::uint64_t rank_ = 0;           // its age among join frames; 0: its tasks run where they are spawned
  std::uint64_t sequence_ = 0;       // its number in the order in which the stack's scopes began
  implicit_frame* older_ = nullptr;  // next older and newer in the stack's list of frames with waiting tasks
  implicit_frame* newer_ = nullptr;
  waiting* oldest_ = nullptr;  // ends of the list of waiting tasks
  waiting* newest_ = nullptr;
  unsigned waiting_ = 0;  // number of tasks in the list
  unsigned offered_ = 0;  // number of tasks in the stack's newest records
};

}  // namespace filch::inline FILCH_ABI::detail

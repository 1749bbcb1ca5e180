// Many forks on one frame: filch::implicit's `frame`.
#pragma once

#include <filch/detail/fiber_frame.hpp>

#include <atomic>
#include <cstdint>

namespace filch::inline FILCH_ABI::detail {

struct implicit_stack;
class implicit_team;
struct implicit_member;

/// Spawned tasks wait in a list of the frame's own. Thieves get the oldest when they ask, in the order in which they
/// and the join frames of the stack came about; sync() runs the rest, the oldest first, and meets the thieves. A
/// spawn into a frame that is not the newest thing on its stack any more, or from elsewhere, runs in place.
class implicit_frame : public fiber_frame<implicit_frame> {
 public:
  FILCH_INLINE implicit_frame() noexcept { begin(); }
  implicit_frame(implicit_frame const&) = delete;
  implicit_frame& operator=(implicit_frame const&) = delete;
  /// Waits for what was spawned; an exception that nobody asked for with sync() is dropped.
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
  static constexpr unsigned k_pending_most = 4096;

  struct waiting : fiber_task {
    waiting* older = nullptr;  // in the frame's list
    waiting* newer = nullptr;
    implicit_frame& frame;
    unsigned number = 0;
    waiting(join_counter& (*r)(fiber_task&) noexcept, implicit_frame& f) noexcept : fiber_task{r}, frame(f) {}
  };

  /// The handler of an interrupt moves tasks from the list to the records, so the list is looked at first.
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
  fiber_worker* worker_ = nullptr;   // where it began
  implicit_stack* stack_ = nullptr;  // on which it lies; null: outside implicit's pools
  std::uint64_t position_ = 0;       // on that stack, below the frame of who began it
  std::uint64_t rank_ = 0;           // its place among join frames
  std::uint64_t sequence_ = 0;       // of the scopes on that stack, in which they began
  implicit_frame* older_ = nullptr;  // in the stack's list of frames with tasks that wait, by sequence
  implicit_frame* newer_ = nullptr;
  waiting* oldest_ = nullptr;
  waiting* newest_ = nullptr;
  unsigned waiting_ = 0;  // in the list
  unsigned offered_ = 0;  // in the stack's records: its newest, where there are any
};

}  // namespace filch::inline FILCH_ABI::detail

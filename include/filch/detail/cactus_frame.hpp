// Many forks on one frame: filch::cactus's `frame`.
#pragma once

#include <filch/detail/cactus_join.hpp>
#include <filch/detail/fiber_frame.hpp>
#include <filch/detail/standard.hpp>

#include <array>

namespace filch::inline FILCH_ABI::detail {

struct cactus_member;

/// For each spawned task a ticket lies among the tasks of the worker that runs the fiber. A thief takes the oldest
/// ticket, sync() the newest. The taker of a ticket runs the oldest task that has not begun. Then sync() waits for
/// the thieves. A spawn under a fork that is newer than the tickets (in f of a join, say) runs in place.
class cactus_frame : public fiber_frame<cactus_frame> {
 public:
  cactus_frame() noexcept : ticket_(*this) { begin(); }
  cactus_frame(cactus_frame const&) = delete;
  cactus_frame& operator=(cactus_frame const&) = delete;
  /// Waits for the spawned tasks. An exception that no sync() has thrown is dropped.
  ~cactus_frame() {
    if (pending_) drain();
  }

  /// See filch::spawner::sync.
  void sync() {
    if (pending_) drain();
    throw_first();
  }

 private:
  friend class fiber_frame<cactus_frame>;
  static constexpr unsigned k_pending_most = 4096;

  struct waiting : fiber_task {
    cactus_frame& frame;
    unsigned number = 0;
    waiting(join_counter& (*r)(fiber_task&) noexcept, cactus_frame& f) noexcept : fiber_task{r}, frame(f) {}
  };
  /// The ticket: all places of the scope's tasks point to it.
  struct ticket : cactus_task {
    cactus_frame& frame;
    explicit ticket(cactus_frame& f) noexcept : frame(f) { run = &run_oldest; }
  };
  static constexpr unsigned k_few = 8;
  // k_few << i places each, so that none moves while others read.
  using more_places = std::array<owned<waiting*[]>, 9>;
  static_assert(k_few << std::tuple_size_v<more_places> == k_pending_most);

  // in src/schedulers/cactus/frame.cpp
  FILCH_API void begin() noexcept;
  FILCH_API where place_for_next() noexcept;
  FILCH_API void push(waiting&) noexcept;
  FILCH_API void drain() noexcept;
  FILCH_API static join_counter& run_oldest(fiber_task& ticket) noexcept;
  bool forget_stolen() noexcept;
  template <class How> void run_measured(cactus_member& w, How const& how) noexcept;
  bool has_place_for_next() noexcept;
  waiting*& place_of(unsigned number) noexcept;
  unsigned next_number(cactus_member const&) noexcept;
  void begin_anew() noexcept;

  join_counter counter_{};
  runtime::fiber_stack* fiber_ = nullptr;  // the fiber on whose stack the frame lies
  fiber_worker* worker_ = nullptr;         // the worker on whose own stack the frame lies, else null
  std::uint64_t forks_ = 0;                // open forks of the fiber while none is newer than this frame's
  unsigned pending_ = 0;                   // tickets that are not taken back, stolen ones too
  // since there was no ticket:
  unsigned pushed_ = 0;  // tasks spawned
  cactus_begun begun_;   // tasks begun, by any worker
  ticket ticket_;
  std::array<waiting*, k_few> first_tasks_;  // by number; written before the ticket
  owned<more_places> more_tasks_;
};

}  // namespace filch::inline FILCH_ABI::detail

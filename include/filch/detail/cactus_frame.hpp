// Many forks on one frame: filch::cactus's `frame`.
#pragma once

#include <filch/detail/cactus_join.hpp>
#include <filch/detail/strand_frame.hpp>

namespace filch::inline FILCH_ABI::detail {

/// Spawned tasks lie one above the other among the worker's tasks, of whatever worker the strand is on; sync() takes
/// back and runs what was not stolen, and meets the thieves of the rest. A spawn under a fork that is newer than they
/// (in f of a join, say) runs in place.
class cactus_frame : public strand_frame<cactus_frame> {
 public:
  cactus_frame() noexcept { begin(); }
  cactus_frame(cactus_frame const&) = delete;
  cactus_frame& operator=(cactus_frame const&) = delete;
  /// Waits for what was spawned; an exception that nobody asked for with sync() is dropped.
  ~cactus_frame() {
    if (pending_) drain();
  }

  /// See filch::spawner::sync.
  void sync() {
    if (pending_) drain();
    throw_first();
  }

 private:
  friend class strand_frame<cactus_frame>;
  static constexpr unsigned k_pending_most = 4096;

  struct waiting : cactus_task {
    cactus_frame& frame;
    unsigned number = 0;
    waiting(strand_meeting& (*r)(strand_task&) noexcept, cactus_frame& f) noexcept : frame(f) { run = r; }
  };

  // in src/schedulers/cactus/frame.cpp
  FILCH_API void begin() noexcept;
  FILCH_API where place_for_next() noexcept;
  FILCH_API void push(waiting&) noexcept;
  FILCH_API void drain() noexcept;
  bool forget_stolen() noexcept;

  strand_meeting meeting_{};
  runtime::strand_stack* strand_ = nullptr;  // on whose stack it lies
  strand_worker* worker_ = nullptr;          // on whose stack it lies, where that is no strand's
  std::uint64_t forks_ = 0;                  // open ones of the strand, where none is newer than this frame's
  unsigned pending_ = 0;
};

}  // namespace filch::inline FILCH_ABI::detail

// Workers of several schedulers on one thread. Each scheduler registers how its worker on the calling thread is
// hidden, shown again, made to serve its thieves, kept on its thread, and found for filch::blocking. Team entry and
// waits that no scheduler sees call these hooks, without a name of a scheduler.
#pragma once

#include <filch/detail/platform.hpp>

#include <array>
#include <cstddef>
#include <span>

namespace filch::runtime {

class team;

/// A pool's run stays on its thread. A scheduler whose fibers move from thread to thread hides its worker while
/// one of them is in such a run: hide() leaves in the room what show() needs; false if there was nothing to hide.
struct hideable {
  static constexpr std::size_t k_room = 256;  // aligned to 64
  bool (*hide)(void* room) noexcept;
  void (*show)(void* room) noexcept;
  void (*answer)() noexcept;  // see detail::serve_all_thieves(); hide() does it, too
  // The calling thread is about to wait in the system. Each of its workers, also of a task that is in another pool's
  // run, offers all that it can. Writes their teams, the innermost first, as many as there is room for; their number.
  std::size_t (*block)(std::span<team*> of) noexcept;

  // For a scheduler whose code changes threads; null for the others.
  /// The calling code keeps its thread until end_stay(), which gets its data from the room. False: it did so already.
  bool (*stay)(void* room) noexcept = nullptr;
  void (*end_stay)(void* room) noexcept = nullptr;
  /// With forced steals: other code runs on this worker first. False: there is none.
  bool (*give_way)() noexcept = nullptr;
};
// Exported, as detail::blocked_workers and detail::serve_all_thieves() are, which read it: where the linker makes two
// copies of Filch in a process one, the copies share it.
inline namespace FILCH_ABI {
/// Once for each scheduler, however often it is asked for.
FILCH_API void hide_on_entry(hideable);
/// All that are registered.
FILCH_API std::span<hideable const> all_hideables() noexcept;
}  // namespace FILCH_ABI
constexpr unsigned k_hideables_most = 16;

/// The number of teams that the calling thread works for. It returns from each on its own stack.
extern constinit thread_local unsigned teams_entered;

/// While this lives, the calling thread is a worker of no scheduler.
class hidden_workers {
 public:
  hidden_workers() noexcept {
    auto const all = all_hideables();
    for (unsigned i = 0; i < all.size(); ++i) {
      if (all[i].hide(rooms_[i].bytes)) hidden_ |= 1U << i;
    }
  }
  hidden_workers(hidden_workers const&) = delete;
  hidden_workers& operator=(hidden_workers const&) = delete;
  ~hidden_workers() {
    if (hidden_ == 0) return;
    auto const all = all_hideables();
    for (unsigned i = k_hideables_most; i-- > 0;) {
      if ((hidden_ >> i & 1) != 0) all[i].show(rooms_[i].bytes);
    }
  }

 private:
  struct room {
    alignas(64) std::byte bytes[hideable::k_room];
  };
  std::array<room, k_hideables_most> rooms_;
  unsigned hidden_ = 0;  // a bit for each
};

/// While this lives, the calling code keeps its thread. It runs in place on a worker of a pool further out: if it
/// changed threads, it would take that worker's thread along.
class kept_thread {
 public:
  kept_thread() noexcept {
    // One at most: the code is a fiber of one scheduler.
    for (auto const& each : all_hideables()) {
      if (!each.stay || !each.stay(room_)) continue;
      end_ = each.end_stay;
      return;
    }
  }
  kept_thread(kept_thread const&) = delete;
  kept_thread& operator=(kept_thread const&) = delete;
  ~kept_thread() {
    if (end_) end_(room_);
  }

 private:
  alignas(64) std::byte room_[hideable::k_room];
  void (*end_)(void*) noexcept = nullptr;
};

/// Where steals are forced: does other code run on the calling worker first?
bool gives_way() noexcept;

}  // namespace filch::runtime

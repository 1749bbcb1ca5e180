// The open sources of tasks of a team: the task groups that were made in its pool. The worker loop asks it for one
// that has tasks. Protocol: task_groups.md, "Steps", 5.
#pragma once

#include <filch/detail/task_source.hpp>

#include "runtime/group/words.hpp"
#include "runtime/places.hpp"

#include <array>
#include <cstdint>
#include <mutex>

namespace filch::runtime {

class task_sources {
 public:
  using source = detail::task_source;

  explicit task_sources(places& all) noexcept : places_(all) {}

  /// Is any open, or has one that was removed a helper? edge group-2: seq_cst.
  bool any() const noexcept { return open_.any(); }
  /// Into the list of the worker that made it. True: none was open.
  bool add(source& s, unsigned worker) noexcept;
  /// Returns when it has no helper, and can get none. True: none is open any more.
  bool remove(source& s) noexcept;
  /// The sources that a worker may help: of any root, or of that call.
  struct of_root {
    std::uint16_t root;
    std::uint32_t call;
  };
  /// Such a source with tasks, or null. The worker helps it until done(), with forks of that root: a caller's are of
  /// its call. Others' may last longer than the call, and are of none.
  struct taken {
    source* from;
    std::uint16_t root;
  };
  taken take(of_root wanted) noexcept;
  void done(source& s, bool is_of_call) noexcept;
  /// Caller at its place: its call is over. False: helpers still have its root, and the last of them frees the place.
  bool end_call(unsigned place) noexcept;
  /// Has one of them tasks?
  bool any_with_tasks(of_root wanted) noexcept;

 private:
  /// Sources that some workers made: those of all others may come and go meanwhile.
  struct alignas(64) list {
    short_lock lock;
    source* oldest = nullptr;
    source* newest = nullptr;
    unsigned leaving = 0;  // sources that are removed, and have helpers
  };
  /// It keeps a caller's place in use.
  struct held_place {
    unsigned helpers = 0;  // with its root
    bool is_left = false;  // by its caller
  };
  source* find(of_root wanted, bool begins_to_help) noexcept;
  bool is_empty_now(list const& l) noexcept;
  bool has_left(list& l, source const& s, bool& is_last) noexcept;
  held_place& held(unsigned place) noexcept { return held_[places_.callers_number(place)]; }

  places& places_;
  open_lists open_;
  std::array<list, open_lists::k_lists> lists_;
  std::mutex mutex_;
  std::array<held_place, places::k_callers> held_{};  // under mutex_
};

}  // namespace filch::runtime

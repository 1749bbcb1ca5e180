// The state of a team's stand-ins: the number of blocked workers, and the threads that work for them. All under one
// mutex. Protocol: idle.md, "Stand-ins".
#pragma once

#include "runtime/team.hpp"

#include <array>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace filch::runtime {

/// Threads that work while workers wait in the system, or sleep in a join while task groups are open. One begins to
/// work if fewer of them work than workers wait. One stops after its task if more do.
struct stand_ins {
  std::mutex mutex;
  std::condition_variable wanted;
  // under mutex
  unsigned blocked = 0;  // workers that wait in the system
  unsigned joining = 0;  // workers that sleep in a join, under schedulers where these take tasks of one thief alone
  unsigned groups = 0;   // not zero: task groups are open
  unsigned working = 0;  // stand-ins that work, and were not told to leave
  unsigned busy = 0;     // the same, those that were told to leave, and those without memory for their place
  bool is_over = false;  // no thread is added any more
  std::vector<std::thread> threads;
  struct state {
    bool works = false;  // under mutex
    stop_flag leaves;    // set under mutex
  };
  std::array<state, places::k_stand_ins_most> each;

  unsigned waiting() const noexcept { return blocked + (groups != 0 ? joining : 0); }
  bool should_work() const noexcept { return working < waiting(); }
  /// The number of threads that wait, or have yet to come.
  std::size_t free() const noexcept { return threads.size() - busy; }
  void end() noexcept {
    {
      std::lock_guard const lock(mutex);
      is_over = true;
    }
    wanted.notify_all();
    for (auto& t : threads) t.join();
    threads.clear();
  }
};

}  // namespace filch::runtime

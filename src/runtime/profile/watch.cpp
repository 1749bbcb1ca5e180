// Under FILCH_PROFILE a call runs on one thread, so tasks that wait for each other never end. A thread of its own
// watches whether measured threads come through their hooks.
#include "runtime/profile/profile.hpp"

#include <signal.h>

#include <chrono>
#include <cstdio>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>

namespace filch::runtime::profile {
namespace {

constexpr int k_looks = 5;  // in the time-out: a process that was stopped is looked at several times afterwards

struct view {
  cycles at = last_hook::k_no_run;
  int looks = 0;  // that saw no change
};

/// Ends after it has said it.
void watch(std::chrono::milliseconds between_looks, unsigned seconds) {
  std::map<record const*, view> views;
  for (bool stands_still = false; !stands_still;) {
    std::this_thread::sleep_for(between_looks);
    each_last_hook([&](record const& of, cycles at) {
      view& seen = views[&of];
      bool const is_same = at != last_hook::k_no_run && at == seen.at;
      seen = {at, is_same ? seen.looks + 1 : 0};
      stands_still = stands_still || seen.looks >= k_looks;
    });
  }
  std::fprintf(
      stderr,
      "filch: FILCH_PROFILE: no fork, join or end of a task for %u s. If tasks wait for each other, they wait "
      "for ever: a measured call runs on one thread (FILCH_PROFILE_TIMEOUT sets the seconds, 0: no such "
      "line)\n",
      seconds);
}

}  // namespace

void watch_progress(unsigned seconds) {
  if (seconds == 0) return;
  // The program's signals are for its own threads.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    std::thread(watch, std::chrono::milliseconds(1000 * seconds / k_looks), seconds).detach();
  } catch (std::system_error const&) {  // no thread: nothing is said
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace filch::runtime::profile

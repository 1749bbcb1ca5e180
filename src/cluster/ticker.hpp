// A thread that sleeps between calls of one function: a cluster's watchdog, and its helper thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <filch/pool_options.hpp>
#include <functional>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>

namespace filch::inline FILCH_ABI::detail {

/// Calls tick(), which must not throw, and then waits for the time that tick() returned.
class ticker {
 public:
  using duration = std::chrono::milliseconds;
  static constexpr duration k_until_woken{0};

  /// `first`: the wait before the first call. Throws setup_error if the system refuses a thread: "filch: `what`
  /// can't be started".
  ticker(char const* what, duration first, std::function<duration()> tick) : tick_(std::move(tick)) {
    try {
      thread_ = std::thread([this, first] { go_on(first); });
    } catch (std::system_error const& e) {
      throw setup_error(std::string("filch: ") + what + " can't be started: " + e.what());
    }
  }
  ticker(ticker const&) = delete;
  ticker& operator=(ticker const&) = delete;
  ~ticker() { stop(); }

  void wake() { say(is_woken_); }
  /// After it no tick() is running, and none begins.
  void stop() {
    say(stopping_);
    if (thread_.joinable()) thread_.join();
  }

 private:
  void say(bool& what) {
    {
      std::lock_guard const lock(mutex_);
      what = true;
    }
    changed_.notify_all();
  }
  void go_on(duration wait) {
    std::unique_lock lock(mutex_);
    for (;;) {
      auto const is_called = [this] { return stopping_ || is_woken_; };
      if (wait == k_until_woken) {
        changed_.wait(lock, is_called);
      } else {
        changed_.wait_for(lock, wait, is_called);
      }
      if (stopping_) return;
      is_woken_ = false;
      lock.unlock();
      wait = tick_();
      lock.lock();
    }
  }

  std::function<duration()> const tick_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  bool is_woken_ = false;
  std::thread thread_;
};

}  // namespace filch::inline FILCH_ABI::detail

// How long stolen tasks run, as their thief sees it: what steal_pace goes by. "What a thief may cost its victim" in
// the schedulers' protocol.md.
#pragma once

#include "runtime/account.hpp"

#include <algorithm>
#include <utility>

namespace filch::runtime {

/// A worker's own: the time of the task that it stole last. Waits for its own thieves are left out, and what runs on
/// top of them.
class alignas(64) stolen_task {
 public:
  cycles lasted() const noexcept { return lasted_; }

  /// On a stack that the worker may leave before the task ends.
  void begins() noexcept {
    began_ = begun_ = time_stamp();
    is_divided_ = false;
  }
  /// When it began.
  cycles began() const noexcept { return began_; }
  /// Its thief waited for parts of it that others stole, and stole others' tasks meanwhile.
  bool is_divided() const noexcept { return is_divided_; }
  /// It came with others, about as long, in one steal.
  void was_one_of(unsigned tasks) noexcept { lasted_ *= std::max(tasks, 1U); }
  /// It ends, or waits on its stack, or did so before.
  void ends() noexcept {
    if (begun_ != 0) lasted_ = time_stamp() - std::exchange(begun_, 0);
  }

  /// While this lives the task runs, perhaps on top of a wait.
  class run {
   public:
    explicit run(stolen_task& of) noexcept : of_(of), is_on_top_(std::exchange(of.is_running_, true)) {
      cycles const now = time_stamp();
      begun_ = now - of.waited_;
      if (!is_on_top_) of.began_ = now;
      of.is_divided_ = is_on_top_;
    }
    run(run const&) = delete;
    run& operator=(run const&) = delete;
    ~run() {
      of_.lasted_ = time_stamp() - of_.waited_ - begun_;
      of_.is_running_ = is_on_top_;
    }

   private:
    stolen_task& of_;
    bool const is_on_top_;
    cycles begun_;
  };
  /// While this lives the worker waits in a join, perhaps one of such a task.
  class wait {
   public:
    explicit wait(stolen_task& of) noexcept : of_(of), before_(of.waited_ - time_stamp()) {}
    wait(wait const&) = delete;
    wait& operator=(wait const&) = delete;
    ~wait() { of_.waited_ = before_ + time_stamp(); }

   private:
    stolen_task& of_;
    cycles const before_;
  };

 private:
  cycles began_ = 0;
  cycles begun_ = 0;
  cycles waited_ = 0;  // in all
  bool is_divided_ = false;
  bool is_running_ = false;
  cycles lasted_ = cycles{1} << 40;  // none yet: the first one is no tiny one
};

}  // namespace filch::runtime

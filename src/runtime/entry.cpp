// Calls from outside: a caller takes a place and is a worker while its call lasts; where no place is free, the call
// runs in order on a spare stack. Called by pool.run() of every scheduler. Protocol: idle.md, "Calls from outside".
#include "os/linux/overflow.hpp"
#include "runtime/checks.hpp"
#include "runtime/stack.hpp"
#include "runtime/team.hpp"

#include <mutex>
#include <utility>

namespace filch::runtime {

/// While this lives, the team does.
class team::caller {
 public:
  explicit caller(team& t) noexcept : callers_(t.callers_) {
    callers_.enter();
    check("pool's callers", [this] { return team_checks::of_callers(callers_); });
  }
  caller(caller const&) = delete;
  caller& operator=(caller const&) = delete;
  ~caller() { callers_.leave(); }

 private:
  caller_count& callers_;
};

void team::enter(void (*call)(void*), void* argument) {
  caller const inside(*this);
  hidden_workers const others;
  os::need_signal_stack();
  ++teams_entered;
  unsigned const place = places_.enter();
  if (place != places::k_none && has_memory(place)) {
    check("caller's place", [&] { return team_checks::of_worker(places_, place); });
    places_.begin_call(place);
    open_trace(place);
    note(place, trace::kind::enters, 0, reinterpret_cast<void const*>(call));
    be_worker(place, call, argument);
    if (alive()) note(place, trace::kind::leaves);
  } else {
    enter_in_order(call, argument);
  }
  --teams_entered;
  // In a child of fork() the place belongs to the parent, and so do its waits.
  if (place == places::k_none || !alive()) return;
  leave_place(place);
}

/// The last step of a caller or a stand-in, on its thread's own stack.
void team::leave_place(unsigned place) noexcept {
  if (places_.is_made(place) && has_used_own_stack(place)) {
    check("stack that a caller leaves", [&] { return team_checks::of_left_stack(spaces_[place]); });
    static_cast<void>(give_back_pages(place, spaces_[place].middle(), worker_space::when::leaves));
  }
  check("place that is left", [&] { return team_checks::of_entered(places_, place); });
  bool const is_in_call = places_.is_callers(place) && places::is_call(places_.call_at(place));
  if (!is_in_call || sources_.end_call(place)) places_.leave(place);
}

/// Makes the place's memory at its first use. By the thread that has entered it.
bool team::has_memory(unsigned place) noexcept {
  if (places_.is_made(place)) return true;
  spaces_[place] = reserve_space();
  if (!spaces_[place].valid()) return false;
  make_place(place);
  places_.make(place);
  return true;
}

/// All callers' places are in use: a recursion that fits a pool's stack must fit here, too.
void team::enter_in_order(void (*call)(void*), void* argument) {
  struct entry {
    team& of;
    void (*call)(void*);
    void* argument;
  } e{*this, call, argument};
  worker_space stack;
  {
    std::lock_guard const lock(spare_mutex_);
    if (!spare_stacks_.empty()) {
      stack = std::move(spare_stacks_.back());
      spare_stacks_.pop_back();
    }
  }
  if (!stack.valid()) stack = worker_space(stack_size_, 0);
  if (!stack.valid()) {
    run_in_order(call, argument);
    return;
  }
  stack.begin_call();
  call_on(
      stack, all_places(),
      [](void* p) {
        auto const& mine = *static_cast<entry*>(p);
        mine.of.run_in_order(mine.call, mine.argument);
      },
      &e);
  if (!alive()) return;  // the lock's holder may not exist in this process
  static_cast<void>(stack.give_back(stack.middle(), nullptr, settings_.give_back, worker_space::when::leaves));
  std::lock_guard const lock(spare_mutex_);
  if (spare_stacks_.size() < spare_stacks_.capacity()) spare_stacks_.push_back(std::move(stack));
}

bool team::wait_for_callers() noexcept { return callers_.wait_for_none(teams_entered == 0); }

}  // namespace filch::runtime

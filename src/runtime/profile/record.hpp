// The figures of FILCH_PROFILE for one thread: work, spans and places. A scheduler calls the hooks in its slow paths,
// and keeps an open_task for each task that is not joined. All hooks run on the record's own thread.
//
// First, a hook ends the segment. Last, it calls begins(), and the next segment begins. The time between these two
// clock reads is in no figure.
#pragma once

#include "runtime/fork_generation.hpp"
#include "runtime/profile/folding.hpp"
#include "runtime/profile/place.hpp"
#include "runtime/profile/regions.hpp"
#include "runtime/profile/words.hpp"

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <vector>

namespace filch::runtime::profile {

/// A task between its fork and its join.
struct open_task {
  place* of = nullptr;
  place* outer = nullptr;  // the innermost place around the fork
  cycles work = 0;         // at the fork
  cycles work_of_f = 0;    // of a scope's task: at its begin
  cycles span = 0;         // at the fork
  cycles burdened = 0;     // the same with Cilkscale's burden
  bool is_open = false;    // counted in place::open, and in record::opened_
  folding::fork fork = 0;  // in the fork tree
  // At the fork; from the end of f on, that of f; from the end of a scope's task on, its span and burden alone.
  spans path;
};

class record {
 public:
  /// A call into a pool, by the thread: the outermost one is a run. Returns the costs that held before, for its end.
  own_costs const* run_begins(own_costs const& costs) noexcept;
  void run_ends(own_costs const* before) noexcept;

  /// The next segment begins.
  void begins(segment kind) noexcept {
    kind_ = kind;
    cycles now = time_stamp();
    // Also if the hook itself was preempted, as at the end of a system call.
    if (now - entered_ > calibrated.looks_after || now - looked_at_ > calibrated.looks_at_least) [[unlikely]]
      now = look_at_own_time();
    began_ = now;
  }

  /// No code of the program runs until begins(), which gets the result.
  segment pauses() noexcept {
    segment_ends();
    return kind_;
  }

  /// A fork or a spawn. f, or the rest of the scope's body, runs next.
  void forked(open_task& t, code task) noexcept;
  /// f has ended, and g runs next.
  void f_ended(open_task& t) noexcept;
  void g_ended(open_task& t) noexcept;

  /// A scope's tasks run, from the oldest to the newest; each has been forked().
  void sync_begins() noexcept;
  void task_begins(open_task& t) noexcept;
  /// `first` is the oldest one, in the array that ends at `end`.
  void sync_ends(open_task& first, open_task const* end) noexcept;
  /// A full scope runs its newest task before it syncs. Returns the path of the scope's body, which goes on after it.
  spans early_begins(open_task& t) noexcept;
  void early_ends(open_task& t, spans const& body) noexcept;

  bool lets_loops_split() const noexcept { return !innermost_ || innermost_->lets_loops_split(); }
  /// A fork without room for its task, which runs in order.
  void no_room() noexcept { ++no_room_; }
  /// A part that runs in order by the program's wish.
  void stay_begins() noexcept;
  void stay_ends() noexcept;
  bool is_running() const noexcept { return inside_ != 0; }
  /// At the end of the outermost call: is the last check some time ago?
  bool should_check_costs() noexcept;
  /// A check found that a segment costs so many cycles more, or fewer.
  void costs_are_off_by(double cycles_of_segment) noexcept { off_by_ = std::max(off_by_, cycles_of_segment); }
  /// In a child of fork() nothing is measured any more, and what is open ends unseen.
  bool is_orphan() const noexcept { return made_in_ != fork_generation(); }

  /// For the calibration: keeps the length of each segment.
  void samples_begin();
  /// Sets the cost of each of these kinds to the median length. Returns their sum.
  cycles samples_end(std::initializer_list<segment> kinds, own_costs& costs);

  // For the report, under `mutex`, or on the record's own thread.
  std::mutex mutex;  // held while a run lasts
  struct figures {
    cycles work = 0;
    spans path;
    cycles preempted = 0;
    cycles in_stays = 0;
    double seconds_in_runs = 0;  // processor time, hooks included
    std::uint64_t runs = 0, forks = 0, segments = 0, no_room = 0, stays = 0;
    double off_by = 0;  // the most that checks found, in cycles of a segment
  };
  figures so_far() const noexcept;
  place_table const& places() const noexcept { return places_; }
  /// Any thread.
  last_hook const& hooks() const noexcept { return last_hook_; }
  folding const& tree() const noexcept { return tree_; }
  regions& parts() noexcept { return parts_; }
  regions const& parts() const noexcept { return parts_; }
  /// Up to the last hook.
  part_figures part_so_far() const noexcept { return {work_, path_.span, path_.burdened[0], forks_, runs_}; }

 private:
  using samples = std::array<std::vector<cycles>, k_segments>;
  struct sync {
    spans path;  // the longest so far
    open_task* running = nullptr;
    bool has_more_places = false;  // an open task besides the oldest
    // at the end of the body:
    cycles work = 0;
    cycles span = 0;
    cycles burdened = 0;
  };
  struct early {
    open_task* lowest;
    spans path;
    folding::fork oldest;
  };

  void segment_ends() noexcept {
    cycles const now = time_stamp();
    entered_ = now;
    last_hook_.note(now);
    cycles ran = now - began_;
    if (ran > calibrated.looks_after) [[unlikely]]
      ran -= std::min(ran, preempted_since());
    if (samples_) [[unlikely]]
      note_sample(ran);
    // It may be negative: noise must cancel out.
    ran -= (*costs_)[static_cast<unsigned>(kind_)];
    work_ += ran;
    ++segments_;
    tree_.ran(ran);
    if (innermost_) innermost_->own += ran;
    path_.run(ran, innermost_ ? innermost_->number : k_own_paths);
  }
  cycles preempted_since() noexcept;
  cycles look_at_own_time() noexcept;
  void task_of_scope_begins(open_task& t) noexcept;
  void task_of_scope_ends(open_task& t) noexcept;
  void close(open_task& t, cycles work, cycles span, cycles burdened) noexcept;
  void set_places_aside(sync& s, open_task const& first) noexcept;
  void close_places(sync const& s, open_task const& first, open_task const* end) noexcept;
  void note_sample(cycles ran);

  cycles began_ = 0;    // the segment
  cycles entered_ = 0;  // the last hook
  last_hook last_hook_;
  segment kind_ = segment::of_run;
  own_costs const* costs_ = nullptr;
  cycles work_ = 0;
  spans path_;
  place* innermost_ = nullptr;  // whose code runs
  std::uint64_t segments_ = 0;
  double off_by_ = 0;
  cycles checked_at_ = 0;
  std::unique_ptr<samples> samples_;  // while it is calibrated

  // The last look at the thread's processor time.
  cycles looked_at_ = 0;
  cycles own_time_ = 0;

  folding tree_;
  regions parts_;
  std::vector<open_task*> opened_;  // those that are is_open, the newest last
  std::vector<sync> syncs_;
  std::vector<early> early_;

  unsigned inside_ = 0;
  unsigned stays_inside_ = 0;
  unsigned const made_in_ = fork_generation();
  cycles stay_began_ = 0;
  cycles in_stays_ = 0;
  cycles preempted_ = 0;
  cycles run_began_ = 0;  // by the thread's processor time
  cycles in_runs_ = 0;
  std::uint64_t runs_ = 0;
  std::uint64_t forks_ = 0;
  std::uint64_t no_room_ = 0;
  std::uint64_t stays_ = 0;
  place_table places_;
};

/// The calling thread's record, made at its first call.
record& of_this_thread();
/// Calls see(record, argument) for each record that no other thread is measuring into. Returns the number of the
/// others.
unsigned each_record(void (*see)(record const&, void* argument), void* argument);
/// Any thread: when each record's thread was last in a hook.
void each_last_hook(std::function<void(record const&, cycles at)> const& see);

}  // namespace filch::runtime::profile

// filch::profile and filch::profiled: what the thread's record gets
// between two times. The program calls them.
#include "runtime/profile/regions.hpp"

#include "runtime/fork_generation.hpp"
#include "runtime/profile/profile.hpp"

namespace filch::inline FILCH_ABI::detail {
namespace {

namespace profiling = runtime::profile;

bool is_on() {
  // First: a child of fork() would wait for a thread that was at the last line.
  runtime::count_forks();
  if (runtime::fork_generation() != 0) return false;
  static bool const is_asked_for = profiling::is_asked_for();
  return is_asked_for;
}

/// Code between two hooks of the program's own is measured as that before them.
profiling::part_figures now(profiling::record& r) noexcept {
  bool const is_running = r.is_running();
  profiling::segment const kind = is_running ? r.pauses() : profiling::segment::of_run;
  profiling::part_figures const f = r.part_so_far();
  if (is_running) r.begins(kind);
  return f;
}

}  // namespace

profiled_part::profiled_part(std::string_view name) {
  if (!is_on()) return;
  profiling::record& mine = profiling::of_this_thread();
  has_name_ = !name.empty();
  if (has_name_) region_ = mine.parts().begins(name);
  begin_ = now(mine);
  record_ = &mine;
}

profiled_part::~profiled_part() {
  if (!record_ || !has_name_ || runtime::fork_generation() != 0) return;
  profiling::record& mine = profiling::of_this_thread();
  if (&mine == record_) mine.parts().ends(region_, profiling::between(begin_, now(mine)));
}

work_and_span profiled_part::so_far() const noexcept {
  work_and_span w;
  if (!record_ || runtime::fork_generation() != 0) return w;
  profiling::record& mine = profiling::of_this_thread();
  if (&mine != record_) return w;
  profiling::part_figures const f = profiling::between(begin_, now(mine));
  w.is_measured = mine.is_running() || f.runs != 0;
  if (!w.is_measured) return w;
  auto const seconds = [](runtime::cycles c) {
    return work_and_span::seconds(profiling::calibrated.seconds(std::max<runtime::cycles>(c, 0)));
  };
  w.forks = f.forks;
  w.work = seconds(f.work);
  w.span = seconds(f.span);
  w.burdened_span = seconds(f.burdened);
  return w;
}

}  // namespace filch::inline FILCH_ABI::detail

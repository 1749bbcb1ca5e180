// The figures of named parts of the program, by thread: filch::profiled.
#pragma once

#include <filch/profile.hpp>

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace filch::runtime::profile {

/// Burdened with this machine's own cost of a steal.
using part_figures = detail::profile_figures;

inline void add(part_figures& sum, part_figures const& f) noexcept {
  sum.work += f.work;
  sum.span += f.span;
  sum.burdened += f.burdened;
  sum.forks += f.forks;
  sum.runs += f.runs;
}
inline part_figures between(part_figures const& begin, part_figures const& end) noexcept {
  return {end.work - begin.work, end.span - begin.span, end.burdened - begin.burdened, end.forks - begin.forks,
          end.runs - begin.runs};
}

struct region {
  std::string name;
  part_figures sum;  // of its outermost calls
  std::uint64_t calls = 0;
  unsigned open = 0;
};

class regions {
 public:
  using number = std::size_t;
  /// A call begins. Throws std::bad_alloc.
  number begins(std::string_view name) {
    std::lock_guard const lock(mutex_);
    number i = 0;
    while (i != all_.size() && all_[i].name != name) ++i;
    if (i == all_.size()) all_.push_back({std::string(name), {}, 0, 0});
    ++all_[i].open;
    return i;
  }
  void ends(number i, part_figures const& took) noexcept {
    std::lock_guard const lock(mutex_);
    region& r = all_[i];
    ++r.calls;
    if (--r.open == 0) add(r.sum, took);
  }
  /// Any thread.
  std::vector<region> all() const {
    std::lock_guard const lock(mutex_);
    return all_;
  }

 private:
  mutable std::mutex mutex_;  // the report may be made while a thread outside all runs begins a call
  std::vector<region> all_;
};

}  // namespace filch::runtime::profile

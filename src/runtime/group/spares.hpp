// States of task groups that have ended, for the pool's next groups: a group's lists take longer to make than a task
// to run. group_core takes and keeps them; a pool owns them. Protocol: ../task_groups.md, "Memory".
#pragma once

#include "runtime/group/words.hpp"

#include <array>
#include <memory>

namespace filch::runtime {

struct group_state;

class group_spares {
 public:
  group_spares() noexcept = default;
  group_spares(group_spares const&) = delete;
  group_spares& operator=(group_spares const&) = delete;
  ~group_spares();

  /// One that a group of that worker, or of one with the same shelf, has left; or null.
  std::unique_ptr<group_state> take(unsigned worker) noexcept;
  /// The group has ended.
  void keep(std::unique_ptr<group_state> s, unsigned worker) noexcept;

 private:
  static constexpr unsigned k_shelves = 16;
  static constexpr unsigned k_most = 4;
  /// States, or null. Each change is one store: in a child of fork() they are the parent's or the child's.
  struct alignas(64) shelf {
    short_lock lock;
    std::array<group_state*, k_most> states{};
  };
  std::array<shelf, k_shelves> shelves_;
};

}  // namespace filch::runtime

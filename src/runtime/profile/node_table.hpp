// The nodes of a thread's fork tree. A task that ended becomes a reference to a node: to one whose tasks have about
// its parallelism and its number of forks, else to a new one, of which it is the example.
//
// A reference's scale makes its work right. Its span and its forks are those of the task itself where they are
// compared, so differences do not add up from level to level.
//
// Memory: at most k_most_nodes nodes and k_most_joins joins, 12 MB.
#pragma once

#include "runtime/account.hpp"
#include "runtime/profile/fork_tree.hpp"

#include <span>

namespace filch::runtime::profile {

/// A task that ended, or joins of it. Measured: noise may make times negative.
struct ended_task {
  fork_tree::index node = fork_tree::k_leaf;
  cycles work = 0;
  cycles span = 0;
  std::uint64_t forks = 0;
};

enum class task_kind : unsigned char { whole, rest_of_body };

/// Joins in a row, summed up.
struct joins_in_a_row {
  struct side {
    fork_tree::index node;
    cycles work;
  };
  cycles before;  // code without forks
  side f;
  side g;
  cycles longer;  // the spans of the longer sides
  std::uint64_t times;
  unsigned place;  // of the fork
};

class node_table {
 public:
  using index = fork_tree::index;
  static constexpr std::size_t k_most_nodes = std::size_t{1} << 15;
  static constexpr std::size_t k_most_joins = std::size_t{1} << 17;
  static constexpr std::size_t k_most_in_a_row = 64;  // entries of a task

  /// The node for the task t of these joins, and the code after them. There is a join.
  index fold(ended_task const& t, std::span<joins_in_a_row const> joins, cycles after,
             task_kind kind = task_kind::whole);
  /// Its nodes, with times in cycles.
  fork_tree const& tree() const noexcept { return tree_; }

 private:
  struct entry {
    std::uint64_t key = 0;  // 0: free; there is a fork, so no key is 0
    index node = fork_tree::k_leaf;
  };

  std::uint64_t key_of(ended_task const& t, std::span<joins_in_a_row const> joins, task_kind kind) const noexcept;
  entry& find(std::uint64_t key) noexcept;  // its entry, or a free one
  void grow();
  bool is_full() const noexcept;
  void make_keys_coarser() noexcept;
  index make_node(ended_task const& t, std::span<joins_in_a_row const> joins, cycles after);
  void sum_up(fork_tree::node& n) const noexcept;
  void correct_span(fork_tree::node& n, double part);
  fork_tree::part part_of(joins_in_a_row::side const& s, double times) const noexcept;
  void lengthen_longer(fork_tree::join& j, double longer) const noexcept;

  fork_tree tree_;
  std::vector<entry> table_;  // open, by hash
  std::size_t entries_ = 0;
  unsigned coarser_ = 0;  // bits that keys lack
  index last_ = fork_tree::k_leaf;
};

}  // namespace filch::runtime::profile

// Goes through the nodes of a fork tree from the runs down, and adds up how often each stands where. page.cpp calls
// it when the process ends.
#include "runtime/profile/flame.hpp"

#include <algorithm>

namespace filch::runtime::profile {
namespace {

constexpr std::size_t k_most_boxes = 500;

/// So many times, scales included, the node's tasks ran in that box; and so many of them on the longest path.
struct share {
  std::uint32_t box;
  double of_work;
  double of_span;
};

class picture {
 public:
  explicit picture(fork_tree const& t) : tree_(t), shares_(t.nodes.size()) { boxes_.emplace_back(); }

  std::vector<flame_box> draw() {
    for (auto const& run : tree_.runs) {
      auto const times = static_cast<double>(run.times) * run.task.scale;
      add(run.task.node, {0, times, times});
    }
    // A node's parts have lower numbers.
    for (std::size_t i = tree_.nodes.size(); i-- != 0;) {
      for (share const& s : shares_[i]) expand(tree_.nodes[i], s);
    }
    return std::move(boxes_);
  }

 private:
  void add(fork_tree::index node, share const& s) {
    auto& of_node = shares_[node];
    auto const same = std::find_if(of_node.begin(), of_node.end(), [&](share const& o) { return o.box == s.box; });
    if (same == of_node.end()) {
      of_node.push_back(s);
    } else {
      same->of_work += s.of_work;
      same->of_span += s.of_span;
    }
  }
  void expand(fork_tree::node const& n, share const& s) {
    double own = n.after_ns;
    for (auto i = n.first_join; i < n.first_join + n.joins; ++i) {
      fork_tree::join const& j = tree_.joins[i];
      auto const times = static_cast<double>(j.times);
      own += times * j.before_ns;
      std::uint32_t const inside = box_in(s.box, tree_.join_places[i]);
      bool const f_is_longer = tree_.span_ns(j.f) >= tree_.span_ns(j.g);
      add_side(j.f, inside, s, times, f_is_longer);
      add_side(j.g, inside, s, times, !f_is_longer);
    }
    boxes_[s.box].work_ns += s.of_work * own;
    boxes_[s.box].span_ns += s.of_span * own;
  }
  void add_side(fork_tree::part const& side, std::uint32_t box, share const& s, double times, bool is_longer) {
    double const factor = times * side.scale;
    add(side.node, {box, s.of_work * factor, is_longer ? s.of_span * factor : 0});
  }
  std::uint32_t box_in(std::uint32_t box, std::uint32_t place) {
    for (auto i = box; i != flame_box::k_none; i = boxes_[i].parent) {
      if (boxes_[i].place == place) return i;
    }
    for (std::uint32_t i = box + 1; i < boxes_.size(); ++i) {
      if (boxes_[i].parent == box && boxes_[i].place == place) return i;
    }
    if (boxes_.size() == k_most_boxes) return box;
    boxes_.push_back({box, place, 0, 0});
    return static_cast<std::uint32_t>(boxes_.size() - 1);
  }

  fork_tree const& tree_;
  std::vector<std::vector<share>> shares_;  // of each node
  std::vector<flame_box> boxes_;
};

}  // namespace

std::vector<flame_box> flame_of(fork_tree const& t) { return picture(t).draw(); }

}  // namespace filch::runtime::profile

// Times within a folded tree, from sums that are made once.
// prediction.cpp asks where a worker is. See timed_tree.hpp.
#include "runtime/profile/timed_tree.hpp"

#include <algorithm>

namespace filch::runtime::profile {

timed_tree::timed_tree(fork_tree const& tree, double fork_ns) : tree_(tree), fork_ns_(fork_ns) {
  for (auto* const sums : {&work_, &forks_, &span_, &span_forks_}) sums->reserve(tree.nodes.size());
  for (auto* const sums : {&work_before_, &forks_before_, &work_of_round_, &forks_of_round_})
    sums->resize(tree.joins.size());
  for (fork_tree::node const& n : tree.nodes) {
    double work = 0;
    double forks = 0;
    double span = 0;
    double span_forks = 0;
    for (index j = n.first_join; j != n.first_join + n.joins; ++j) {
      fork_tree::join const& join = tree.joins[j];
      auto const times = static_cast<double>(join.times);
      work_before_[j] = work;
      forks_before_[j] = forks;
      work_of_round_[j] = join.before_ns + join.f.scale * work_[join.f.node] + join.g.scale * work_[join.g.node];
      forks_of_round_[j] = 1 + forks_[join.f.node] + forks_[join.g.node];
      work += times * work_of_round_[j];
      forks += times * forks_of_round_[j];
      part const& longer = this->span(join.f) < this->span(join.g) ? join.g : join.f;
      span += times * (join.before_ns + longer.scale * span_[longer.node]);
      span_forks += times * (1 + span_forks_[longer.node]);
    }
    work_.push_back(work + n.after_ns);
    forks_.push_back(forks);
    span_.push_back(span + n.after_ns);
    span_forks_.push_back(span_forks);
  }
}

timed_tree::cursor timed_tree::after(cursor const& c) const noexcept {
  cursor next = c;
  if (++next.round == tree_.joins[c.join].times) {
    ++next.join;
    next.round = 0;
  }
  return next;
}

double timed_tree::offset(cursor const& c) const noexcept {
  if (!has_join(c)) return work(c.task) - c.task.scale * tree_.nodes[c.task.node].after_ns;
  return begin_of_join(c.task, c.join) + static_cast<double>(c.round) * of_round(c.task, c.join);
}

timed_tree::spot timed_tree::at(cursor const& c) const noexcept {
  spot s;
  s.at = c;
  if (!has_join(c)) return s;
  s.where = phase::before;
  s.f_begins = offset(c) + c.task.scale * tree_.joins[c.join].before_ns + fork_ns_;
  s.g_begins = s.f_begins + work(f_of(c));
  s.ends = s.g_begins + work(g_of(c));
  return s;
}

timed_tree::spot timed_tree::locate(cursor const& not_before, double offset) const noexcept {
  cursor c = not_before;
  if (!has_join(c)) return at(c);
  // The last join that has begun.
  index low = c.join;
  for (index high = end_of(c.task); high - low > 1;) {
    index const middle = low + (high - low) / 2;
    (begin_of_join(c.task, middle) <= offset ? low : high) = middle;
  }
  std::uint64_t const least = low == c.join ? c.round : 0;
  c.join = low;
  double const round = of_round(c.task, low);
  double const rounds = round > 0 ? (offset - begin_of_join(c.task, low)) / round : 0;
  std::uint64_t const last = tree_.joins[low].times - 1;
  c.round = std::clamp(rounds < 1                           ? 0
                       : rounds > static_cast<double>(last) ? last
                                                            : static_cast<std::uint64_t>(rounds),
                       least, std::max(least, last));
  spot s = at(c);
  // Rounding may have led to the round before.
  while (offset >= s.ends) {
    c = after(c);
    s = at(c);
    if (!has_join(c)) return s;
    if (offset < s.f_begins) break;
  }
  s.where = offset < s.f_begins ? phase::before : offset < s.g_begins ? phase::in_f : phase::in_g;
  return s;
}

}  // namespace filch::runtime::profile

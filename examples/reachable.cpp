// Detached tasks, and the barrier that waits for all of them: the cells of a maze that can be reached.
//   example-reachable [side]
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filch/channel.hpp>
#include <vector>

namespace {

class maze {
 public:
  explicit maze(std::size_t side) : side_(side), reached_(side * side) {}

  /// A task for each cell that is reached; it may have ended long before those it leads to have begun.
  void visit(std::size_t cell) {
    for (std::size_t next : {cell + 1, cell - 1, cell + side_, cell - side_}) {
      if (is_free(next) && !reached_[next].exchange(true, std::memory_order_relaxed)) {
        filch::channel::detach([this, next] { visit(next); });
      }
    }
  }
  std::size_t count() const {
    std::size_t n = 0;
    for (auto const& r : reached_) n += r.load(std::memory_order_relaxed);
    return n;
  }
  std::size_t middle() const { return side_ / 2 * side_ + side_ / 2; }

  /// The same one task after the other.
  std::size_t count_in_order() const {
    std::vector<bool> reached(reached_.size());
    std::vector<std::size_t> left{middle()};
    std::size_t n = 0;
    while (!left.empty()) {
      std::size_t const cell = left.back();
      left.pop_back();
      for (std::size_t next : {cell + 1, cell - 1, cell + side_, cell - side_}) {
        if (!is_free(next) || reached[next]) continue;
        reached[next] = true;
        ++n;
        left.push_back(next);
      }
    }
    return n;
  }

 private:
  /// Walls all around, and a third of the cells inside.
  bool is_free(std::size_t cell) const {
    std::size_t const x = cell % side_;
    std::size_t const y = cell / side_;
    if (x == 0 || y == 0 || x == side_ - 1 || y == side_ - 1) return false;
    return (cell * 2654435761u >> 7) % 3 != 0;
  }

  std::size_t side_;
  std::vector<std::atomic<bool>> reached_;
};

}  // namespace

int main(int argc, char** argv) {
  long const side = argc > 1 ? std::atol(argv[1]) : 1'000;
  if (side < 3 || side > 20'000) {
    std::fputs("example-reachable: the side is a whole number from 3 to 20000\n", stderr);
    return 1;
  }
  maze m(static_cast<std::size_t>(side));
  std::size_t reached = 0;
  filch::channel::default_pool().run([&] {
    m.visit(m.middle());
    filch::channel::barrier();  // no task is left: every reachable cell is marked
    reached = m.count();
  });
  std::printf("%zu cells can be reached\n", reached);
  return reached == m.count_in_order() ? 0 : 1;
}

// Alpha-beta search of connect four: after the first move of a position, its other moves are tasks, and one that is
// too good stops the others and all that they have begun.
//   example-connect_four [moves so far, columns from 1 to 7 [depth]]
#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filch/scope.hpp>
#include <filch/worker_local.hpp>
#include <stop_token>
#include <string>

#include "stopwatch.hpp"

/// A column has seven bits, from the lowest row on; the seventh stays empty.
struct board {
  std::uint64_t mine = 0, all = 0;  // of the player that moves, and of both

  static constexpr std::uint64_t bottom(int column) { return std::uint64_t{1} << 7 * column; }
  bool can_play(int column) const { return (all & bottom(column) << 5) == 0; }
  /// After the move, as the other player sees it.
  board after(int column) const { return {all ^ mine, all | (all + bottom(column))}; }
  /// Has the player that moved last four in a row?
  bool is_lost() const {
    std::uint64_t const other = all ^ mine;
    for (int const step : {1, 6, 7, 8}) {  // up, both diagonals, right
      std::uint64_t const pairs = other & other >> step;
      if (pairs & pairs >> 2 * step) return true;
    }
    return false;
  }
};

constexpr int k_win = 100;     // less the stones on the board: an early win is better
constexpr int k_no_tasks = 5;  // so few moves before the end, a task would be over before it is stopped
constexpr int k_order[7] = {3, 2, 4, 1, 5, 0, 6};

static filch::worker_local<long> nodes;

static int value_of(board b, int depth, int alpha, int beta, std::stop_token const& stop);

/// The first move is often the best one, and the others are faster with its value. They are tasks.
static int value_by_tasks(board b, int depth, int alpha, int beta, std::stop_token const& stop) {
  std::stop_source enough;
  std::stop_callback const all_is_stopped(stop, [&] { enough.request_stop(); });
  std::atomic<int> best = alpha;
  auto const try_move = [&](int column) {
    int const value = -value_of(b.after(column), depth - 1, -beta, -best, enough.get_token());
    if (enough.stop_requested()) return;
    int known = best;
    while (value > known && !best.compare_exchange_weak(known, value)) continue;
    if (value >= beta) enough.request_stop();
  };
  filch::scope(enough.get_token(), [&](auto& s) {
    bool is_first = true;
    for (int const column : k_order) {
      if (!b.can_play(column)) continue;
      if (is_first) {
        try_move(column);
      } else {
        s.spawn([&try_move, column] { try_move(column); });
      }
      is_first = false;
    }
  });
  return best;
}

/// The value for the player that moves: alpha or less, beta or more, or exact. Of no use after a stop.
static int value_of(board b, int depth, int alpha, int beta, std::stop_token const& stop) {
  ++nodes.local();
  if (b.is_lost()) return std::popcount(b.all) - k_win;
  if (depth == 0 || std::popcount(b.all) == 42 || stop.stop_requested()) return 0;
  if (depth > k_no_tasks) return value_by_tasks(b, depth, alpha, beta, stop);
  for (int const column : k_order) {
    if (!b.can_play(column)) continue;
    alpha = std::max(alpha, -value_of(b.after(column), depth - 1, -beta, -alpha, stop));
    if (alpha >= beta) break;
  }
  return alpha;
}

int main(int argc, char** argv) {
  std::string const moves = argc > 1 ? argv[1] : "435241";
  int const depth = argc > 2 ? std::max(1, std::atoi(argv[2])) : 15;
  board b;
  for (char const c : moves) {
    bool const is_move = c >= '1' && c <= '7' && b.can_play(c - '1');
    if (is_move) b = b.after(c - '1');
    if (!is_move || b.is_lost() || std::popcount(b.all) == 42) {
      std::fprintf(stderr, "example-connect_four: the game is over, or there is no move %c\n", c);
      return 1;
    }
  }

  stopwatch time;
  int best = -k_win, move = 0;
  for (int const column : k_order) {
    if (!b.can_play(column)) continue;
    int const value = -value_of(b.after(column), depth - 1, -k_win, -best, {});
    if (value > best) best = value, move = column + 1;
  }
  std::printf("%ld positions in %.0f ms\n", nodes.combine(std::plus<>()), time.milliseconds());

  for (int row = 5; row >= 0; --row) {
    for (int column = 0; column < 7; ++column) {
      std::uint64_t const place = board::bottom(column) << row;
      std::printf("%c ", (b.all & place) == 0 ? '.' : (b.mine & place) != 0 ? 'x' : 'o');
    }
    std::putchar('\n');
  }
  std::printf("x plays column %d: ", move);
  if (best == 0) std::printf("nobody wins within %d moves\n", depth);
  if (best != 0) std::printf("%c wins with stone %d\n", best > 0 ? 'x' : 'o', k_win - std::abs(best));
}

// Sudoku by trial: each digit that fits is a fork, however little there is to try behind it, and the first solution
// stops all that has not begun.
//   example-sudoku file [puzzles]
// A line of the file is a puzzle: 81 digits, and dots for empty cells.
#include <array>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <filch/join.hpp>
#include <fstream>
#include <optional>
#include <stop_token>
#include <string>

#include "stopwatch.hpp"

class grid {
 public:
  bool is_valid = true;  // no digit is twice in a row, a column or a box

  explicit grid(std::string const& line) {
    for (std::size_t cell = 0; cell < 81; ++cell) {
      unsigned const digit = line[cell] >= '1' && line[cell] <= '9' ? 1u << (line[cell] - '1') : 0;
      is_valid = is_valid && (digits(cell) & digit) == digit;
      if (digit != 0) set(cell, digit);
    }
  }
  /// The first empty cell; 81 if there is none.
  std::size_t first_empty(std::size_t from) const {
    while (from < 81 && cells_[from] != 0) ++from;
    return from;
  }
  /// The digits that fit, as bits.
  unsigned digits(std::size_t cell) const {
    return 511u & ~(rows_[cell / 9] | columns_[cell % 9] | boxes_[box_of(cell)]);
  }
  void set(std::size_t cell, unsigned digit) {
    cells_[cell] = digit;
    rows_[cell / 9] |= digit;
    columns_[cell % 9] |= digit;
    boxes_[box_of(cell)] |= digit;
  }
  void print() const {
    for (std::size_t cell = 0; cell < 81; ++cell) {
      std::printf("%d%s", std::countr_zero(cells_[cell]) + 1, cell == 80 ? "\n" : "");
    }
  }

 private:
  static std::size_t box_of(std::size_t cell) { return cell / 27 * 3 + cell % 9 / 3; }

  std::array<unsigned, 81> cells_{};  // a digit is a bit; 0: empty
  std::array<unsigned, 9> rows_{}, columns_{}, boxes_{};
};

struct search {
  std::stop_source found;
  std::stop_token const is_found = found.get_token();
  std::optional<grid> solution;

  /// Tries all that fits from the first empty cell on.
  void fill(grid const& g, std::size_t from) {
    std::size_t const cell = g.first_empty(from);
    if (cell < 81) {
      try_digits(g, cell, g.digits(cell));
    } else if (found.request_stop()) {  // true for the first one only
      solution = g;
    }
  }
  void try_digits(grid const& g, std::size_t cell, unsigned digits) {
    if (digits == 0) return;
    unsigned const lowest = digits & -digits;
    filch::join(
        is_found,
        [&, cell, lowest] {
          grid next = g;
          next.set(cell, lowest);
          fill(next, cell + 1);
        },
        [&, cell, lowest] { try_digits(g, cell, digits ^ lowest); });
  }
};

int main(int argc, char** argv) {
  std::ifstream in(argc > 1 ? argv[1] : "");
  long const most = argc > 2 ? std::atol(argv[2]) : 1'000'000;
  if (!in || most < 1) {
    std::fputs("usage: example-sudoku file [puzzles, from 1]\n", stderr);
    return 1;
  }
  stopwatch time;
  long puzzles = 0, solved = 0;
  for (std::string line; puzzles < most && std::getline(in, line);) {
    if (line.size() < 81) continue;
    ++puzzles;
    search s;
    if (grid const puzzle(line); puzzle.is_valid) s.fill(puzzle, 0);
    if (!s.solution) continue;
    ++solved;
    s.solution->print();
  }
  std::printf("%ld puzzles in %.0f ms\n%ld are solved\n", puzzles, time.milliseconds(), solved);
}

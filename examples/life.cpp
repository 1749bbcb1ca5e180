// Conway's game of life on a torus, 64 cells in a word: a loop over a grid for each generation. Reads a pattern in
// the format RLE, and writes a picture: cells that live are white, and those that have ever lived are blue.
//   example-life pattern.rle [generations [side [file.png]]]
#include <bit>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <filch/for_extents.hpp>
#include <filch/reduce.hpp>
#include <fstream>
#include <string>

#include "image.hpp"
#include "stopwatch.hpp"

using word = std::uint64_t;

/// Rows of words; a cell's lowest neighbour in its row is the bit below it.
struct torus {
  std::size_t side, words = side / 64;
  std::vector<word> cells = std::vector<word>(side * words);

  word& at(std::size_t row, std::size_t column) { return cells[row * words + column]; }
  word at(std::size_t row, std::size_t column) const { return cells[row * words + column]; }
  bool is_alive(std::size_t row, std::size_t x) const { return at(row, x / 64) >> x % 64 & 1; }

  /// The cells of a word in the next generation: each one's neighbours are counted in three bits of three words.
  word next(std::size_t row, std::size_t column) const {
    word ones = 0, twos = 0, fours = 0;
    auto const add = [&](word more) {
      word const carry = ones & more;
      ones ^= more;
      fours |= twos & carry;
      twos ^= carry;
    };
    std::size_t const left = column == 0 ? words - 1 : column - 1, right = column + 1 == words ? 0 : column + 1;
    for (std::size_t const r : {row == 0 ? side - 1 : row - 1, row, row + 1 == side ? 0 : row + 1}) {
      word const here = at(r, column);
      add(here << 1 | at(r, left) >> 63);
      if (r != row) add(here);
      add(here >> 1 | at(r, right) << 63);
    }
    return twos & ~fours & (ones | at(row, column));  // three neighbours, or two and alive
  }
};

/// Puts the pattern of a file in the middle.
static bool read_pattern(std::string const& file, torus& field) {
  std::ifstream in(file);
  std::string line, runs;
  while (std::getline(in, line)) {
    if (line.empty() || line[0] == '#' || line[0] == 'x') continue;  // comments, and a line of sizes
    runs += line;
  }
  std::size_t row = field.side / 2, x = field.side / 2, count = 0;
  for (char const c : runs) {
    if (std::isdigit(static_cast<unsigned char>(c))) {
      count = 10 * count + static_cast<std::size_t>(c - '0');
      continue;
    }
    for (std::size_t i = 0; i < std::max<std::size_t>(count, 1) && c != '!'; ++i) {
      if (c == '$') ++row, x = field.side / 2;
      if (c == 'o') field.at(row % field.side, x / 64 % field.words) |= word{1} << x % 64;
      if (c == 'o' || c == 'b') ++x;
    }
    count = 0;
  }
  return !runs.empty();
}

int main(int argc, char** argv) {
  int const generations = argc > 2 ? std::atoi(argv[2]) : 1103;
  std::size_t const asked = argc > 3 ? std::strtoul(argv[3], nullptr, 10) : 1024;
  std::size_t const side = asked > 65'536 ? 0 : asked / 64 * 64;
  std::string const file = argc > 4 ? argv[4] : "life.png";
  torus now{side}, next{side}, ever{side};
  if (argc < 2 || side == 0 || !read_pattern(argv[1], now)) {
    std::fputs("usage: example-life pattern.rle [generations [side, from 64 to 65536 [file.png]]]\n", stderr);
    return 1;
  }

  stopwatch time;
  for (int i = 0; i < generations; ++i) {
    filch::for_index(filch::extents{side, now.words}, [&](std::size_t row, std::size_t column) {
      ever.at(row, column) |= now.at(row, column);
      next.at(row, column) = now.next(row, column);
    });
    std::swap(now, next);
  }
  long const alive = filch::transform_reduce(now.cells.begin(), now.cells.end(), 0L, std::plus<>(),
                                             [](word w) { return static_cast<long>(std::popcount(w)); });
  std::printf("%d generations of %zu x %zu cells in %.0f ms\n", generations, side, side, time.milliseconds());

  std::size_t const shown = std::min<std::size_t>(side, 512), begin = (side - shown) / 2;
  image picture{shown, shown};
  filch::for_index(filch::extents{shown, shown}, [&](std::size_t row, std::size_t x) {
    bool const lived = ever.is_alive(begin + row, begin + x), lives = now.is_alive(begin + row, begin + x);
    picture.at(row, x) = lives ? rgb{255, 255, 255} : lived ? rgb{30, 60, 140} : rgb{0, 0, 16};
  });
  write_png(file, picture);
  std::printf("%ld cells live; the picture is in %s\n", alive, file.c_str());
}

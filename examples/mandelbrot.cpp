// The Mandelbrot set as a picture: a loop over a grid whose points cost between one step and a thousand. Nothing says
// how it is to be split.
//   example-mandelbrot [width [file.png]]
#include <cstdio>
#include <cstdlib>
#include <filch/for_extents.hpp>
#include <filch/reduce.hpp>
#include <string>

#include "image.hpp"
#include "stopwatch.hpp"

constexpr int k_most_steps = 1000;

/// The steps until z = z * z + c leaves the circle of radius 2: k_most_steps if it stays.
static int steps(double x, double y) {
  double re = 0, im = 0;
  int n = 0;
  for (; n < k_most_steps && re * re + im * im <= 4; ++n) {
    double const next = re * re - im * im + x;
    im = 2 * re * im + y;
    re = next;
  }
  return n;
}

static rgb colour(int n) {
  if (n == k_most_steps) return {0, 0, 0};
  double const t = static_cast<double>(n) / (n + 25.0);  // dark blue, then gold, then white
  auto const channel = [](double x) { return static_cast<std::uint8_t>(255 * (x < 0 ? 0 : x > 1 ? 1 : x)); };
  return {channel(2.2 * t - 0.3), channel(1.7 * t - 0.2), channel(t < 0.4 ? 0.25 + t : 1.5 * t - 0.2)};
}

int main(int argc, char** argv) {
  int const width = argc > 1 ? std::atoi(argv[1]) : 800;
  std::string const file = argc > 2 ? argv[2] : "mandelbrot.png";
  if (width < 8 || width > 20'000) {
    std::fputs("example-mandelbrot: the width is a whole number from 8 to 20000\n", stderr);
    return 1;
  }
  auto const columns = static_cast<std::size_t>(width);
  std::size_t const rows = columns * 5 / 8;
  image picture{columns, rows};
  std::vector<int> counts(columns * rows);
  double const pixel = 3.2 / width;

  stopwatch time;
  filch::for_index(filch::extents{rows, columns}, [&](std::size_t row, std::size_t column) {
    double const x = -2.25 + pixel * static_cast<double>(column);
    double const y = -1.0 + pixel * static_cast<double>(row);
    int const n = steps(x, y);
    counts[row * columns + column] = n;
    picture.at(row, column) = colour(n);
  });
  long const sum = filch::reduce(counts.begin(), counts.end(), 0L);
  std::printf("%zu x %zu points in %.0f ms\n", columns, rows, time.milliseconds());

  write_png(file, picture);
  std::printf("%ld steps; the picture is in %s\n", sum, file.c_str());
}

// Two galaxies that meet: each step halves space again and again, forks a tree of cells, and lets far cells pull as a
// whole (J. Barnes, P. Hut, Nature 1986). The same picture on any number of workers.
//   example-barnes_hut [bodies [steps [file.png]]]
#include <cstdio>
#include <cstdlib>
#include <filch/filter.hpp>
#include <filch/for_each.hpp>
#include <filch/histogram.hpp>
#include <filch/join.hpp>
#include <filch/reduce.hpp>
#include <filch/transform.hpp>
#include <memory>
#include <span>
#include <string>
#include <tuple>

#include "image.hpp"
#include "stopwatch.hpp"
#include "vec.hpp"

struct body {
  vec at, speed;
  double mass;
};

struct cell {
  double size;             // its longest side
  std::span<body> bodies;  // of a cell without parts
  vec middle{0, 0, 0};     // of its mass
  double mass = 0;
  std::unique_ptr<cell> parts[2]{};

  void add(vec at, double more) {
    middle = (middle * mass + at * more) * (1 / (mass + more));
    mass += more;
  }
};

static std::unique_ptr<cell> cell_of(std::span<body> bodies, vec low, vec size, int level) {
  if (bodies.empty()) return nullptr;
  auto all = std::make_unique<cell>(cell{std::max({size.x, size.y, size.z}), bodies});
  if (bodies.size() <= 8 || level == 60) {
    for (body const& b : bodies) all->add(b.at, b.mass);
    return all;
  }
  all->bodies = {};
  auto const axis = level % 3 == 0 ? &vec::x : level % 3 == 1 ? &vec::y : &vec::z;
  vec high = low;
  high.*axis += size.*axis /= 2;
  auto const middle =
      filch::stable_partition(bodies.begin(), bodies.end(), [=](body const& b) { return b.at.*axis < high.*axis; });
  std::tie(all->parts[0], all->parts[1]) =
      filch::join([=] { return cell_of({bodies.begin(), middle}, low, size, level + 1); },
                  [=] { return cell_of({middle, bodies.end()}, high, size, level + 1); });
  for (auto const& part : all->parts) {
    if (part) all->add(part->middle, part->mass);
  }
  return all;
}

static vec pull(vec at, vec from, double mass) {
  vec const way = from - at;
  double const square = dot(way, way) + 0.1;  // as if bodies were soft: none comes too near
  return way * (mass / (square * std::sqrt(square)));
}
static vec pull(vec at, cell const& c) {
  vec const way = c.middle - at;
  if (c.size * c.size < 0.5 * dot(way, way)) return pull(at, c.middle, c.mass);
  vec sum{0, 0, 0};
  for (body const& b : c.bodies) sum = sum + pull(at, b.at, b.mass);
  for (auto const& part : c.parts) {
    if (part) sum = sum + pull(at, *part);
  }
  return sum;
}

static void add_galaxy(std::vector<body>& bodies, std::size_t n, vec middle, vec speed, double turn,
                       random_numbers& random) {
  double const mass = 1.0 / static_cast<double>(n);
  bodies.push_back({middle, speed, 3});
  for (std::size_t i = 1; i < n; ++i) {
    double const radius = 6 * random.number();
    vec const p = random.in_ball() * vec{radius, radius, radius / 10};
    double const square = dot(p, p) + 0.1, r = std::sqrt(square), v = turn * std::sqrt((3 + r / 6) / (square * r));
    bodies.push_back({middle + p, speed + vec{-p.y * v, p.x * v, 0}, mass});
  }
}

int main(int argc, char** argv) {
  auto const n = static_cast<std::size_t>(argc > 1 ? std::clamp(std::atol(argv[1]), 2L, 1'000'000L) : 6'000);
  int const steps = argc > 2 ? std::atoi(argv[2]) : 40;
  std::string const file = argc > 3 ? argv[3] : "barnes_hut.png";
  std::vector<body> bodies;
  random_numbers random(1);
  add_galaxy(bodies, n / 2, {-4, -2, 0}, {0.5, -0.2, 0}, 1, random);
  add_galaxy(bodies, n - n / 2, {4, 2, 0}, {-0.5, 0.2, 0}, 1, random);
  constexpr double k_step = 0.1;
  stopwatch time;
  for (int i = 0; i < steps; ++i) {
    auto const all = cell_of(bodies, {-32, -32, -32}, {64, 64, 64}, 0);
    filch::for_each(bodies.begin(), bodies.end(), [&](body& b) { b.speed = b.speed + pull(b.at, *all) * k_step; });
    filch::for_each(bodies.begin(), bodies.end(), [&](body& b) { b.at = b.at + b.speed * k_step; });
  }
  double const energy = filch::transform_reduce(filch::reproducible, bodies.begin(), bodies.end(), 0.0, std::plus<>(),
                                                [](body const& b) { return b.mass / 2 * dot(b.speed, b.speed); });
  std::printf("%zu bodies, %d steps in %.0f ms\n", n, steps, time.milliseconds());

  image picture{480, 480};
  std::vector<int> counts(picture.pixels.size());
  filch::histogram(bodies.begin(), bodies.end(), counts.begin(), counts.size(), [](body const& b) {
    auto const pixel = [](double x) { return static_cast<std::size_t>(std::clamp(240 + 20 * x, 0.0, 479.0)); };
    return pixel(b.at.y) * 480 + pixel(b.at.x);
  });
  filch::transform(counts.begin(), counts.end(), picture.pixels.begin(), [](int count) {
    auto const channel = [count](int step) { return static_cast<std::uint8_t>(std::min(255, count * step)); };
    return rgb{channel(80), channel(55), channel(110)};
  });
  write_png(file, picture);
  std::printf("kinetic energy %.6f; the picture is in %s\n", energy, file.c_str());
}

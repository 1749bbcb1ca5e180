// Thousands of balls under the sky: joins build a tree of boxes, and a loop over the pixels follows random paths of
// light through it. Each pixel has its own random numbers, so the picture is the same on any number of workers.
//   example-path_tracer [width [paths of each pixel [file.png]]]
#include <cstdio>
#include <cstdlib>
#include <filch/for_extents.hpp>
#include <filch/join.hpp>
#include <filch/sort.hpp>
#include <memory>
#include <span>
#include <string>
#include <tuple>

#include "image.hpp"
#include "stopwatch.hpp"
#include "vec.hpp"

struct ball {
  vec middle;
  double radius;
  vec colour;

  /// The way along r to the ball, or `far` if that is shorter.
  double hit(ray const& r, double far) const {
    vec const to = middle - r.from;
    double const b = dot(to, r.along), d = b * b - dot(to, to) + radius * radius;
    double const t = d < 0 ? far : b - std::sqrt(d);
    return t > 1e-6 && t < far ? t : far;
  }
};

/// A box around some balls, and its two halves.
struct box {
  vec low, high;
  std::span<ball> balls;
  std::unique_ptr<box> left, right;

  ball const* nearest(ray const& r, double& far) const {
    if (!r.meets_box(low, high, far)) return nullptr;
    ball const* found = nullptr;
    for (ball const& b : left ? std::span<ball>() : balls) {
      if (double const t = b.hit(r, far); t < far) far = t, found = &b;
    }
    for (box const* half : {left.get(), right.get()}) {
      if (ball const* b = half ? half->nearest(r, far) : nullptr) found = b;
    }
    return found;
  }
};

static std::unique_ptr<box> box_of(std::span<ball> balls) {
  auto all = std::make_unique<box>(box{balls[0].middle, balls[0].middle, balls, nullptr, nullptr});
  for (ball const& b : balls) {
    vec const r{b.radius, b.radius, b.radius};
    all->low = least(all->low, b.middle - r), all->high = most(all->high, b.middle + r);
  }
  if (balls.size() <= 4) return all;
  vec const size = all->high - all->low;
  auto const axis = size.x > size.y && size.x > size.z ? &vec::x : size.y > size.z ? &vec::y : &vec::z;
  auto const half = balls.begin() + static_cast<std::ptrdiff_t>(balls.size() / 2);
  filch::nth_element(balls.begin(), half, balls.end(), {}, [axis](ball const& b) { return b.middle.*axis; });
  std::tie(all->left, all->right) = filch::join([=] { return box_of({balls.begin(), half}); },  //
                                                [=] { return box_of({half, balls.end()}); });
  return all;
}

/// A ball, and half as large ones on all sides of it but the one from which it grew.
static void grow(std::vector<ball>& balls, ball const& b, int from, int levels) {
  balls.push_back(b);
  for (int side = 0; side < 6 && levels > 1; ++side) {
    if (side == (from ^ 1)) continue;
    double const s = (side & 1 ? 1.5 : -1.5) * b.radius;
    vec const to = side < 2 ? vec{0, s, 0} : side < 4 ? vec{s, 0, 0} : vec{0, 0, s};
    grow(balls, {b.middle + to, b.radius / 2, {b.colour.y, b.colour.z, b.colour.x}}, side, levels - 1);
  }
}

static vec light(box const& world, ray r, random_numbers& random) {
  vec share{1, 1, 1};
  for (int bounce = 0; bounce < 6; ++bounce) {
    double far = r.along.y < 0 ? (-3 - r.from.y) / r.along.y : 1e9;  // to the floor
    ball const* b = world.nearest(r, far);
    if (!b && far > 60) {
      double const sun = std::max(0.0, dot(r.along, {0.48, 0.64, -0.6}));
      return share * (vec{0.3, 0.45, 0.7} + vec{1.2, 1, 0.8} * (2 * sun * sun * sun));
    }
    vec const at = r.from + r.along * far, out = b ? (at - b->middle) * (1 / b->radius) : vec{0, 1, 0};
    bool const is_mirror = b && random.number() < 0.25;
    if (!is_mirror) share = share * (b ? b->colour : vec{0.5, 0.5, 0.5});
    r = {at + out * 1e-6, unit(is_mirror ? r.along - out * (2 * dot(r.along, out)) : out + random.in_ball())};
  }
  return {0, 0, 0};
}

int main(int argc, char** argv) {
  auto const width = static_cast<std::size_t>(argc > 1 ? std::clamp(std::atol(argv[1]), 2L, 20'000L) : 240);
  auto const paths = static_cast<std::size_t>(argc > 2 ? std::clamp(std::atol(argv[2]), 1L, 1'000'000L) : 16);
  std::string const file = argc > 3 ? argv[3] : "path_tracer.png";
  image picture{width, width * 3 / 4};
  std::vector<ball> balls;
  stopwatch time;
  grow(balls, {{0, 0, 0}, 1, {0.9, 0.75, 0.35}}, -1, 6);
  auto const world = box_of(balls);
  filch::for_index(filch::extents{picture.height, width}, [&](std::size_t row, std::size_t column) {
    random_numbers random(row * width + column);
    vec sum{0, 0, 0};
    for (std::size_t i = 0; i < paths; ++i) {
      double const x = (static_cast<double>(column) + random.number()) / static_cast<double>(width) - 0.5;
      double const y = 0.375 - (static_cast<double>(row) + random.number()) / static_cast<double>(width);
      sum = sum + light(*world, {{-2.5, 1.6, -9}, unit({x + 0.27, y - 0.21, 1})}, random);
    }
    auto const channel = [&](double c) {
      return static_cast<std::uint8_t>(255 * std::min(1.0, std::sqrt(c / static_cast<double>(paths))));
    };
    picture.at(row, column) = {channel(sum.x), channel(sum.y), channel(sum.z)};
  });
  std::printf("%zu x %zu pixels, %zu balls in %.0f ms\n", width, picture.height, balls.size(), time.milliseconds());
  write_png(file, picture);
  std::printf("sum of all colours %ld; the picture is in %s\n", checksum(picture), file.c_str());
}

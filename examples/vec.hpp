// Vectors of three numbers, and random ones. The same results on every machine: no function of libm but sqrt.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

struct vec {
  double x, y, z;

  vec operator+(vec v) const { return {x + v.x, y + v.y, z + v.z}; }
  vec operator-(vec v) const { return {x - v.x, y - v.y, z - v.z}; }
  vec operator*(vec v) const { return {x * v.x, y * v.y, z * v.z}; }
  vec operator*(double s) const { return {x * s, y * s, z * s}; }
};
inline double dot(vec a, vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
inline vec unit(vec v) { return v * (1 / std::sqrt(dot(v, v))); }
inline vec least(vec a, vec b) { return {std::min(a.x, b.x), std::min(a.y, b.y), std::min(a.z, b.z)}; }
inline vec most(vec a, vec b) { return {std::max(a.x, b.x), std::max(a.y, b.y), std::max(a.z, b.z)}; }

struct ray {
  vec from, along;

  /// Does it meet a box before it gets so far?
  bool meets_box(vec low, vec high, double far) const {
    vec const inverse{1 / along.x, 1 / along.y, 1 / along.z};
    vec const a = (low - from) * inverse, b = (high - from) * inverse, in = least(a, b), out = most(a, b);
    return std::max({in.x, in.y, in.z, 0.0}) <= std::min({out.x, out.y, out.z, far});
  }
};

class random_numbers {
 public:
  explicit random_numbers(std::uint64_t seed) : state_(seed) {}

  /// At least 0, and below 1.
  double number() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    std::uint64_t const mixed = (state_ ^ (state_ >> 29)) * 0x9e3779b97f4a7c15u;
    return static_cast<double>(mixed >> 11) * 0x1p-53;
  }
  /// A point in the ball of radius 1.
  vec in_ball() {
    for (;;) {
      double const x = 2 * number() - 1, y = 2 * number() - 1, z = 2 * number() - 1;
      if (x * x + y * y + z * z < 1) return {x, y, z};
    }
  }

 private:
  std::uint64_t state_;
};

// Medians and their intervals, and geometric means.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

namespace bench {

struct interval {
  double low = 0;
  double median = 0;
  double high = 0;
};

inline double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  std::size_t const n = v.size();
  return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

/// The median with its 95% interval by order statistics, which assume nothing of the distribution. Below six
/// values there is no such interval: the whole range then.
inline interval median_interval(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  auto const n = static_cast<double>(v.size());
  double const reach = 0.98 * std::sqrt(n) + 0.5;  // 1.96 standard deviations of the rank, rounded outwards
  auto const low = static_cast<std::size_t>(std::max(0.0, std::floor(n / 2 - reach)));
  return {v[low], median(v), v[v.size() - 1 - low]};
}

/// The same of the ratios of pairs that were measured side by side.
inline interval ratio_interval(std::vector<double> const& over, std::vector<double> const& under) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < over.size(); ++i) ratios.push_back(over[i] / under[i]);
  return median_interval(ratios);
}

inline interval range(std::vector<double> const& v) {
  auto const [low, high] = std::minmax_element(v.begin(), v.end());
  return {*low, median(v), *high};
}

inline double geometric_mean(std::vector<double> const& v) {
  double sum = 0;
  for (double const x : v) sum += std::log(x);
  return std::exp(sum / static_cast<double>(v.size()));
}

}  // namespace bench

// cholesky: the decomposition A = L L' of a sparse matrix, kept as a quadtree of its lower triangle; parts that are
// zero are not there. Again and again on a copy of the tree, which is forked, too. After the Cilk-5 example.
// Published by: K.-F. Faxen (ICPP 2010), table I, and C. Yang, J. Mellor-Crummey, SPAA 2016, 4000 rows with 40,000
// nonzeros (of the lower triangle with its diagonal). Size is ROWS:NONZEROS[:REPETITIONS]; without them the first
// paper's divided by k_scale. Cut-off, the example's: dense blocks of k_side x k_side. The pattern is random, the
// diagonal dominant. Answer: the bits of the serial program's tree; and L L'x = Ax for a random vector.
#pragma once

#include "../workload.hpp"
#include "quadtree.hpp"

#include <cmath>
#include <filch/serial.hpp>

namespace bench {

struct cholesky {
  static constexpr std::string_view name = "cholesky";
  static constexpr std::string_view about =
      "sparse Cholesky decomposition on a quadtree, ROWS:NONZEROS[:REPETITIONS]";
  static constexpr std::string_view quick_size = "500:2000:8";
  static std::vector<std::string_view> sizes() {
    return {"250:1000", "500:2000", "1000:4000", "2000:8000", "4000:16000", "4000:40000"};
  }
  static std::vector<std::string_view> published_sizes() {
    return {"250:1000:4096", "500:2000:1024", "1000:4000:256", "2000:8000:64", "4000:16000:16", "4000:40000:1"};
  }
  static constexpr long k_scale = 16;
  static constexpr long k_published_root = 16'000;  // over the rows, squared: 4096 repetitions of 250 rows, and so on
  static constexpr long k_least_rows = 4;

  using vector = std::vector<double>;
  struct input {
    std::size_t rows;
    long repetitions;
    double greatest = 0;  // element of A
    quadtree original;
    quadtree decomposed;
    std::uint64_t expected_bits = 0;
  };
  using answer = bool;

  struct request {
    std::size_t rows, nonzeros;
    long repetitions;
  };
  static request size_of(std::string_view size) {
    auto const numbers = parse_size_parts(
        name, size, "ROWS:NONZEROS or ROWS:NONZEROS:REPETITIONS, such as 250:1000", 2,
        {{"ROWS", k_least_rows, 16'384}, {"NONZEROS", 1, 10'000'000}, {"REPETITIONS", 1, 1'000'000}});
    long const rows = numbers[0];
    // Half of the triangle: random places are free soon.
    if (long const most = rows + rows * (rows - 1) / 4; numbers[1] < rows || numbers[1] > most) {
      throw bad_request("cholesky=" + std::string(size) + ": expected NONZEROS to be a whole number from ROWS to " +
                        std::to_string(most));
    }
    long const scaled = std::max(1L, k_published_root * k_published_root / (rows * rows) / k_scale);
    return {static_cast<std::size_t>(rows), static_cast<std::size_t>(numbers[1]),
            numbers.size() > 2 ? numbers[2] : scaled};
  }
  static input prepare(std::string_view size) {
    request const r = size_of(size);
    input in{r.rows, r.repetitions, 0, quadtree(r.rows), quadtree(r.rows), 0};
    add_elements(in, r.nonzeros);
    decompose_copy<filch::serial>(in);
    in.expected_bits = in.decomposed.bits();
    return in;
  }
  static void reset(input& in) { in.decomposed.clear<filch::serial>(); }

  static void add_elements(input& in, std::size_t nonzeros) {
    std::uint64_t x = 1325;
    auto const random = [&x] { return (x = x * 6364136223846793005u + 1442695040888963407u) >> 33; };
    vector diagonal(in.original.side(), 1.0);  // ones past the rows, too
    for (std::size_t number = in.rows; number < nonzeros;) {
      std::size_t const i = random() % in.rows;
      std::size_t const j = random() % in.rows;
      if (j >= i) continue;
      double& e = in.original.element(i, j);
      if (e != 0) continue;
      e = static_cast<double>(random() + 1) * 0x1p-31;
      if (random() % 2 == 1) e = -e;
      diagonal[i] += std::abs(e);
      diagonal[j] += std::abs(e);
      ++number;
    }
    for (std::size_t i = 0; i < in.original.used_side(in.rows); ++i) {
      in.original.element(i, i) = diagonal[i];
      in.greatest = std::max(in.greatest, diagonal[i]);
    }
  }

  template <class S> static void decompose_copy(input& in) {
    in.decomposed.clear<S>();
    in.decomposed.copy<S>(in.original);
    in.decomposed.decompose<S>();
  }
  template <class S> static answer run(input& in) {
    for (long r = 0; r < in.repetitions; ++r) decompose_copy<S>(in);
    return true;
  }
  static answer plain(input& in) { return run<filch::serial>(in); }

  static bool verify(input const& in, answer ran) {
    return ran && in.decomposed.bits() == in.expected_bits && has_small_residual(in);
  }
  static bool has_small_residual(input const& in) {
    std::size_t const side = in.original.side();
    vector v(side), transposed(side), difference(side);
    std::uint32_t x = 99;
    for (double& e : v) e = static_cast<double>((x = x * 1664525u + 1013904223u) >> 31) * 2 - 1;
    in.decomposed.for_each([&](std::size_t i, std::size_t j, double e) { transposed[j] += e * v[i]; });
    in.decomposed.for_each([&](std::size_t i, std::size_t j, double e) { difference[i] += e * transposed[j]; });
    in.original.for_each([&](std::size_t i, std::size_t j, double e) {
      difference[i] -= e * v[j];
      if (i != j) difference[j] -= e * v[i];
    });
    double const most = 1e-14 * static_cast<double>(in.rows) * in.greatest;
    return std::all_of(difference.begin(), difference.end(), [most](double d) { return std::abs(d) <= most; });
  }
};

}  // namespace bench

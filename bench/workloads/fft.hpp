// fft: the discrete Fourier transform of complex doubles, 2^k of them, after the Cilk-5 example: the input is dealt
// out to k_radix subsequences, their transforms are forked, then put together; both loops are trees of forks.
// Published by: C. Yang, J. Mellor-Crummey, SPAA 2016, 2^26 elements. Cut-offs, the example's: k_base elements are
// transformed without a fork; loops end at k_deal_most and k_combine_most iterations. Powers of the root are made
// before the run. Answers: the bits of the sequential program's; and a weighted sum of all results, which follows
// from the input.
#pragma once

#include "../workload.hpp"
#include "bits.hpp"
#include "halves.hpp"

#include <cmath>
#include <numbers>
#include <utility>

namespace bench {

struct fft {
  static constexpr std::string_view name = "fft";
  static constexpr std::string_view about = "Fourier transform of complex doubles";
  static constexpr std::string_view quick_size = "1048576";
  static std::vector<std::string_view> sizes() { return {"4194304", "1048576", "67108864"}; }
  static std::vector<std::string_view> published_sizes() { return {"67108864"}; }
  static constexpr std::size_t k_radix = 8;
  static constexpr std::size_t k_base = 32;
  static constexpr std::size_t k_deal_most = 16;
  static constexpr std::size_t k_combine_most = 128;

  struct number {
    double re, im;
    friend number operator+(number a, number b) { return {a.re + b.re, a.im + b.im}; }
    friend number operator-(number a, number b) { return {a.re - b.re, a.im - b.im}; }
    friend number operator*(number a, number b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
  };
  struct input {
    std::size_t count;
    std::vector<number> roots;  // root k of unity, exp(-2 pi i k / count)
    std::vector<number> data;   // lost in the run
    std::vector<number> result;
    std::uint64_t expected_bits;
  };
  using answer = number const*;

  static std::size_t size_of(std::string_view size) {
    long const n = parse_size(name, size, 1, 1L << 30);
    if ((n & (n - 1)) != 0) throw bad_request("fft=" + std::string(size) + ": expected a power of two");
    return static_cast<std::size_t>(n);
  }
  static input prepare(std::string_view size) {
    std::size_t const n = size_of(size);
    input in{n, std::vector<number>(n), std::vector<number>(n), std::vector<number>(n), 0};
    for (std::size_t k = 0; k < n; ++k) in.roots[k] = root(2 * k, n);
    reset(in);
    in.expected_bits = bits(n, plain(in));
    return in;
  }
  static void reset(input& in) {
    for (std::size_t i = 0; i < in.count; ++i) in.data[i] = element(i);
    in.result.assign(in.count, {});
  }
  // exp(-pi i k / n)
  static number root(std::size_t k, std::size_t n) {
    double const angle = std::numbers::pi * static_cast<double>(k) / static_cast<double>(n);
    return {std::cos(angle), -std::sin(angle)};
  }
  static number element(std::size_t i) {
    std::uint64_t const x = (i + 1) * 0x9e3779b97f4a7c15u;
    auto const part = [](std::uint64_t y) {
      y = (y ^ (y >> 31)) * 0xbf58476d1ce4e5b9u;
      return static_cast<double>(y >> 11) * 0x1p-52 - 1;
    };
    return {part(x), part(~x)};
  }
  static std::uint64_t bits(std::size_t count, answer found) { return bits_of(&found->re, 2 * count); }

  static number times_minus_i(number a) { return {a.im, -a.re}; }
  // Transforms of a few elements, in place.
  static void transform(number& a, number& b) {
    number const difference = a - b;
    a = a + b;
    b = difference;
  }
  static void transform(number& a, number& b, number& c, number& d) {
    transform(a, c);
    transform(b, d);
    number const turned = times_minus_i(d);
    d = c - turned;
    number const last = c + turned;
    c = a - b;
    a = a + b;
    b = last;
  }
  template <std::size_t Radix> static void transform(number* x) {
    if constexpr (Radix == 2) {
      transform(x[0], x[1]);
    } else if constexpr (Radix == 4) {
      transform(x[0], x[1], x[2], x[3]);
    } else {
      constexpr double k_root = std::numbers::sqrt2 / 2;
      number even[] = {x[0], x[2], x[4], x[6]};
      number odd[] = {x[1], x[3], x[5], x[7]};
      transform<4>(even);
      transform<4>(odd);
      odd[1] = {k_root * (odd[1].re + odd[1].im), k_root * (odd[1].im - odd[1].re)};
      odd[2] = times_minus_i(odd[2]);
      odd[3] = {k_root * (odd[3].im - odd[3].re), -k_root * (odd[3].re + odd[3].im)};
      for (std::size_t k = 0; k < 4; ++k) {
        x[k] = even[k] + odd[k];
        x[k + 4] = even[k] - odd[k];
      }
    }
  }

  // A transform of `count` elements as `radix` transforms of `part` elements each.
  struct level {
    std::size_t count;
    std::size_t radix = count >= k_radix * k_radix ? k_radix : count / k_radix;
    std::size_t part = count / radix;
  };
  // Not inlined, this and the next ones: every contender runs the same code, at the same place.
  [[gnu::noinline]] static void deal(level l, number const* in, number* out, std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      for (std::size_t j = 0; j < l.radix; ++j) out[j * l.part + i] = in[i * l.radix + j];
    }
  }
  struct powers {
    number const* roots;
    std::size_t count;
  };
  template <std::size_t Radix>
  [[gnu::noinline]] static void combine(powers const& p, std::size_t part, number const* in, number* out,
                                        std::size_t first, std::size_t last) {
    std::size_t const stride = p.count / (part * Radix);
    for (std::size_t k = first; k < last; ++k) {
      number x[Radix];
      x[0] = in[k];
      for (std::size_t j = 1; j < Radix; ++j) x[j] = in[j * part + k] * p.roots[j * k * stride];
      transform<Radix>(x);
      for (std::size_t j = 0; j < Radix; ++j) out[j * part + k] = x[j];
    }
  }
  template <std::size_t Count> static void transform_few(number const* in, number* out) {
    number x[Count];
    std::copy_n(in, Count, x);
    transform<Count>(x);
    std::copy_n(x, Count, out);
  }
  // The result is in `out`, here and in those below; `in` is lost.
  [[gnu::noinline]] static void base(powers const& p, number* in, number* out, std::size_t count) {
    switch (count) {
      case 1: *out = *in; return;
      case 2: return transform_few<2>(in, out);
      case 4: return transform_few<4>(in, out);
      case 8: return transform_few<8>(in, out);
      default: break;
    }
    level const l{count};
    deal(l, in, out, 0, l.part);
    for (std::size_t j = 0; j < l.radix; ++j) transform_few<8>(out + j * l.part, in + j * l.part);
    if (l.radix == 2) return combine<2>(p, l.part, in, out, 0, l.part);
    combine<4>(p, l.part, in, out, 0, l.part);
  }

  template <class S> static void forked(powers const& p, number* in, number* out, std::size_t count) {
    if (count <= k_base) return base(p, in, out, count);
    level const l{count};
    run_halves<S>(0, l.part, k_deal_most,
                  [=](std::size_t first, std::size_t last) { deal(l, in, out, first, last); });
    run_halves<S>(0, k_radix, 1,
                  [=, &p](std::size_t j, std::size_t) { forked<S>(p, out + j * l.part, in + j * l.part, l.part); });
    run_halves<S>(0, l.part, k_combine_most, [=, &p](std::size_t first, std::size_t last) {
      combine<k_radix>(p, l.part, in, out, first, last);
    });
  }
  static void sequential(powers const& p, number* in, number* out, std::size_t count) {
    if (count <= k_base) return base(p, in, out, count);
    level const l{count};
    deal(l, in, out, 0, l.part);
    for (std::size_t j = 0; j < k_radix; ++j) sequential(p, out + j * l.part, in + j * l.part, l.part);
    combine<k_radix>(p, l.part, in, out, 0, l.part);
  }

  template <class S> static answer run(input& in) {
    forked<S>({in.roots.data(), in.count}, in.data.data(), in.result.data(), in.count);
    return in.result.data();
  }
  static answer plain(input& in) {
    sequential({in.roots.data(), in.count}, in.data.data(), in.result.data(), in.count);
    return in.result.data();
  }

  static bool verify(input const& in, answer found) {
    return found && bits(in.count, found) == in.expected_bits && has_weighted_sum(in.count, found);
  }
  // A sum whose rounding does not grow with the number of terms (Kahan): some are as large as n.
  struct long_sum {
    number sum{0, 0};
    number lost{0, 0};
    void add(number term) {
      term = term - lost;
      number const next = sum + term;
      lost = (next - sum) - term;
      sum = next;
    }
  };
  // Weights z^k, where z is half a step beside a root of unity: z^n = -1. Their sums over the results are sums of
  // 2 / (1 - z root^j) = 1 - i cot(angle / 2) over the elements.
  static bool has_weighted_sum(std::size_t n, answer found) {
    std::size_t const beside = n / 3;
    long_sum of_results, of_elements;
    for (std::size_t k = 0; k < n; ++k) of_results.add(found[k] * root((2 * beside + 1) * k % (2 * n), n));
    for (std::size_t j = 0; j < n; ++j) of_elements.add(element(j) * number{1, -cotangent((beside + j) % n, n)});
    number const difference = of_results.sum - of_elements.sum;
    // Results are about the root of n, and so are their sums' parts; a rounding for each level.
    double const most = 1e-14 * static_cast<double>(n) * (1 + std::log2(static_cast<double>(n)));
    return std::hypot(difference.re, difference.im) <= most;
  }
  // The cotangent of pi (2k + 1) / 2n; exact at both ends of its range.
  static double cotangent(std::size_t k, std::size_t n) {
    if (2 * k + 1 > n) return -cotangent(n - 1 - k, n);
    return 1 / std::tan(std::numbers::pi * static_cast<double>(2 * k + 1) / static_cast<double>(2 * n));
  }
};

}  // namespace bench

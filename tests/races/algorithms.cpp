// Each algorithm twice: with functions of its own elements it has no race, and with functions that write one variable
// it has one, in a part of the algorithm that a split anywhere makes parallel.
#include <filch/algorithm.hpp>
#include <filch/filch.hpp>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <stop_token>
#include <string>
#include <vector>

#include "checked.hpp"

namespace {

using numbers = std::vector<long>;
constexpr std::size_t k_many = 40;

unsigned found = 0;
unsigned failures = 0;
long volatile shared = 0;

/// The functions of a seeded run call it.
struct seed {
  bool writes;
  void operator()() const {
    if (writes) shared = 1;
  }
};

template <class Run> void algorithm(char const* name, Run run) {
  numbers in(k_many);
  for (std::size_t i = 0; i < k_many; ++i) in[i] = static_cast<long>(i * 7 % k_many);
  numbers out(2 * k_many);
  for (bool const writes : {false, true}) {
    found = 0;
    run(seed{writes}, numbers(in), numbers(out));
    if ((found != 0) == writes) continue;
    std::printf("FAILED: %s: %s\n", name, writes ? "the race was not found" : "a false race");
    ++failures;
  }
}

// Loops and reductions.
void loops() {
  algorithm("for_index", [](seed s, numbers in, numbers) {
    filch::for_index(std::size_t{0}, in.size(), [&](std::size_t i) { s(), in[i] = 1; });
  });
  algorithm("extents", [](seed s, numbers in, numbers) {
    filch::for_index(filch::extents{5, 8}, [&](int r, int c) { s(), in[static_cast<std::size_t>(8 * r + c)] = 1; });
  });
  algorithm("for_each", [](seed s, numbers in, numbers) { filch::for_each(in, [&](long& x) { s(), x = 1; }); });
  algorithm("for_each_n",
            [](seed s, numbers in, numbers) { filch::for_each_n(in.begin(), 20, [&](long& x) { s(), x = 1; }); });
  algorithm("transform", [](seed s, numbers in, numbers out) {
    filch::transform(in.begin(), in.end(), out.begin(), [&](long x) { return s(), x + 1; });
  });
  algorithm("generate",
            [](seed s, numbers in, numbers) { filch::generate(in.begin(), in.end(), [&] { return s(), 3L; }); });
  algorithm("reduce", [](seed s, numbers in, numbers) {
    filch::reduce(in.begin(), in.end(), 0L, [&](long a, long b) { return s(), a + b; });
  });
  algorithm("transform_reduce", [](seed s, numbers in, numbers) {
    filch::transform_reduce(in.begin(), in.end(), 0L, std::plus<>(), [&](long x) { return s(), x * x; });
  });
  algorithm("reproducible::reduce", [](seed s, numbers, numbers) {
    numbers const in(5000);  // it is split between blocks
    filch::transform_reduce(filch::reproducible, in.begin(), in.end(), 0.0, std::plus<>(),
                            [&](long x) { return s(), double(x); });
  });
  algorithm("count_if", [](seed s, numbers in, numbers) {
    filch::count_if(in.begin(), in.end(), [&](long x) { return s(), x > 3; });
  });
  algorithm("min_element", [](seed s, numbers in, numbers) {
    filch::min_element(in.begin(), in.end(), [&](long a, long b) { return s(), a < b; });
  });
  algorithm("max_element", [](seed s, numbers in, numbers) {
    filch::max_element(in.begin(), in.end(), [&](long a, long b) { return s(), a < b; });
  });
  algorithm("minmax_element", [](seed s, numbers in, numbers) {
    filch::minmax_element(in.begin(), in.end(), [&](long a, long b) { return s(), a < b; });
  });
  algorithm("histogram", [](seed s, numbers in, numbers) {
    filch::histogram(in, std::size_t{40}, [&](long x) { return s(), static_cast<std::size_t>(x); });
  });
  algorithm("reduce_by_key", [](seed s, numbers in, numbers) {
    filch::reduce_by_key(
        in.begin(), in.end(), [](long x) { return x % 3; }, [](long x) { return x; },
        [&](long a, long b) { return s(), a + b; });
  });
  algorithm("group_by", [](seed s, numbers in, numbers) {
    filch::group_by(in.begin(), in.end(), [&](long x) { return s(), x % 3; });
  });
}

// Searches.
void searches() {
  algorithm("all_of", [](seed s, numbers in, numbers) {
    filch::all_of(in.begin(), in.end(), [&](long x) { return s(), x >= 0; });
  });
  algorithm("any_of", [](seed s, numbers in, numbers) {
    filch::any_of(in.begin(), in.end(), [&](long x) { return s(), x < 0; });
  });
  algorithm("none_of", [](seed s, numbers in, numbers) {
    filch::none_of(in.begin(), in.end(), [&](long x) { return s(), x < 0; });
  });
  algorithm("equal", [](seed s, numbers in, numbers out) {
    filch::equal(in.begin(), in.end(), out.begin(), [&](long, long) { return s(), true; });
  });
  algorithm("mismatch", [](seed s, numbers in, numbers out) {
    filch::mismatch(in.begin(), in.end(), out.begin(), [&](long, long) { return s(), true; });
  });
  algorithm("find_if", [](seed s, numbers in, numbers) {
    filch::find_if(in.begin(), in.end(), [&](long x) { return s(), x == 17; });
  });
  algorithm("adjacent_find", [](seed s, numbers in, numbers) {
    filch::adjacent_find(in.begin(), in.end(), [&](long a, long b) { return s(), a == b; });
  });
  algorithm("search", [](seed s, numbers in, numbers) {
    filch::search(in.begin(), in.end(), in.begin() + 20, in.begin() + 22,
                  [&](long a, long b) { return s(), a == b; });
  });
  algorithm("find_end", [](seed s, numbers in, numbers) {
    filch::find_end(in.begin(), in.end(), in.begin() + 20, in.begin() + 22,
                    [&](long a, long b) { return s(), a == b; });
  });
  algorithm("is_sorted", [](seed s, numbers in, numbers) {
    filch::is_sorted(in.begin(), in.end(), [&](long, long) { return s(), false; });
  });
}

// Algorithms with a carry.
void scans() {
  algorithm("inclusive_scan", [](seed s, numbers in, numbers out) {
    filch::inclusive_scan(in.begin(), in.end(), out.begin(), [&](long a, long b) { return s(), a + b; });
  });
  algorithm("inclusive_scan in place", [](seed s, numbers in, numbers) {
    filch::inclusive_scan(in.begin(), in.end(), in.begin(), [&](long a, long b) { return s(), a + b; });
  });
  algorithm("exclusive_scan", [](seed s, numbers in, numbers out) {
    filch::exclusive_scan(in.begin(), in.end(), out.begin(), 1L, [&](long a, long b) { return s(), a + b; });
  });
  algorithm("transform_inclusive_scan", [](seed s, numbers in, numbers out) {
    filch::transform_inclusive_scan(in.begin(), in.end(), out.begin(), std::plus<>(),
                                    [&](long x) { return s(), x + 1; });
  });
  algorithm("adjacent_difference", [](seed s, numbers in, numbers out) {
    filch::adjacent_difference(in.begin(), in.end(), out.begin(), [&](long a, long b) { return s(), a - b; });
  });
  algorithm("adjacent_difference in place", [](seed s, numbers in, numbers) {
    filch::adjacent_difference(in.begin(), in.end(), in.begin(), [&](long a, long b) { return s(), a - b; });
  });
  algorithm("copy_if", [](seed s, numbers in, numbers out) {
    filch::copy_if(in.begin(), in.end(), out.begin(), [&](long x) { return s(), x % 2 == 0; });
  });
  algorithm("pack_index", [](seed s, numbers in, numbers out) {
    filch::pack_index(in.begin(), in.end(), out.begin(), [&](long x) { return s(), x % 2 == 0; });
  });
  algorithm("partition_copy", [](seed s, numbers in, numbers out) {
    filch::partition_copy(in.begin(), in.end(), out.begin(), out.begin() + k_many,
                          [&](long x) { return s(), x % 2 == 0; });
  });
  algorithm("remove_if", [](seed s, numbers in, numbers) {
    filch::remove_if(in.begin(), in.end(), [&](long x) { return s(), x % 2 == 0; });
  });
  algorithm("unique", [](seed s, numbers in, numbers) {
    filch::unique(in.begin(), in.end(), [&](long a, long b) { return s(), a % 2 == b % 2; });
  });
  algorithm("partition", [](seed s, numbers in, numbers) {
    filch::partition(in.begin(), in.end(), [&](long x) { return s(), x % 2 == 0; });
  });
  algorithm("stable_partition", [](seed s, numbers in, numbers) {
    filch::stable_partition(in.begin(), in.end(), [&](long x) { return s(), x % 2 == 0; });
  });
}

// Without functions of the user: only clean.
void without_functions() {
  numbers a(k_many, 3), b(k_many);
  std::vector<char> bytes(k_many), marks(k_many);
  std::vector<bool> bits(k_many);
  found = 0;
  filch::copy(a.begin(), a.end(), b.begin());
  filch::fill(a.begin(), a.end(), 3L);
  filch::fill(bytes.begin(), bytes.end(), char{3});
  filch::copy(bytes.begin(), bytes.end(), marks.begin());
  filch::iota(a.begin(), a.end(), 3L);
  filch::for_each(filch::zip(a, b), [](auto&& both) { std::get<0>(both) = std::get<1>(both); });
  filch::inclusive_scan(bytes.begin(), bytes.end(), marks.begin());
  if (found != 0) ++failures, std::printf("FAILED: a false race without functions\n");
}

// A stopped loop does not fork for the positions that are left, which would take days.
void stopped() {
  std::stop_source stop;
  found = 0;
  bool const is_whole = filch::for_index(stop.get_token(), 0L, 1L << 40, [&](long i) {
    if (i == 3) stop.request_stop();
  });
  if (found != 0 || is_whole) ++failures, std::printf("FAILED: a loop that was stopped\n");
}

}  // namespace

extern "C" void filch_race_found(void const*) { ++found; }

int main() {
  loops();
  searches();
  scans();
  without_functions();
  stopped();
  std::printf("%u failures\n", failures);
  std::fflush(stdout);
  std::quick_exit(failures == 0 ? 0 : 1);
}

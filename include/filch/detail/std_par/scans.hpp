// Scans of filch::std_par. C++17.
#pragma once

#include <filch/detail/std_par/buffer.hpp>
#include <filch/detail/std_par/loops.hpp>

namespace filch {
inline namespace FILCH_ABI {
namespace std_par {

/// One pass where nothing is stolen: scan() gets the value of all elements below. A thief that does not know
/// that value yet reads its elements twice.
template <class Index, class Value, class Unary, class Combine, class Reduce, class Scan> struct value_scan {
  tiling const& tiles;
  Unary& unary;
  Combine& combine;
  Reduce& reduce;
  Scan& do_scan;

  static value_scan& of(void* work) noexcept { return *static_cast<value_scan*>(work); }
  Index begin(std::size_t tile) const noexcept { return static_cast<Index>(tiles.first(tile)); }
  Index end(std::size_t tile) const noexcept { return static_cast<Index>(tiles.last(tile - 1)); }

  static void direct(void* work, std::size_t from, std::size_t to, void* value) noexcept {
    auto& at = *static_cast<Value*>(value);
    at = of(work).do_scan(of(work).begin(from), of(work).end(to), std::move(at));
  }
  static void* begin_ahead(void* work, std::size_t from, std::size_t to) noexcept {
    Index const first = of(work).begin(from);
    auto* const made = new Value(of(work).unary(first));
    Index const second = static_cast<Index>(first + 1);
    if (second != of(work).end(to)) *made = of(work).reduce(second, of(work).end(to), std::move(*made));
    return made;
  }
  static void ahead(void* work, std::size_t from, std::size_t to, void* value) noexcept {
    auto& at = *static_cast<Value*>(value);
    at = of(work).reduce(of(work).begin(from), of(work).end(to), std::move(at));
  }
  static void append(void* work, void* lower, void const* upper) noexcept {
    auto& low = *static_cast<Value*>(lower);
    low = of(work).combine(std::move(low), *static_cast<Value const*>(upper));
  }
  static void* copy(void const* value) noexcept { return new Value(*static_cast<Value const*>(value)); }
  static void destroy(void* value) noexcept { delete static_cast<Value*>(value); }
};

template <class Index, class Value, class Unary, class Combine, class Reduce, class Scan>
Value scan_range(scheduler_calls const& calls, Index n, Unary& unary, Value&& initial, Combine& combine,
                 Reduce& reduce, Scan& do_scan) {
  static loop_costs* costs = nullptr;
  using work = value_scan<Index, Value, Unary, Combine, Reduce, Scan>;
  static constexpr scan k_functions{work::direct, work::begin_ahead, work::ahead,
                                    work::append, work::copy,        work::destroy};
  tiling const tiles(calls, std_par::distance_of(Index(0), n), 1, k_longest_scanned_tile);
  work whole{tiles, unary, combine, reduce, do_scan};
  auto* const value = static_cast<Value*>(calls.run_scan(tiles.count(), tiles.length(), k_functions, &whole,
                                                         new Value(std::move(initial)), std_par::costs_of(costs)));
  maybe<Value> result(std::move(*value));
  delete value;
  return std::move(result.get());
}

/// Two passes: reduce() once for each tile, then apex() once, then scan() once for each tile.
template <class Index, class Value, class Reduce, class Combine, class Scan, class Apex>
void strict_scan_range(scheduler_calls const& calls, Index n, Value const& initial, Reduce& reduce, Combine& combine,
                       Scan& do_scan, Apex& apex) {
  tiling const tiles(calls, std_par::distance_of(Index(0), n), 1, ~std::size_t{0});
  std::size_t const count = tiles.count();
  buffer<Value> sums(count + 1);  // the sum of each tile; then, of all below it
  if (!sums) throw std::bad_alloc();
  auto const length = [&](std::size_t tile) { return static_cast<Index>(tiles.last(tile) - tiles.first(tile)); };
  std_par::run_range(calls, std::size_t{0}, count, [&](std::size_t from, std::size_t to) {
    for (; from != to; ++from) {
      ::new (static_cast<void*>(sums.get() + from))
          Value(reduce(static_cast<Index>(tiles.first(from)), length(from)));
    }
  });
  [&]() noexcept {
    maybe<Value> below;
    below.make([&]() -> Value { return initial; });
    for (std::size_t tile = 0; tile != count; ++tile) {
      Value& sum = sums.get()[tile];
      Value next = combine(below.get(), sum);
      sum = std::move(below.get());
      below.get() = std::move(next);
    }
    apex(below.get());
  }();
  std_par::run_range(calls, std::size_t{0}, count, [&](std::size_t from, std::size_t to) {
    for (; from != to; ++from) {
      do_scan(static_cast<Index>(tiles.first(from)), length(from), sums.get()[from]);
      sums.get()[from].~Value();
    }
  });
}

}  // namespace std_par
}  // namespace FILCH_ABI
}  // namespace filch

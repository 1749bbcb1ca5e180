// Loops, reductions and scans of filch::std_par, over the calls of a scheduler. C++17. A function that throws ends
// the program, as the standard says.
//
// A position of a loop is a tile: some neighbouring elements. The functions of libstdc++ are made for long ranges, so
// a pool of one worker has one tile.
#pragma once

#include <filch/detail/std_par/calls.hpp>

// Parts of <utility> and <iterator>, which every file of the program would read.
#include <bits/move.h>

#include <new>

namespace filch {
inline namespace FILCH_ABI {
namespace std_par {

/// How n elements are cut. The last tile is longer than the others by the rest.
class tiling {
 public:
  tiling(scheduler_calls const& calls, std::size_t elements, std::size_t least, std::size_t most)
      : elements_(elements), length_(elements) {
    std::size_t const workers = calls.workers();
    if (workers == 1) return;
    length_ = elements < k_dear * workers ? 1 : elements / (k_each * workers);
    if (length_ > most) length_ = most;
    if (length_ < least) length_ = least;
    if (length_ > elements) length_ = elements;
  }
  std::size_t length() const noexcept { return length_; }
  std::size_t count() const noexcept { return length_ == 0 ? 0 : elements_ / length_; }
  std::size_t first(std::size_t tile) const noexcept { return tile * length_; }
  std::size_t last(std::size_t tile) const noexcept { return tile + 1 < count() ? first(tile + 1) : elements_; }

 private:
  static constexpr std::size_t k_each = 16;
  // Few elements may be dear.
  static constexpr std::size_t k_dear = 64;
  std::size_t elements_;
  std::size_t length_;
};

/// A longer tile would delay what ends a search early.
inline constexpr std::size_t k_longest_tile = std::size_t{1} << 16;
/// Elements that a thief runs ahead are read twice.
inline constexpr std::size_t k_longest_scanned_tile = std::size_t{1} << 12;

template <class Index> std::size_t distance_of(Index first, Index last) {
  return first < last ? static_cast<std::size_t>(last - first) : 0;
}
template <class Index> Index advanced(Index first, std::size_t by) {
  return static_cast<Index>(first + static_cast<decltype(first - first)>(by));
}

template <class Index, class Body> struct range_loop {
  tiling const& tiles;
  Index first;
  Body const& body;
  static void run(void* state, std::size_t from, std::size_t to) noexcept {
    auto const& self = *static_cast<range_loop const*>(state);
    self.body(std_par::advanced(self.first, self.tiles.first(from)),
              std_par::advanced(self.first, self.tiles.last(to - 1)));
  }
};

/// body(i, j) for neighbouring ranges [i, j), which together are [first, last).
template <class Index, class Body>
void run_range(scheduler_calls const& calls, Index first, Index last, Body const& body) {
  static loop_costs* costs = nullptr;
  tiling const tiles(calls, std_par::distance_of(first, last), 1, k_longest_tile);
  using body_loop = range_loop<Index, Body>;
  body_loop state{tiles, first, body};
  static constexpr loop k_functions{body_loop::run, nullptr, nullptr, nullptr};
  calls.run_loop(tiles.count(), tiles.length(), k_functions, &state, std_par::costs_of(costs));
}

/// Memory for a value that may not be there.
template <class Value> class maybe {
 public:
  maybe() noexcept : is_there_(false) {}
  explicit maybe(Value&& value) : value_(std::move(value)), is_there_(true) {}
  maybe(maybe const&) = delete;
  maybe& operator=(maybe const&) = delete;
  ~maybe() {
    if (is_there_) value_.~Value();
  }
  template <class Make> void make(Make&& make) {
    ::new (static_cast<void*>(std::addressof(value_))) Value(make());
    is_there_ = true;
  }
  bool is_there() const noexcept { return is_there_; }
  Value& get() noexcept { return value_; }

 private:
  union {
    Value value_;
  };
  bool is_there_;
};

/// Each piece has a sum. One that was split off begins it with two elements, since a function of one element need not
/// return a Value.
template <class Index, class Value, class Unary, class Combine, class Brick> struct sum_loop {
  tiling const& tiles;
  Index first;
  Unary unary;  // copies, as some of them change themselves
  Combine combine;
  Brick brick;
  maybe<Value> sum;

  sum_loop(tiling const& given_tiles, Index begin, Unary const& u, Combine const& c, Brick const& b)
      : tiles(given_tiles), first(begin), unary(u), combine(c), brick(b) {}
  static void run(void* state, std::size_t from, std::size_t to) noexcept {
    auto& self = *static_cast<sum_loop*>(state);
    Index begin = std_par::advanced(self.first, self.tiles.first(from));
    Index const end = std_par::advanced(self.first, self.tiles.last(to - 1));
    if (!self.sum.is_there()) {
      Index const second = std_par::advanced(begin, 1);
      self.sum.make([&]() -> Value { return self.combine(self.unary(begin), self.unary(second)); });
      begin = std_par::advanced(begin, 2);
    }
    self.sum.get() = self.brick(begin, end, std::move(self.sum.get()));
  }
  static void* split(void* state) {
    auto& self = *static_cast<sum_loop*>(state);
    return new sum_loop(self.tiles, self.first, self.unary, self.combine, self.brick);
  }
  static void merge(void* state, void* upper) noexcept {
    auto& low = static_cast<sum_loop*>(state)->sum;
    auto& high = static_cast<sum_loop*>(upper)->sum;
    if (high.is_there())
      low.get() = static_cast<sum_loop*>(state)->combine(std::move(low.get()), std::move(high.get()));
  }
  static void destroy(void* state) noexcept { delete static_cast<sum_loop*>(state); }
};

template <class Index, class Value, class Unary, class Combine, class Brick>
Value sum_range(scheduler_calls const& calls, Index first, Index last, Unary const& unary, Value&& initial,
                Combine const& combine, Brick const& brick) {
  static loop_costs* costs = nullptr;
  using sums = sum_loop<Index, Value, Unary, Combine, Brick>;
  tiling const tiles(calls, std_par::distance_of(first, last), 2, k_longest_tile);
  sums state(tiles, first, unary, combine, brick);
  state.sum.make([&]() -> Value { return std::move(initial); });
  static constexpr loop k_functions{sums::run, sums::split, sums::merge, sums::destroy};
  calls.run_loop(tiles.count(), tiles.length(), k_functions, &state, std_par::costs_of(costs));
  return std::move(state.sum.get());
}

template <class Function> call as_call(Function& function) noexcept {
  return {[](void* argument) noexcept { (*static_cast<Function*>(argument))(); }, &function};
}
template <class Lower, class Upper> void fork(scheduler_calls const& calls, Lower&& lower, Upper&& upper) {
  calls.join(std_par::as_call(lower), std_par::as_call(upper));
}

/// The values of tiles [from, to), joined as a tree: a reduction may move as many elements as it gets.
template <class Value, class Leaf, class Reduction>
Value tree(scheduler_calls const& calls, std::size_t from, std::size_t to, Leaf const& leaf,
           Reduction const& reduction) noexcept {
  if (to - from == 1) return leaf(from);
  std::size_t const middle = from + (to - from) / 2;
  maybe<Value> low;
  maybe<Value> high;
  std_par::fork(
      calls, [&] { low.make([&]() -> Value { return std_par::tree<Value>(calls, from, middle, leaf, reduction); }); },
      [&] { high.make([&]() -> Value { return std_par::tree<Value>(calls, middle, to, leaf, reduction); }); });
  return reduction(std::move(low.get()), std::move(high.get()));
}

template <class Index, class Value, class Body, class Reduction>
Value reduce_range(scheduler_calls const& calls, Index first, Index last, Value const& identity, Body const& body,
                   Reduction const& reduction) noexcept {
  tiling const tiles(calls, std_par::distance_of(first, last), 1, ~std::size_t{0});
  if (tiles.count() == 0) return identity;
  auto const leaf = [&](std::size_t tile) -> Value {
    return body(std_par::advanced(first, tiles.first(tile)), std_par::advanced(first, tiles.last(tile)), identity);
  };
  return std_par::tree<Value>(calls, 0, tiles.count(), leaf, reduction);
}

}  // namespace std_par
}  // namespace FILCH_ABI
}  // namespace filch

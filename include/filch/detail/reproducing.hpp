// Reductions whose result is the same to the bit however the loop was split.
//
// The elements are cut into blocks of 64. A block is reduced from left to right. The blocks are the leaves of a
// binary tree that is fixed by their number: node i of a level is op of the nodes 2i and 2i + 1 below. A piece keeps
// the nodes whose children it has, at most two on each level. `merge` makes the nodes that the cut went through.
#pragma once

#include <filch/detail/converting.hpp>
#include <filch/detail/pieces.hpp>
#include <filch/detail/ranges.hpp>

#include <algorithm>
#include <bit>
#include <vector>

namespace filch::inline FILCH_ABI::detail {

inline constexpr std::size_t k_reproducible_block = 64;

/// A piece over blocks.
template <class Value, class Source, class Op> struct reproducing_piece {
  struct node {
    std::size_t level;
    std::size_t index;
    Value value;
  };
  Source in;
  body_of<Op, Value, Value> op;
  std::size_t length;         // length of the input
  std::vector<node> nodes{};  // memory is reserved for all at the first one
  static_assert(detail::check_conversion<typename Source::value, Value>());

  void run(std::size_t first, std::size_t last) {
    for (; first != last; ++first) {
      std::size_t const begin = first * k_reproducible_block;
      std::size_t const end = std::min(length, begin + k_reproducible_block);
      Value sum = detail::converted_to<Value>(in.at(begin));
      in.each(begin + 1, end, [&](auto&& x) { sum = op(std::move(sum), static_cast<decltype(x)>(x)); });
      append({0, first, std::move(sum)});
    }
  }
  reproducing_piece split(std::size_t, std::size_t) const { return {in, op, length, {}}; }
  void merge(reproducing_piece& upper) {
    for (node& n : upper.nodes) append(std::move(n));
  }
  /// Appends a node. Makes its parent if it is the second child, and so on.
  void append(node&& n) {
    if (nodes.capacity() == 0) nodes.reserve(2 * std::bit_width(length / k_reproducible_block + 1));
    while (n.index % 2 != 0 && !nodes.empty() && nodes.back().level == n.level) {
      n.value = op(std::move(nodes.back().value), std::move(n.value));
      n.index /= 2;
      ++n.level;
      nodes.pop_back();
    }
    nodes.push_back(std::move(n));
  }
};

/// op over `init` and n elements of `in`, by the fixed tree.
template <class Sched, class Stop, class Source, class Value, class Op = std::plus<>>
Value reduce_reproducibly(Stop& stop, Source const& in, std::size_t n, Value init, Op&& op = Op{}) {
  reproducing_piece<Value, Source, std::remove_reference_t<Op>> piece{in, {op}, n};
  detail::run_pieces<Sched>(0, n / k_reproducible_block + (n % k_reproducible_block != 0), piece, stop);
  for (auto& node : piece.nodes) init = op(std::move(init), std::move(node.value));
  return init;
}

}  // namespace filch::inline FILCH_ABI::detail

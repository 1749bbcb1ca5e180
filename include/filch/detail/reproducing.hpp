// Reductions whose result is the same to the bit however the loop was split.
//
// The elements are cut into blocks of 64. A block is reduced from left to right. The blocks are the leaves of a
// binary tree that is fixed by their number: node i of a level is op of the nodes 2i and 2i + 1 below. A piece keeps
// the nodes whose children it has, at most two on each level. `merge` makes the nodes that the cut went through. A
// piece without memory for its nodes runs when it is merged, on the worker of the piece below. If there is no memory
// for the lowest piece, the calling worker makes the tree by recursion.
//
// A block of a filter may have no element. So a node of a filter is a value or nothing.
#pragma once

#include <filch/detail/converting.hpp>
#include <filch/detail/pieces.hpp>
#include <filch/detail/ranges.hpp>
#include <filch/detail/raw_buffer.hpp>

#include <algorithm>
#include <bit>
#include <limits>
#include <optional>

namespace filch::inline FILCH_ABI::detail {

inline constexpr std::size_t k_reproducible_block = 64;

/// A piece over blocks.
template <class Value, class Source, class Op> class reproducing_piece {
 public:
  /// The piece of n elements.
  reproducing_piece(Source const& in, operation_of<Value, Op, Value, Value> const& op, std::size_t n)
      : reproducing_piece(in, op, n, 0, n / k_reproducible_block + (n % k_reproducible_block != 0), true) {}
  reproducing_piece(reproducing_piece const&) = delete;
  reproducing_piece& operator=(reproducing_piece const&) = delete;

  std::size_t blocks() const noexcept { return last_; }
  bool has_memory() const noexcept { return static_cast<bool>(nodes_); }

  void run(std::size_t first, std::size_t last) {
    if (has_memory()) {
      for (std::size_t i = first; i != last; ++i) append({0, i, leaf(i)});
    }
    ran_ = last;
  }
  /// The part of a piece without memory has none: all of it is run when it is merged, and reads each element once.
  reproducing_piece split(std::size_t middle, std::size_t last) const {
    return reproducing_piece(in_, op_, length_, middle, last, has_memory());
  }
  void merge(reproducing_piece& upper) {
    if (ran_ != upper.begin_) return;  // the loop was stopped
    if (!upper.has_memory()) {
      run(upper.begin_, upper.ran_);
    } else if (has_memory()) {
      for (std::size_t i = 0; i < upper.count_; ++i) append(std::move(upper.nodes_[i]));
    }
    ran_ = upper.ran_;
  }
  /// op over init and all nodes.
  Value over_all(Value init) {
    for (std::size_t i = 0; i < count_; ++i) init = over(std::move(init), std::move(nodes_[i].value));
    return init;
  }

  /// op over init and the nodes of the whole input, without memory; or over some of them, if the loop is stopped.
  template <class Stop> Value over_all_by_recursion(Stop& stop, Value init) const {
    for (std::size_t i = 0; i != last_;) {
      auto const level = static_cast<std::size_t>(std::bit_width(last_ - i) - 1);
      std::optional<node_value> next = by_recursion(stop, level, i >> level);
      if (!next) break;
      init = over(std::move(init), std::move(*next));
      i += std::size_t{1} << level;
    }
    return init;
  }

 private:
  static constexpr std::size_t k_none = std::numeric_limits<std::size_t>::max();  // so many can't be had
  static constexpr bool is_sifted =
      requires(Source const& in, std::optional<Value>& first) { in.begin_with(first, std::size_t{}, std::size_t{}); };
  using node_value = std::conditional_t<is_sifted, std::optional<Value>, Value>;
  struct node {
    std::size_t level;
    std::size_t index;
    node_value value;
  };
  static_assert(detail::check_conversion<typename Source::value, Value>());

  reproducing_piece(Source const& in, operation_of<Value, Op, Value, Value> const& op, std::size_t n,
                    std::size_t begin, std::size_t last, bool wants_memory)
      : in_(in),
        op_(op),
        length_(n),
        begin_(begin),
        last_(last),
        nodes_(wants_memory ? 2 * static_cast<std::size_t>(std::bit_width(last - begin)) : k_none) {}

  // Never inlined: two copies may be contracted differently (-ffp-contract), and give different bits.
  FILCH_OUTLINE node_value leaf(std::size_t block) const {
    std::size_t const begin = block * k_reproducible_block;
    std::size_t const end = length_ - begin < k_reproducible_block ? length_ : begin + k_reproducible_block;
    if constexpr (is_sifted) {
      std::optional<Value> sum;
      std::size_t const next = in_.begin_with(sum, begin, end);
      in_.each(next, end, [&](auto&& x) { *sum = op_(std::move(*sum), static_cast<decltype(x)>(x)); });
      return sum;
    } else {
      Value sum = in_.with(begin, converting_to<Value>{});
      in_.each(begin + 1, end, [&](auto&& x) { sum = op_(std::move(sum), static_cast<decltype(x)>(x)); });
      return sum;
    }
  }
  /// op over two neighbours.
  Value over(Value&& low, Value&& high) const { return op_(std::move(low), std::move(high)); }
  Value over(Value&& low, std::optional<Value>&& high) const {
    return high ? over(std::move(low), std::move(*high)) : std::move(low);
  }
  std::optional<Value> over(std::optional<Value>&& low, std::optional<Value>&& high) const {
    return low ? std::optional<Value>(over(std::move(*low), std::move(high))) : std::move(high);
  }
  /// A node. None if the loop is stopped.
  template <class Stop>
  std::optional<node_value> by_recursion(Stop& stop, std::size_t level, std::size_t index) const {
    if (level == 0) {
      if (stop.is_requested()) return std::nullopt;
      return std::optional<node_value>(std::in_place, leaf(index));
    }
    std::optional<node_value> low = by_recursion(stop, level - 1, 2 * index);
    if (!low) return std::nullopt;
    std::optional<node_value> high = by_recursion(stop, level - 1, 2 * index + 1);
    if (!high) return std::nullopt;
    return std::optional<node_value>(std::in_place, over(std::move(*low), std::move(*high)));
  }
  /// Appends a node. Makes its parent if it is the second child, and so on.
  void append(node&& n) {
    while (n.index % 2 != 0 && count_ != 0 && nodes_[count_ - 1].level == n.level) {
      n.value = over(std::move(nodes_[count_ - 1].value), std::move(n.value));
      n.index /= 2;
      ++n.level;
      nodes_.destroy(--count_);
    }
    nodes_.make(count_, std::move(n));
    ++count_;
  }

  // Fixed.
  Source in_;
  operation_of<Value, Op, Value, Value> op_;
  std::size_t length_;  // length of the input
  std::size_t begin_;
  std::size_t last_;
  raw_buffer<node> nodes_;
  // The worker that runs this piece.
  std::size_t count_ = 0;     // number of nodes
  std::size_t ran_ = begin_;  // end of the blocks that have run, or would have with memory
};

/// op over `init` and n elements of `in`, by the fixed tree.
template <class Sched, class Stop, class Source, class Value, class Op = std::plus<>>
Value reduce_reproducibly(Stop& stop, Source const& in, std::size_t n, Value init, Op&& op = Op{}) {
  if (n == 0) return init;
  reproducing_piece<Value, Source, std::remove_reference_t<Op>> piece(in, {{op}}, n);
  if (!piece.has_memory()) return piece.over_all_by_recursion(stop, std::move(init));
  detail::run_pieces<Sched>(0, piece.blocks(), piece, stop);
  return piece.over_all(std::move(init));
}

}  // namespace filch::inline FILCH_ABI::detail

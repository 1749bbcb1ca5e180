// cholesky's matrix: the lower triangle as a quadtree with dense leaves, and its decomposition in place. A part
// without nonzero elements is null. Parts of a node: 0 and 1 above, 2 and 3 below; 1 is null in a node on the
// diagonal.
#pragma once

#include "bits.hpp"

#include <array>
#include <cmath>
#include <filch/join.hpp>
#include <memory>
#include <utility>

namespace bench {

class quadtree {
 public:
  static constexpr std::size_t k_side = 4;  // of a leaf

  /// All elements are zero.
  explicit quadtree(std::size_t rows) {
    while (side() < rows) ++levels_;
  }
  std::size_t side() const { return k_side << levels_; }
  /// Rows up to the end of the last leaf that has one of them.
  static std::size_t used_side(std::size_t rows) { return (rows + k_side - 1) / k_side * k_side; }

  /// Makes the leaf of row i and column j <= i, if there is none.
  double& element(std::size_t i, std::size_t j) {
    link* at = &root_;
    for (int level = levels_;; --level) {
      if (!*at) *at = std::make_unique<node>();
      if (level == 0) return (*at)->elements[i % k_side][j % k_side];
      std::size_t const half = k_side << (level - 1);
      at = &(*at)->parts[(i & half ? 2u : 0u) + (j & half ? 1u : 0u)];
    }
  }
  /// f(i, j, element) for each element of each leaf.
  template <class F> void for_each(F const& f) const { visit(root_.get(), levels_, 0, 0, f); }
  /// One number for all elements and their places.
  std::uint64_t bits() const {
    std::uint64_t bits = 0;
    for_each([&bits](std::size_t i, std::size_t j, double e) {
      bits = add_bits(add_bits(bits, static_cast<double>(i * (std::size_t{1} << 24) + j)), e);
    });
    return bits;
  }

  template <class S> void clear() { destroy<S>(root_, levels_); }
  /// This one is empty, and as large.
  template <class S> void copy(quadtree const& other) { root_ = copied<S>(other.root_.get(), levels_); }
  /// A = L L', in place.
  template <class S> void decompose() { decompose<S>(root_, levels_); }

 private:
  using leaf = double[k_side][k_side];
  struct node {
    std::array<std::unique_ptr<node>, 4> parts;
    leaf elements{};
  };
  using link = std::unique_ptr<node>;

  template <class S, class F> static void each_part(F const& f) {
    filch::invoke<S>([&f] { f(0); }, [&f] { f(1); }, [&f] { f(2); }, [&f] { f(3); });
  }
  template <class F> static void visit(node const* n, int level, std::size_t i, std::size_t j, F const& f) {
    if (!n) return;
    if (level > 0) {
      std::size_t const half = k_side << (level - 1);
      for (std::size_t p = 0; p < 4; ++p)
        visit(n->parts[p].get(), level - 1, i + (p / 2) * half, j + (p % 2) * half, f);
      return;
    }
    for (std::size_t r = 0; r < k_side; ++r) {
      for (std::size_t c = 0; c < k_side; ++c) f(i + r, j + c, n->elements[r][c]);
    }
  }
  template <class S> static void destroy(link& n, int level) {
    if (n && level > 0) each_part<S>([&n, level](std::size_t p) { destroy<S>(n->parts[p], level - 1); });
    n.reset();
  }
  template <class S> static link copied(node const* from, int level) {
    if (!from) return nullptr;
    auto to = std::make_unique<node>();
    if (level == 0) {
      std::copy_n(&from->elements[0][0], k_side * k_side, &to->elements[0][0]);
    } else {
      each_part<S>([&](std::size_t p) { to->parts[p] = copied<S>(from->parts[p].get(), level - 1); });
    }
    return to;
  }

  template <class S> static void decompose(link& a, int level) {
    if (!a) return;
    if (level == 0) return decompose_leaf(a->elements);
    link& above = a->parts[0];
    link& left = a->parts[2];
    link& below = a->parts[3];
    if (!left) {
      filch::join<S>([&above, level] { decompose<S>(above, level - 1); },
                     [&below, level] { decompose<S>(below, level - 1); });
      return;
    }
    decompose<S>(above, level - 1);
    solve<S>(left, *above, level - 1);
    subtract<S>(below, left.get(), left.get(), level - 1, true);
    decompose<S>(below, level - 1);
  }
  // x = x inverse(L'): the upper half of x beside the lower one.
  template <class S> static void solve(link& x, node const& l, int level) {
    if (!x) return;
    if (level == 0) return solve_leaf(x->elements, l.elements);
    auto const half = [&x, &l, level](std::size_t row) {
      link& left = x->parts[2 * row];
      link& right = x->parts[2 * row + 1];
      solve<S>(left, *l.parts[0], level - 1);
      subtract<S>(right, left.get(), l.parts[2].get(), level - 1, false);
      if (right) solve<S>(right, *l.parts[3], level - 1);
    };
    filch::join<S>([&half] { half(0); }, [&half] { half(1); });
  }
  // c -= a b', only the lower triangle of c where c is on the diagonal. Makes parts of c, where it fills in.
  template <class S> static void subtract(link& c, node const* a, node const* b, int level, bool on_diagonal) {
    if (!a || !b) return;
    bool const is_new = !c;
    if (is_new) c = std::make_unique<node>();
    if (level == 0) return subtract_leaf(c->elements, a->elements, b->elements);
    each_part<S>([=, &c](std::size_t p) {
      if (on_diagonal && p == 1) return;
      std::size_t const row = p / 2;
      std::size_t const column = p % 2;
      for (std::size_t k = 0; k < 2; ++k) {
        subtract<S>(c->parts[p], a->parts[2 * row + k].get(), b->parts[2 * column + k].get(), level - 1,
                    on_diagonal && row == column);
      }
    });
    if (is_new && c->parts == decltype(c->parts){}) c.reset();
  }

  // Not inlined: every contender runs the same code, at the same place.
  [[gnu::noinline]] static void decompose_leaf(leaf& a) {
    for (std::size_t j = 0; j < k_side; ++j) {
      for (std::size_t k = 0; k < j; ++k) {
        for (std::size_t i = j; i < k_side; ++i) a[i][j] -= a[i][k] * a[j][k];
        a[k][j] = 0;
      }
      double const root = std::sqrt(a[j][j]);
      for (std::size_t i = j; i < k_side; ++i) a[i][j] /= root;
    }
  }
  [[gnu::noinline]] static void solve_leaf(leaf& x, leaf const& l) {
    for (auto& row : x) {
      for (std::size_t j = 0; j < k_side; ++j) {
        for (std::size_t k = 0; k < j; ++k) row[j] -= row[k] * l[j][k];
        row[j] /= l[j][j];
      }
    }
  }
  [[gnu::noinline]] static void subtract_leaf(leaf& c, leaf const& a, leaf const& b) {
    for (std::size_t i = 0; i < k_side; ++i) {
      for (std::size_t j = 0; j < k_side; ++j) {
        double sum = 0;
        for (std::size_t k = 0; k < k_side; ++k) sum += a[i][k] * b[j][k];
        c[i][j] -= sum;
      }
    }
  }

  int levels_ = 0;
  link root_;
};

}  // namespace bench

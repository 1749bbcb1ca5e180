// A join in a function that lies in several pieces. The exception table of each piece counts landing pads from an
// address outside the piece. Always compiled by Clang with -fbasic-block-sections=all.
#include "pieces.hpp"

#include <filch/filch.hpp>

namespace filch_test {

[[gnu::noinline]] long join_in_pieces(long x, long y) {
  auto const [a, b] =
      filch::join<filch::implicit>([=] { return x > 0 ? 2 * x : -x; }, [=] { return y > 0 ? 3 * y : -y; });
  return a + b;
}

}  // namespace filch_test

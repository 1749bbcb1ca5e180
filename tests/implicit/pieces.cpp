// A join in a function that lies in several pieces, each with an exception table that counts landing pads from
// elsewhere. Compiled by Clang with -fbasic-block-sections=all, whatever the other tests are compiled with.
#include "pieces.hpp"

#include <filch/filch.hpp>

namespace filch_test {

[[gnu::noinline]] long join_in_pieces(long x, long y) {
  auto const [a, b] =
      filch::join<filch::implicit>([=] { return x > 0 ? 2 * x : -x; }, [=] { return y > 0 ? 3 * y : -y; });
  return a + b;
}

}  // namespace filch_test

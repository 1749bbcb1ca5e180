// A function that is compiled into several pieces.
#pragma once

namespace filch_test {

/// 2x + 3y for positive x and y.
long join_in_pieces(long x, long y);

}  // namespace filch_test

// What is compiled into several pieces.
#pragma once

namespace filch_test {

/// 2x + 3y, for what is above zero.
long join_in_pieces(long x, long y);

}  // namespace filch_test

// A loop as each contender's users write it.
#pragma once

#include <filch/for_index.hpp>

namespace bench {

/// A peer's own parallel loop, else Filch's on S.
template <class S, class F> void parallel_loop(std::size_t first, std::size_t last, F const& f) {
  if constexpr (requires { S::for_index(first, last, f); }) {
    S::for_index(first, last, f);
  } else {
    filch::for_index<S>(first, last, f);
  }
}

}  // namespace bench

// A loop as a tree of forks, for workloads whose papers write their loops so.
#pragma once

#include <filch/join.hpp>

#include <cstddef>

namespace bench {

/// f(first, last) for parts of at most `most` iterations.
template <class S, class F> void run_halves(std::size_t first, std::size_t last, std::size_t most, F const& f) {
  if (last - first <= most) return f(first, last);
  std::size_t const middle = first + (last - first) / 2;
  filch::join<S>([=, &f] { run_halves<S>(first, middle, most, f); },
                 [=, &f] { run_halves<S>(middle, last, most, f); });
}

}  // namespace bench

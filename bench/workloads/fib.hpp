// fib: every call forks, no cut-off. The finest-grained workload of all: a fork for a few instructions of work.
// Published by: many; K.-F. Faxen (ICPP 2010), figure 1. Answer: fib(39) = 63,245,986.
#pragma once

#include "../workload.hpp"

#include <filch/join.hpp>

namespace bench {

struct fib {
  static constexpr std::string_view name = "fib";
  static constexpr std::string_view about = "Fibonacci numbers, every call forked";
  static constexpr std::string_view quick_size = "40";
  static constexpr std::string_view quick_peer_size = "32";
  static std::vector<std::string_view> sizes() { return {"39", "42"}; }
  static std::vector<std::string_view> published_sizes() { return {"40", "42"}; }

  using input = long;
  using answer = long;
  static input prepare(std::string_view size) { return parse_size(name, size, 0, 60); }

  template <class S> static long forked(long n) {
    if (n < 2) return n;
    auto [a, b] = filch::join<S>([=] { return forked<S>(n - 1); }, [=] { return forked<S>(n - 2); });
    return a + b;
  }
  static long sequential(long n) { return n < 2 ? n : sequential(n - 1) + sequential(n - 2); }

  template <class S> static answer run(input& n) { return forked<S>(opaque(n)); }
  static answer plain(input& n) { return sequential(opaque(n)); }
  static bool verify(input n, answer found) {
    long a = 0;
    for (long b = 1; n > 0; --n) a = std::exchange(b, a + b);
    return found == a;
  }
};

/// The same with closures that refer to two variables, and results that are assigned: as most users write it.
/// Closures of two words cost more than numbers if they travel through memory.
struct fib_refs : fib {
  static constexpr std::string_view name = "fib-refs";
  static constexpr std::string_view about = "the same; the closures refer to two variables";
  static constexpr std::string_view quick_size = "38";
  static std::vector<std::string_view> sizes() { return {"37"}; }
  static std::vector<std::string_view> published_sizes() { return {}; }

  template <class S> static long forked(long n) {
    if (n < 2) return n;
    long a;
    long b;
    filch::join<S>([&] { a = forked<S>(n - 1); }, [&] { b = forked<S>(n - 2); });
    return a + b;
  }
  template <class S> static answer run(input& n) { return forked<S>(opaque(n)); }
};

}  // namespace bench

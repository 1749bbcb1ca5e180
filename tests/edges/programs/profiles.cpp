// Programs for FILCH_PROFILE. Each does what the profile does, with clocks and counters in its source, and prints its
// own figures: "name value", times in milliseconds.
#include "programs/scenario.hpp"

#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <stdexcept>
#include <thread>

namespace filch_test {
namespace {

using S = filch::direct;

double own_ms() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_nsec) / 1e6;
}

[[gnu::noinline]] std::uint64_t rounds(std::uint64_t x, long n) {
  asm volatile("" : "+r"(x));  // each call runs
  for (long i = 0; i < n; ++i) x = x * 6364136223846793005u + 1442695040888963407u;
  return x;
}
/// By processor time: n rounds take as long on any machine as they take.
double time_of(long n) {
  double const begin = own_ms();
  asm volatile("" ::"r"(rounds(1, n)));
  return own_ms() - begin;
}
long rounds_of(double ms) {
  constexpr long k_rounds = 1 << 20;
  double least = time_of(k_rounds);
  for (int i = 0; i < 5; ++i) least = std::min(least, time_of(k_rounds));
  return static_cast<long>(ms / least * k_rounds);
}

void print(char const* name, double value) { std::printf("%s %.9g\n", name, value); }
void print(char const* name, std::uint64_t value) {
  std::printf("%s %llu\n", name, static_cast<unsigned long long>(value));
}

/// As the program itself measures it.
struct figures {
  double work = 0;
  double span = 0;
  std::uint64_t forks = 0;

  void then(figures const& next) {
    work += next.work;
    span += next.span;
    forks += next.forks;
  }
};
figures both(figures const& a, figures const& b) {
  return {a.work + b.work, std::max(a.span, b.span), a.forks + b.forks + 1};
}
void print(figures const& f) {
  print("work", f.work);
  print("span", f.span);
  print("forks", f.forks);
}

figures leaf(long n) {
  double const ms = time_of(n);
  return {ms, ms, 0};
}

figures tree(int depth, long n) {
  if (depth == 0) return leaf(n);
  auto const [a, b] = filch::join<S>([=] { return tree(depth - 1, n); }, [=] { return tree(depth - 1, n); });
  return both(a, b);
}
/// One side is long, and there is code before and after the join.
figures uneven_tree(int depth, long n) {
  figures all = leaf(n / 2);
  if (depth == 0) return all;
  auto const [a, b] = filch::join<S>([=] { return leaf(depth * n); }, [=] { return uneven_tree(depth - 1, n); });
  all.then(both(a, b));
  all.then(leaf(n));
  return all;
}
figures nested_invoke(int depth, long n) {
  if (depth == 0) return leaf(n);
  auto const [a, b, c] = filch::invoke<S>([=] { return nested_invoke(depth - 1, n); }, [=] { return leaf(3 * n); },
                                          [=] { return nested_invoke(depth - 1, 2 * n); });
  return both(both(a, b), c);
}
/// Tasks of several lengths, while the body runs on.
figures tasks_of_scope(int tasks, long n) {
  std::vector<figures> of(static_cast<std::size_t>(tasks));
  figures body;
  double longest = 0;
  std::vector<double> spawned;
  filch::scope<S>([&](auto& s) {
    for (int i = 0; i < tasks; ++i) {
      body.then(leaf(n / 4));
      spawned.push_back(body.span);
      s.spawn([&of, i, n] { of[static_cast<std::size_t>(i)] = i % 3 == 0 ? tree(2, n) : leaf((1 + i % 5) * n); });
    }
    body.then(leaf(n));
  });
  longest = body.span;
  for (std::size_t i = 0; i < of.size(); ++i) {
    longest = std::max(longest, spawned[i] + of[i].span);
    body.then(of[i]);
  }
  return {body.work, longest, body.forks + of.size()};
}

template <class Body> void run_and_print(Body body) {
  S::pool pool;
  print(pool.run(body));
}

scenario const of_tree("profiled-tree", [](int) {
  long const n = rounds_of(0.5);
  run_and_print([=] { return tree(5, n); });
});
scenario const of_uneven_tree("profiled-uneven-tree", [](int) {
  long const n = rounds_of(0.5);
  run_and_print([=] { return uneven_tree(6, n); });
});
scenario const of_invoke("profiled-invoke", [](int) {
  long const n = rounds_of(0.3);
  run_and_print([=] { return nested_invoke(3, n); });
});
scenario const of_scope("profiled-scope", [](int) {
  long const n = rounds_of(0.3);
  run_and_print([=] { return tasks_of_scope(20, n); });
});
scenario const of_two_pools("profiled-nested-pools", [](int) {
  long const n = rounds_of(0.5);
  S::pool inner({.workers = 3});
  run_and_print([&] {
    auto const [a, b] =
        filch::join<S>([&] { return inner.run([=] { return tree(2, n); }); }, [=] { return uneven_tree(3, n); });
    return both(a, b);
  });
});
scenario const of_two_threads("profiled-threads", [](int) {
  long const n = rounds_of(0.5);
  S::pool pool;
  figures a;
  figures b;
  std::thread other([&] { b = pool.run([=] { return tree(4, n); }); });
  a = pool.run([=] { return uneven_tree(4, n); });
  other.join();
  a.then(b);
  print(a);
});
scenario const of_stay("profiled-stay", [](int) {
  long const n = rounds_of(0.5);
  run_and_print([=] {
    figures inside;
    auto const [a, b] =
        filch::join<S>([=] { return leaf(n); }, [&] { return filch::stay([=] { return tree(3, n); }); });
    // All of the stay is one after the other, and its forks are not seen.
    return both(a, {b.work, b.work, 0});
  });
});
scenario const of_small_bodies("profiled-small-bodies", [](int) {
  long const n = rounds_of(0.0012);
  constexpr int k_depth = 12;
  constexpr int k_leaves = 1 << k_depth;
  struct small {
    static void tree(int depth, long n) {
      if (depth == 0) {
        asm volatile("" ::"r"(rounds(1, n)));
        return;
      }
      filch::join<S>([=] { tree(depth - 1, n); }, [=] { tree(depth - 1, n); });
    }
    static double in_order(long n) {
      double const begin = own_ms();
      for (int i = 0; i < k_leaves; ++i) asm volatile("" ::"r"(rounds(1, n)));
      return own_ms() - begin;
    }
  };
  double const before = small::in_order(n);
  S::pool pool;
  pool.run([=] { small::tree(k_depth, n); });
  print("work", std::min(before, small::in_order(n)));
  print("forks", std::uint64_t{k_leaves - 1});
});

long fib_forks(long n) { return n < 2 ? 0 : 1 + fib_forks(n - 1) + fib_forks(n - 2); }
long fib_of(long n) {
  if (n < 2) return n;
  auto const [a, b] = filch::join<S>([=] { return fib_of(n - 1); }, [=] { return fib_of(n - 2); });
  return a + b;
}
int throwing_tree(int depth) {
  if (depth == 0) throw std::runtime_error("leaf");
  auto const [a, b] =
      filch::join<S>([=] { return throwing_tree(depth - 1); }, [=] { return throwing_tree(depth - 1); });
  return a + b;
}
std::atomic<std::uint64_t> pieces{0};

scenario const of_forks("profiled-forks", [](int) {
  constexpr int k_tasks = 10'000;
  constexpr int k_iterations = 3'000;
  S::pool pool;
  std::uint64_t forks = 0;
  print("fib", static_cast<std::uint64_t>(pool.run([] { return fib_of(20); })));
  forks += static_cast<std::uint64_t>(fib_forks(20));
  try {
    static_cast<void>(pool.run([] { return throwing_tree(8); }));
  } catch (std::runtime_error const& e) {
    std::printf("threw %s\n", e.what());
  }
  forks += (1 << 8) - 1;
  std::uint64_t tasks = 0;
  pool.run([&] {
    filch::scope<S>([&](auto& s) {
      for (int i = 0; i < k_tasks; ++i) s.spawn([&] { ++tasks; });
    });
  });
  print("tasks", tasks);
  forks += k_tasks;
  static constexpr filch::detail::piece_observer counter{[](std::size_t, std::size_t) noexcept { ++pieces; }, nullptr,
                                                         false};
  filch::detail::observer_of_pieces.store(&counter);
  long const n = rounds_of(0.01);
  std::uint64_t iterations = 0;
  pool.run([&] {
    filch::for_index<S>(0, k_iterations, [&](int) {
      asm volatile("" ::"r"(rounds(1, n)));
      ++iterations;
    });
  });
  filch::detail::observer_of_pieces.store(nullptr);
  print("iterations", iterations);
  print("pieces", pieces.load());
  forks += pieces.load() / 2;  // a split piece has two inside
  print("forks", forks);
});

struct filling {
  std::uint64_t spawned = 0;
  std::uint64_t ran = 0;
  std::uint64_t fib = 0;
};
/// Opens scopes and spawns into them until not even the first task of a new one finds room. Then it joins.
void fill(filling& f, int depth) {
  bool at_once = false;
  filch::scope<S>([&](auto& s) {
    s.spawn([&at_once] { at_once = true; });
    if (at_once || depth == 0) {
      f.fib = static_cast<std::uint64_t>(fib_of(10));
      return;
    }
    for (int i = 0; i < 997; ++i) s.spawn([&f] { ++f.ran; });
    f.spawned += 997;
    fill(f, depth - 1);
  });
}
scenario const of_full_array("profiled-full-array", [](int) {
  S::pool pool({.stack_size = std::size_t{64} << 10});
  filling f;
  pool.run([&] { fill(f, 200); });
  print("spawned", f.spawned);
  print("ran", f.ran);
  print("fib", f.fib);
});

scenario const of_workers("profiled-workers", [](int workers) {
  S::pool pool({.workers = static_cast<unsigned>(workers)});
  print("workers", std::uint64_t{pool.workers()});
  pool.run([] {
    static_cast<void>(fib_of(10));
    auto const threads = std::filesystem::directory_iterator("/proc/self/task");
    print("threads", static_cast<std::uint64_t>(std::distance(begin(threads), end(threads))));
  });
});

scenario const of_exit("profiled-exit", [](int code) {
  S::pool pool;
  pool.run([code] {
    static_cast<void>(fib_of(10));
    std::exit(code);
  });
});

/// The child's runs are not in the report, and it writes none.
scenario const of_fork("profiled-fork", [](int) {
  S::pool pool({.workers = 2});
  print("parent", static_cast<std::uint64_t>(pool.run([] { return fib_of(10); })));
  std::fflush(stdout);
  pid_t const child = fork();
  if (child == 0) {
    print("child", static_cast<std::uint64_t>(pool.run([] { return fib_of(11); })));
    std::exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  print("status", static_cast<std::uint64_t>(status));
});

scenario const of_another_scheduler("unprofiled-scheduler", [](int) {
  for (int i = 0; i < 2; ++i) {
    filch::channel::pool pool;
    auto const sum = pool.run([] {
      auto const [a, b] = filch::join<filch::channel>([] { return 1; }, [] { return 2; });
      return a + b;
    });
    std::printf("sum %d\n", sum);
  }
});

}  // namespace
}  // namespace filch_test

// Programs for FILCH_PROFILE. Each does what the profile does, with clocks and counters in its source, and prints its
// own figures: "name value", times in milliseconds.
#include "programs/scenario.hpp"

#include <filch/profile.hpp>

#include <sys/stat.h>
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

using filch::direct;

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

template <class S> figures tree(int depth, long n) {
  if (depth == 0) return leaf(n);
  auto const [a, b] = filch::join<S>([=] { return tree<S>(depth - 1, n); }, [=] { return tree<S>(depth - 1, n); });
  return both(a, b);
}
/// One side is long, and there is code before and after the join.
template <class S> figures uneven_tree(int depth, long n) {
  figures all = leaf(n / 2);
  if (depth == 0) return all;
  auto const [a, b] = filch::join<S>([=] { return leaf(depth * n); }, [=] { return uneven_tree<S>(depth - 1, n); });
  all.then(both(a, b));
  all.then(leaf(n));
  return all;
}
template <class S> figures nested_invoke(int depth, long n) {
  if (depth == 0) return leaf(n);
  auto const [a, b, c] = filch::invoke<S>([=] { return nested_invoke<S>(depth - 1, n); }, [=] { return leaf(3 * n); },
                                          [=] { return nested_invoke<S>(depth - 1, 2 * n); });
  return both(both(a, b), c);
}
/// Tasks of several lengths, while the body runs on.
template <class S> figures tasks_of_scope(int tasks, long n) {
  std::vector<figures> of(static_cast<std::size_t>(tasks));
  figures body;
  double longest = 0;
  std::vector<double> spawned;
  filch::scope<S>([&](auto& s) {
    for (int i = 0; i < tasks; ++i) {
      body.then(leaf(n / 4));
      spawned.push_back(body.span);
      s.spawn([&of, i, n] { of[static_cast<std::size_t>(i)] = i % 3 == 0 ? tree<S>(2, n) : leaf((1 + i % 5) * n); });
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

template <class S, class Body> void run_and_print(Body body) {
  typename S::pool pool;
  print(pool.run(body));
}

scenario const of_tree("profiled-tree", [](int) {
  long const n = rounds_of(0.5);
  run_and_print<direct>([=] { return tree<direct>(5, n); });
});
scenario const of_uneven_tree("profiled-uneven-tree", [](int) {
  long const n = rounds_of(0.5);
  run_and_print<direct>([=] { return uneven_tree<direct>(6, n); });
});
scenario const of_invoke("profiled-invoke", [](int) {
  long const n = rounds_of(0.3);
  run_and_print<direct>([=] { return nested_invoke<direct>(3, n); });
});
scenario const of_scope("profiled-scope", [](int) {
  long const n = rounds_of(0.3);
  run_and_print<direct>([=] { return tasks_of_scope<direct>(20, n); });
});
scenario const of_two_pools("profiled-nested-pools", [](int) {
  long const n = rounds_of(0.5);
  direct::pool inner({.workers = 3});
  run_and_print<direct>([&] {
    auto const [a, b] = filch::join<direct>([&] { return inner.run([=] { return tree<direct>(2, n); }); },
                                            [=] { return uneven_tree<direct>(3, n); });
    return both(a, b);
  });
});
scenario const of_two_threads("profiled-threads", [](int) {
  long const n = rounds_of(0.5);
  direct::pool pool;
  figures a;
  figures b;
  std::thread other([&] { b = pool.run([=] { return tree<direct>(4, n); }); });
  a = pool.run([=] { return uneven_tree<direct>(4, n); });
  other.join();
  a.then(b);
  print(a);
});
scenario const of_stay("profiled-stay", [](int) {
  long const n = rounds_of(0.5);
  run_and_print<direct>([=] {
    auto const [a, b] =
        filch::join<direct>([=] { return leaf(n); }, [=] { return filch::stay([=] { return tree<direct>(3, n); }); });
    // All of the stay is one after the other, and its forks are not seen.
    return both(a, {b.work, b.work, 0});
  });
});
/// Trees whose leaves take so many nanoseconds. Trees in order alternate with them: the host may change its speed.
scenario const of_small_bodies("profiled-small-bodies", [](int ns) {
  long const n = rounds_of(ns / 1e6);
  constexpr int k_depth = 10;
  constexpr int k_leaves = 1 << k_depth;
  constexpr int k_trees = 32;  // the first one brings code and stack into the caches: that is work, too
  struct small {
    static void tree(int depth, long n) {
      if (depth == 0) {
        asm volatile("" ::"r"(rounds(1, n)));
        return;
      }
      filch::join<direct>([=] { tree(depth - 1, n); }, [=] { tree(depth - 1, n); });
    }
    [[gnu::noinline]] static void without_forks(int depth, long n) {
      if (depth == 0) {
        asm volatile("" ::"r"(rounds(1, n)));
        return;
      }
      without_forks(depth - 1, n);
      without_forks(depth - 1, n);
    }
    static double in_order(long n) {
      double const begin = own_ms();
      without_forks(k_depth, n);
      return own_ms() - begin;
    }
  };
  direct::pool pool;
  double work = 0;
  for (int i = 0; i < k_trees; ++i) {
    work += small::in_order(n);
    pool.run([=] { small::tree(k_depth, n); });
  }
  print("work", work);
  print("forks", std::uint64_t{k_trees * (k_leaves - 1)});
});

long fib_forks(long n) { return n < 2 ? 0 : 1 + fib_forks(n - 1) + fib_forks(n - 2); }
template <class S> long fib_of(long n) {
  if (n < 2) return n;
  auto const [a, b] = filch::join<S>([=] { return fib_of<S>(n - 1); }, [=] { return fib_of<S>(n - 2); });
  return a + b;
}
template <class S> int throwing_tree(int depth) {
  if (depth == 0) throw std::runtime_error("leaf");
  auto const [a, b] =
      filch::join<S>([=] { return throwing_tree<S>(depth - 1); }, [=] { return throwing_tree<S>(depth - 1); });
  return a + b;
}
std::atomic<std::uint64_t> pieces{0};

template <class S> void print_forks() {
  constexpr int k_tasks = 10'000;
  constexpr int k_iterations = 3'000;
  typename S::pool pool;
  std::uint64_t forks = 0;
  print("fib", static_cast<std::uint64_t>(pool.run([] { return fib_of<S>(20); })));
  forks += static_cast<std::uint64_t>(fib_forks(20));
  try {
    static_cast<void>(pool.run([] { return throwing_tree<S>(8); }));
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
}
scenario const of_forks("profiled-forks", [](int) { print_forks<direct>(); });
scenario const of_forks_of_channel("profiled-forks-of-channel", [](int) { print_forks<filch::channel>(); });
#if FILCH_HAS_CACTUS
scenario const of_forks_of_cactus("profiled-forks-of-cactus", [](int) { print_forks<filch::cactus>(); });
#endif

struct filling {
  std::uint64_t spawned = 0;
  std::uint64_t ran = 0;
  std::uint64_t fib = 0;
};
/// Opens scopes and spawns into them until not even the first task of a new one finds room. Then it joins.
void fill(filling& f, int depth) {
  bool at_once = false;
  filch::scope<direct>([&](auto& s) {
    s.spawn([&at_once] { at_once = true; });
    if (at_once || depth == 0) {
      f.fib = static_cast<std::uint64_t>(fib_of<direct>(10));
      return;
    }
    for (int i = 0; i < 997; ++i) s.spawn([&f] { ++f.ran; });
    f.spawned += 997;
    fill(f, depth - 1);
  });
}
scenario const of_full_array("profiled-full-array", [](int) {
  direct::pool pool({.stack_size = std::size_t{64} << 10});
  filling f;
  pool.run([&] { fill(f, 200); });
  print("spawned", f.spawned);
  print("ran", f.ran);
  print("fib", f.fib);
});

/// Scopes in each other, with more tasks together than the stack has room for.
template <class S> std::uint64_t nest(int depth, std::uint64_t& ran) {
  constexpr std::uint64_t k_tasks = 4000;
  if (depth == 0) return 0;
  std::uint64_t below = 0;
  filch::scope<S>([&](auto& s) {
    for (std::uint64_t i = 0; i != k_tasks; ++i) s.spawn([&ran] { ++ran; });
    below = nest<S>(depth - 1, ran);
  });
  return below + k_tasks;
}
template <class S> void of_nested_scopes(char const* name) {
  typename S::pool pool({.workers = 1, .stack_size = std::size_t{64} << 10});
  std::uint64_t ran = 0;
  std::uint64_t const spawned = pool.run([&] { return nest<S>(5, ran); });
  std::printf("%s %s\n", name, ran == spawned ? "right" : "wrong");
}
scenario const of_full_scopes("profiled-nested-scopes", [](int) {
  of_nested_scopes<filch::direct>("direct");
  of_nested_scopes<filch::channel>("channel");
#if FILCH_HAS_CACTUS
  of_nested_scopes<filch::cactus>("cactus");
#endif
});

/// Joins at 40 places.
template <int Place> void join_at(std::uint64_t& sum) {
  auto const [a, b] = filch::join<filch::direct>([] { return Place; }, [] { return Place + 1; });
  sum += static_cast<std::uint64_t>(a + b);
}
scenario const of_many_places("profiled-many-places", [](int) {
  filch::direct::pool pool({.workers = 1});
  std::uint64_t sum = 0;
  pool.run([&] {
    [&]<int... Place>(std::integer_sequence<int, Place...>) {
      (join_at<Place>(sum), ...);
    }(std::make_integer_sequence<int, 40>());
  });
  print("sum", sum);
});

/// Scopes in each other, longer than the fork tree has room for.
std::uint64_t nest_long_scopes(int depth) {
  constexpr std::uint64_t k_tasks = 20'000;
  if (depth == 0) return 0;
  auto const one = [] {
    std::uint64_t ran = 0;
    filch::scope<direct>([&](auto& s) {
      for (std::uint64_t i = 0; i != k_tasks; ++i) {
        s.spawn([&ran, i] {
          ++ran;
          asm volatile("" ::"r"(rounds(1, static_cast<long>(i * i % 300))));
        });
      }
    });
    return ran;
  };
  auto const [a, b] = filch::join<direct>(one, [=] { return nest_long_scopes(depth - 1); });
  return a + b;
}
scenario const of_long_scopes("profiled-long-scopes", [](int depth) {
  direct::pool pool;
  print("tasks", pool.run([=] { return nest_long_scopes(depth); }));
});

scenario const of_workers("profiled-workers", [](int workers) {
  direct::pool pool({.workers = static_cast<unsigned>(workers)});
  print("workers", std::uint64_t{pool.workers()});
  pool.run([] {
    static_cast<void>(fib_of<direct>(10));
    auto const threads = std::filesystem::directory_iterator("/proc/self/task");
    print("threads", static_cast<std::uint64_t>(std::distance(begin(threads), end(threads))));
  });
});

scenario const of_another_folder("leaves-its-folder", [](int) {
  direct::pool pool;
  std::printf("%ld\n", pool.run([] { return fib_of<direct>(10); }));
  if (chdir("/") != 0) std::abort();
});

scenario const of_exit("profiled-exit", [](int code) {
  direct::pool pool;
  pool.run([code] {
    static_cast<void>(fib_of<direct>(10));
    std::exit(code);
  });
});

/// The child's runs are not in the report, and it writes none.
scenario const of_fork("profiled-fork", [](int) {
  direct::pool pool({.workers = 2});
  print("parent", static_cast<std::uint64_t>(pool.run([] { return fib_of<direct>(10); })));
  std::fflush(stdout);
  pid_t const child = fork();
  if (child == 0) {
    print("child", static_cast<std::uint64_t>(pool.run([] { return fib_of<direct>(11); })));
    std::exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  print("status", static_cast<std::uint64_t>(status));
});

/// A launcher's child, which has a report of its own.
scenario const of_early_fork("profiled-early-fork", [](int) {
  pid_t const child = fork();
  int status = 0;
  if (child != 0) waitpid(child, &status, 0);
  direct::pool pool({.workers = 2});
  print("fib", static_cast<std::uint64_t>(pool.run([=] { return fib_of<direct>(child == 0 ? 11 : 10); })));
  if (status != 0) std::abort();
});

/// All kinds of forks in a row, some of them in others.
template <class S> void print_mixture() {
  long const n = rounds_of(0.3);
  run_and_print<S>([=] {
    figures all = tree<S>(4, n);
    all.then(uneven_tree<S>(4, n));
    auto const [a, b] =
        filch::join<S>([=] { return tasks_of_scope<S>(12, n); }, [=] { return nested_invoke<S>(2, n); });
    all.then(both(a, b));
    return all;
  });
}
scenario const of_channel("profiled-channel", [](int) { print_mixture<filch::channel>(); });
#if FILCH_HAS_CACTUS
scenario const of_cactus("profiled-cactus", [](int) { print_mixture<filch::cactus>(); });
#endif

int const k_line_of_joins = __LINE__ + 2;
template <class S> figures join_of_place(long n) {
  auto const [a, b] = filch::join<S>([=] { return leaf(n); }, [=] { return leaf(n); });
  return both(a, b);
}
/// Scopes with tasks of two lines, of which every second one is left by an exception. A spawn has in it the rest of
/// the scope: its own task and the younger ones.
template <class S> void print_places() {
  constexpr unsigned k_scopes = 4;
  constexpr std::size_t k_pairs = 2;
  long const n = rounds_of(0.3);
  figures of_older;
  figures of_younger;
  figures of_joins;
  int older_line = 0;
  int younger_line = 0;
  auto const run_scope = [&](bool throws) {
    figures older[k_pairs];
    figures younger[k_pairs];
    try {
      filch::scope<S>([&](auto& s) {
        for (std::size_t i = 0; i < k_pairs; ++i) {
          older_line = __LINE__ + 1;
          s.spawn([&older, i, n] { older[i] = leaf((i == 0 ? 5 : 1) * n); });
          younger_line = __LINE__ + 1;
          s.spawn([&younger, i, n] { younger[i] = i == 0 ? join_of_place<S>(n) : leaf(2 * n); });
        }
        if (throws) throw std::runtime_error("out of a scope");
      });
    } catch (std::runtime_error const&) {
    }
    of_joins.then(younger[0]);
    figures const rest = both(both({}, younger[1]), older[1]);
    of_younger.then(both(rest, younger[0]));
    of_older.then(both(both(rest, younger[0]), older[0]));
  };
  typename S::pool pool({.workers = 1});
  pool.run([&] {
    // This one is full before its end.
    filch::scope<S>([&](auto& s) {
      for (int i = 0; i < 2'500; ++i) {
        s.spawn([] {});
        s.spawn([] { asm volatile(""); });
      }
    });
    for (unsigned i = 0; i < k_scopes; ++i) run_scope(i % 2 == 0);
  });
  auto const print_line = [](int line, figures const& f) { std::printf("at %d %.9g %.9g\n", line, f.work, f.span); };
  print_line(older_line, of_older);
  print_line(younger_line, of_younger);
  print_line(k_line_of_joins, of_joins);
}
scenario const of_places("profiled-places", [](int) { print_places<direct>(); });
scenario const of_places_of_channel("profiled-places-of-channel", [](int) { print_places<filch::channel>(); });
#if FILCH_HAS_CACTUS
scenario const of_places_of_cactus("profiled-places-of-cactus", [](int) { print_places<filch::cactus>(); });
#endif

/// A call of a channel's or a cactus's pool in a task of direct's, which counts as code of that task.
template <class S> void print_nested() {
  long const n = rounds_of(0.5);
  typename S::pool inner({.workers = 3});
  run_and_print<direct>([&] {
    auto const [a, b] = filch::join<direct>([&] { return inner.run([=] { return tree<S>(2, n); }); },
                                            [=] { return uneven_tree<direct>(3, n); });
    return both(a, b);
  });
}
scenario const of_channel_in_direct("profiled-channel-in-direct", [](int) { print_nested<filch::channel>(); });
#if FILCH_HAS_CACTUS
scenario const of_cactus_in_direct("profiled-cactus-in-direct", [](int) { print_nested<filch::cactus>(); });
#endif

/// The figures of its parts, as filch::profile tells them, and as the program itself measures.
scenario const of_regions("profiled-regions", [](int) {
  long const n = rounds_of(0.5);
  direct::pool pool;
  figures inside;
  filch::work_and_span told;
  auto const whole = filch::profile([&] {
    pool.run([&] {
      figures const before = leaf(4 * n);
      static_cast<void>(before);
      told = filch::profile([&] {
        inside = filch::profiled("inner part", [&] { return tree<direct>(3, n); });
        inside.then(uneven_tree<direct>(3, n));
      });
      // A recursion counts once.
      struct recursion {
        static figures run(int depth, long n) {
          return filch::profiled("recursion", [&] { return depth == 0 ? tree<direct>(2, n) : run(depth - 1, n); });
        }
      };
      figures const again = recursion::run(3, n);
      print("recursion", again.work);
      try {
        filch::profiled("throws", [&] {
          static_cast<void>(leaf(n));
          throw std::runtime_error("out of a region");
        });
      } catch (std::runtime_error const&) {
      }
    });
  });
  print(inside);
  print("measured", std::uint64_t{told.is_measured});
  print("told work", told.work.count() * 1e3);
  print("told span", told.span.count() * 1e3);
  print("told burdened span", told.burdened_span.count() * 1e3);
  print("told forks", told.forks);
  print("told parallelism", told.parallelism());
  print("whole measured", std::uint64_t{whole.is_measured});
  print("whole work", whole.work.count() * 1e3);
  print("whole forks", whole.forks);
  auto const nothing = filch::profile([] {});
  print("nothing measured", std::uint64_t{nothing.is_measured});
  print("nothing work", nothing.work.count());
});

/// Tasks that wait for each other. On one thread they never meet, so f gives up when stderr has something.
scenario const of_waiting("profiled-waiting", [](int) {
  std::atomic<bool> met{false};
  direct::pool pool({.workers = 2});
  auto const is_told = [] {
    struct stat its{};
    return fstat(STDERR_FILENO, &its) == 0 && its.st_size != 0;
  };
  pool.run([&] {
    filch::join<direct>(
        [&] {
          while (!met.load() && !is_told()) std::this_thread::yield();
        },
        [&] { met.store(true); });
  });
  print("met", std::uint64_t{met.load()});
});

#if FILCH_HAS_CACTUS
scenario const of_another_scheduler("unprofiled-scheduler", [](int) {
  for (int i = 0; i < 2; ++i) {
    filch::implicit::pool pool;
    auto const sum = pool.run([] {
      auto const [a, b] = filch::join<filch::implicit>([] { return 1; }, [] { return 2; });
      return a + b;
    });
    std::printf("sum %d\n", sum);
  }
});
#endif

}  // namespace
}  // namespace filch_test

// Many forks and many accesses: memory stays bounded, and races are found after ids of sections were given out anew.
// With the argument `times` prints what forks and accesses cost. `open_joins` takes minutes: many joins that are open
// when ids run out.
#include <filch/filch.hpp>

#include <sys/resource.h>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <vector>

namespace {

unsigned found = 0;

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
long megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

int expect(bool is_right, char const* what) {
  if (!is_right) std::printf("FAILED: %s\n", what);
  return is_right ? 0 : 1;
}

int volatile early = 0;
int volatile late = 0;
int volatile serial = 0;

void fork_often(long times) {
  for (long i = 0; i < times; ++i) filch::join([] {}, [] { serial = 1; });
}

/// More forks than there are ids. Accesses before the numbers are used again are known after it.
int many_forks() {
  constexpr long k_forks = 18'000'000;
  found = 0;
  filch::join([] { early = 1; },
              [] {
                late = static_cast<int>(serial);
                fork_often(k_forks);
                early = 2;
              });
  int failures = expect(found != 0, "a race across renumbered ids was not found");
  found = 0;
  filch::join([] { late = 1; }, [] {});
  filch::scope([](auto& s) {
    late = 2;
    s.spawn([] { fork_often(k_forks); });
    s.sync();
    late = 3;
  });
  failures += expect(found == 0, "a false race after renumbered ids");
  filch::scope([](auto& s) {
    late = 4;
    s.spawn([] { static_cast<void>(late); });
    filch::join([] { fork_often(k_forks); }, [] {});
    late = 5;
  });
  return failures + expect(found != 0, "a race with a read across renumbered ids was not found");
}

long nest(int depth) {
  if (depth == 0) return 0;
  return filch::join([depth] { return nest(depth - 1); }, [] { return 1; }).first + 1;
}

/// Ids run out while many joins are open, each of which takes one more: no other forks may come before.
int many_open_joins() {
  constexpr int k_depth = 200'000;
  constexpr long k_joins = 18'000'000;
  long joins = 0;
  filch::default_scheduler::default_pool().run([&joins] {
    for (long i = 0; i < k_joins / k_depth; ++i) joins += nest(k_depth);
  });
  return expect(joins == k_joins, "joins are missing");
}

/// Each hold spans a join, and writes one variable: its list of accesses stays short.
int many_holds() {
  filch::mutex lock;
  long sum = 0;
  found = 0;
  filch::scope([&](auto& s) {
    s.spawn([&] {
      for (int i = 0; i < 300'000; ++i) {
        std::lock_guard const here(lock);
        filch::join([] {}, [] {});
        ++sum;
      }
    });
    std::lock_guard const here(lock);
    ++sum;
  });
  return expect(found == 0 && sum == 300'001, "a false race after many holds");
}

/// The same array again and again, by other sections.
int many_accesses(long accesses) {
  std::vector<long> all(1 << 20);
  long const rounds = accesses / static_cast<long>(all.size());
  found = 0;
  for (long i = 0; i < rounds; ++i) {
    filch::join(
        [&] {
          for (std::size_t k = 0; k < all.size() / 2; ++k) all[k] += i;
        },
        [&] {
          for (std::size_t k = all.size() / 2; k < all.size(); ++k) all[k] += i;
        });
  }
  int const failures = expect(found == 0, "a false race in many accesses");
  long const used = megabytes();
  std::printf("%ld million accesses, %ld MB\n", 2 * accesses / 1'000'000, used);
  return failures + expect(used < 1500, "more than 1500 MB");
}

void times() {
  double begin = seconds();
  filch::default_scheduler::default_pool().run([] { fork_often(2'000'000); });
  std::printf("%.1f ns a fork and join\n", (seconds() - begin) / 2e6 * 1e9);
  std::vector<double> x(1 << 22, 1.0), y(1 << 22, 2.0);
  auto const pass = [&] {
    for (std::size_t k = 0; k < x.size(); ++k) y[k] += 3 * x[k];
  };
  pass();
  begin = seconds();
  for (int i = 0; i < 4; ++i) pass();
  std::printf("%.2f ns an element outside of pools\n", (seconds() - begin) / 4 / double(x.size()) * 1e9);
  filch::join([&] { pass(); }, [] {});
  begin = seconds();
  for (int i = 0; i < 4; ++i) filch::join([&] { pass(); }, [] {});
  std::printf("%.2f ns an element in tasks\n", (seconds() - begin) / 4 / double(x.size()) * 1e9);
}

}  // namespace

extern "C" void filch_race_found(void const*) { ++found; }

int main(int count, char** arguments) {
  if (count > 1 && std::strcmp(arguments[1], "times") == 0) {
    times();
    return 0;
  }
  bool const is_long = count > 1 && std::strcmp(arguments[1], "open_joins") == 0;
  int const failures =
      is_long ? many_open_joins()
              : many_forks() + many_holds() + many_accesses(count > 1 ? std::atol(arguments[1]) : 50'000'000);
  std::printf("%d failures\n", failures);
  std::fflush(stdout);
  std::quick_exit(failures == 0 ? 0 : 1);
}

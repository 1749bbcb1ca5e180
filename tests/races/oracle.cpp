// Random fork trees with random accesses, compared with all pairs of accesses. A tree is a list of steps; the oracle
// knows of each access the path of branches from the root.
#include <filch/filch.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <set>
#include <vector>

namespace {

constexpr unsigned k_bytes = 16;
constexpr unsigned k_locks = 3;

struct node {
  enum kind { accesses, join, scope, stay } what;
  unsigned at, size;  // of an access
  bool writes, is_atomic;
  unsigned locks;  // a bit for each lock that is held around this node
  std::vector<node> parts;
};

using generator = std::mt19937;

unsigned below(generator& g, unsigned n) { return static_cast<unsigned>(g() % n); }

std::vector<node> random_steps(generator& g, int depth, unsigned steps) {
  std::vector<node> all;
  for (unsigned i = 0; i < steps; ++i) {
    node n{};
    if (below(g, 5) == 0) n.locks = 1u << below(g, k_locks);
    unsigned const what = depth == 0 ? 0 : below(g, 10);
    if (what < 5) {
      n.what = node::accesses;
      n.size = 1u << below(g, 4);
      n.at = below(g, k_bytes / n.size) * n.size;
      n.writes = below(g, 3) == 0;
      n.is_atomic = below(g, 5) == 0;
    } else {
      n.what = what < 8 ? node::join : what == 8 ? node::scope : node::stay;
      unsigned const parts = n.what == node::scope ? 1 + below(g, 3) : 2;
      for (unsigned k = 0; k < parts; ++k) {
        node part{};
        part.parts = random_steps(g, depth - 1, 1 + below(g, 3));
        n.parts.push_back(part);
      }
    }
    all.push_back(n);
  }
  return all;
}

// The run.

char* memory = nullptr;
filch::mutex locks[k_locks];

template <class Value> void touch(node const& n) {
  auto* const p = reinterpret_cast<Value*>(memory + n.at);
  if (n.is_atomic && n.writes) {
    std::atomic_ref<Value>(*p).store(1);
  } else if (n.is_atomic) {
    static_cast<void>(std::atomic_ref<Value>(*p).load());
  } else if (n.writes) {
    *const_cast<Value volatile*>(p) = 1;
  } else {
    static_cast<void>(*const_cast<Value volatile*>(p));
  }
}

void run(std::vector<node> const& steps, unsigned held);

void run_one(node const& n, unsigned held) {
  switch (n.what) {
    case node::accesses:
      switch (n.size) {
        case 1: return touch<std::uint8_t>(n);
        case 2: return touch<std::uint16_t>(n);
        case 4: return touch<std::uint32_t>(n);
        default: return touch<std::uint64_t>(n);
      }
    case node::join: filch::join([&] { run(n.parts[0].parts, held); }, [&] { run(n.parts[1].parts, held); }); return;
    case node::scope:
      filch::scope([&](auto& s) {
        for (std::size_t i = 0; i + 1 < n.parts.size(); ++i) s.spawn([&n, i, held] { run(n.parts[i].parts, held); });
        run(n.parts.back().parts, held);
      });
      return;
    case node::stay:
      filch::stay([&] { filch::join([&] { run(n.parts[0].parts, held); }, [&] { run(n.parts[1].parts, held); }); });
  }
}

void run(std::vector<node> const& steps, unsigned held) {
  for (node const& n : steps) {
    unsigned const taken = n.locks & ~held;  // they are not recursive
    for (unsigned i = 0; i < k_locks; ++i) {
      if ((taken >> i & 1) != 0) locks[i].lock();
    }
    run_one(n, held | taken);
    for (unsigned i = 0; i < k_locks; ++i) {
      if ((taken >> i & 1) != 0) locks[i].unlock();
    }
  }
}

// The oracle.

struct step_on_path {
  unsigned fork;    // a number for each join and scope
  unsigned branch;  // of a join 0 or 1; of a scope the number of the task, and k_body
};
constexpr unsigned k_body = 99;
struct known_access {
  node const* what;
  std::vector<step_on_path> path;
  std::vector<std::pair<unsigned, unsigned>> holds;  // lock, number of the hold
};
struct knowledge {
  std::vector<known_access> accesses;
  unsigned forks = 0;
  unsigned holds = 0;
};

void learn(knowledge& all, std::vector<node> const& steps, known_access here, unsigned held, bool stays) {
  for (node const& n : steps) {
    known_access mine = here;
    unsigned const taken = n.locks & ~held;
    for (unsigned i = 0; i < k_locks; ++i) {
      if ((taken >> i & 1) != 0) mine.holds.emplace_back(i, ++all.holds);
    }
    if (n.what == node::accesses) {
      mine.what = &n;
      all.accesses.push_back(mine);
      continue;
    }
    bool const is_parallel = !stays && n.what != node::stay;
    unsigned const fork = ++all.forks;
    for (std::size_t i = 0; i < n.parts.size(); ++i) {
      known_access part = mine;
      bool const is_body = n.what == node::scope && i + 1 == n.parts.size();
      if (is_parallel) part.path.push_back({fork, is_body ? k_body : static_cast<unsigned>(i)});
      learn(all, n.parts[i].parts, part, held | taken, stays || n.what == node::stay);
    }
  }
}

bool are_parallel(known_access const& a, known_access const& b) {
  for (std::size_t i = 0; i < a.path.size() && i < b.path.size(); ++i) {
    if (a.path[i].fork != b.path[i].fork) return false;
    if (a.path[i].branch != b.path[i].branch) return true;
  }
  return false;
}

bool exclude_each_other(known_access const& a, known_access const& b) {
  if (a.what->is_atomic && b.what->is_atomic) return true;
  for (auto const& x : a.holds) {
    for (auto const& y : b.holds) {
      if (x.first == y.first && x.second != y.second) return true;
    }
  }
  return false;
}

using racy_bytes = std::set<unsigned>;

racy_bytes expected(std::vector<node> const& steps) {
  knowledge all;
  learn(all, steps, {}, 0, false);
  racy_bytes racy;
  for (auto const& a : all.accesses) {
    for (auto const& b : all.accesses) {
      if (&a >= &b || (!a.what->writes && !b.what->writes)) continue;
      if (!are_parallel(a, b) || exclude_each_other(a, b)) continue;
      for (unsigned i = 0; i < k_bytes; ++i) {
        if (i - a.what->at < a.what->size && i - b.what->at < b.what->size) racy.insert(i);
      }
    }
  }
  return racy;
}

racy_bytes reported;

}  // namespace

// Called by the library for each word of four bytes with a race.
extern "C" void filch_race_found(void const* at) {
  auto const offset = static_cast<std::size_t>(static_cast<char const*>(at) - memory);
  if (offset < k_bytes) reported.insert(static_cast<unsigned>(offset));
}

int main(int count, char** arguments) {
  unsigned const trees = count > 1 ? static_cast<unsigned>(std::atoi(arguments[1])) : 10'000;
  generator g(12345);
  unsigned with_races = 0;
  for (unsigned i = 0; i < trees; ++i) {
    auto const steps = random_steps(g, 4, 4);
    reported.clear();
    filch::default_scheduler::default_pool().run([&] {
      auto const fresh = std::make_unique<std::uint64_t[]>(k_bytes / 8);
      memory = reinterpret_cast<char*>(fresh.get());
      run(steps, 0);
    });
    auto const right = expected(steps);
    if (right != reported) {
      std::printf("tree %u: expected", i);
      for (unsigned const b : right) std::printf(" %u", b);
      std::printf("; reported");
      for (unsigned const b : reported) std::printf(" %u", b);
      std::printf("\n");
      std::fflush(stdout);
      std::quick_exit(1);
    }
    with_races += !right.empty();
  }
  std::printf("%u trees, %u with races: right\n", trees, with_races);
  std::fflush(stdout);
  // The races were wanted.
  std::quick_exit(with_races * 4 < trees || with_races == trees ? 1 : 0);
}

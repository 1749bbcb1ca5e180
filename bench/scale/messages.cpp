// The cost of messages between two ranks: the input of scale-simulate, as its options.
//   mpirun -n 2 scale-messages
#include "../workloads/uts.hpp"

#include <filch/cluster.hpp>
#include <filch/mpi_transport.hpp>

#include <sched.h>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <numeric>
#include <thread>

namespace {

using clock_type = std::chrono::steady_clock;

double ns_each(int repetitions, std::function<void()> const& f) {
  constexpr int k_batches = 15;
  std::vector<double> each;
  for (int b = 0; b < k_batches; ++b) {
    auto const begin = clock_type::now();
    for (int i = 0; i < repetitions; ++i) f();
    each.push_back(std::chrono::duration<double, std::nano>(clock_type::now() - begin).count() / repetitions);
  }
  std::nth_element(each.begin(), each.begin() + k_batches / 2, each.end());
  return each[k_batches / 2];
}

filch::message await(filch::mpi_transport& mpi) {
  for (;;) {
    if (auto m = mpi.receive()) return std::move(*m);
  }
}

/// Half of a round trip.
double trip(filch::mpi_transport& mpi, std::size_t bytes, int repetitions = 2000) {
  return ns_each(repetitions,
                 [&] {
                   if (mpi.rank() == 0) mpi.send(1, filch::message(bytes));
                   await(mpi);
                   if (mpi.rank() == 1) mpi.send(0, filch::message(bytes));
                 }) /
         2;
}

/// As many nodes of a tree as a rank visits between two looks.
void work_a_little() {
  constexpr unsigned k_nodes = 200;
  static bench::uts::node n = bench::uts::root_of(bench::uts::k_trees.front());
  for (unsigned i = 0; i < k_nodes; ++i) n = bench::uts::child_of(n, i);
}

/// Both ranks on one processor, as long as it exists.
class one_processor {
 public:
  explicit one_processor(filch::mpi_transport& mpi) {
    sched_getaffinity(0, sizeof before_, &before_);
    int const mine = sched_getcpu();
    if (mpi.rank() == 0) mpi.send(1, filch::detail::packed(mine));
    int const shared = mpi.rank() == 0 ? mine : filch::detail::unpacked<int>(await(mpi));
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<unsigned>(shared), &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0) std::perror("scale-messages: no common processor");
    trip(mpi, 1, 1);  // together
  }
  one_processor(one_processor const&) = delete;
  one_processor& operator=(one_processor const&) = delete;
  ~one_processor() { sched_setaffinity(0, sizeof before_, &before_); }

 private:
  cpu_set_t before_;
};

/// Time of a processor to go from one rank to the other, each yielding to the other.
double switch_cost(filch::mpi_transport& mpi) {
  constexpr int k_yields = 20'000;
  one_processor const both(mpi);
  return ns_each(k_yields, [] { sched_yield(); }) / 2;
}

/// Time that an idle rank's poll between two sleeps takes from a rank that works on the same processor. On rank 0.
double look_cost(filch::mpi_transport& mpi) {
  constexpr int k_rounds = 100;  // of which the middle half counts: a round differs by more than looks take
  constexpr int k_batches = 1000;
  auto const working = [] {
    auto const begin = clock_type::now();
    for (int i = 0; i < k_batches; ++i) work_a_little();
    return std::chrono::duration<double, std::nano>(clock_type::now() - begin).count();
  };
  std::vector<double> each;
  for (int round = 0; round < k_rounds; ++round) {
    one_processor const both(mpi);
    if (mpi.rank() == 0) {
      double const disturbed = working();
      mpi.send(1, {});
      auto const looks = filch::detail::unpacked<std::int64_t>(await(mpi));
      each.push_back((disturbed - working()) / static_cast<double>(looks));
      mpi.send(1, {});
    } else {
      std::int64_t looks = 0;
      for (; !mpi.receive(); ++looks) {
        sched_yield();  // as MPI does in a look where it knows that processors are shared
        std::this_thread::sleep_for(std::chrono::microseconds(30));
      }
      mpi.send(0, filch::detail::packed(looks));
      while (!mpi.receive()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
  if (each.empty()) return 0;
  std::sort(each.begin(), each.end());
  auto const quarter = static_cast<std::ptrdiff_t>(each.size() / 4);
  double const sum = std::accumulate(each.begin() + quarter, each.end() - quarter, 0.0);
  return std::max(0.0, sum / static_cast<double>(each.size() - 2 * static_cast<std::size_t>(quarter)));
}

}  // namespace

int main() {
  filch::mpi_transport mpi;
  if (mpi.ranks() != 2) {
    std::fputs("scale-messages: start it with mpirun -n 2\n", stderr);
    return 1;
  }
  constexpr std::size_t k_short = 13;  // a steal request
  constexpr std::size_t k_long = 16 * 1024;
  // Rank 0 waits: nothing must arrive in these looks.
  double const poll = mpi.rank() == 0 ? 0 : ns_each(20'000, [&] { mpi.receive(); });
  if (mpi.rank() == 1) mpi.send(0, filch::message(1));
  if (mpi.rank() == 0) await(mpi);
  double const short_trip = trip(mpi, k_short);
  double const long_trip = trip(mpi, k_long);
  // Time of the sender's processor; the receiver takes the messages out meanwhile.
  double each = 0;
  constexpr int k_burst = 500;
  for (int round = 0; round < 2; ++round) {
    trip(mpi, k_short);  // together
    auto const begin = clock_type::now();
    for (int i = 0; i < k_burst; ++i) {
      if (mpi.rank() == 0) {
        mpi.send(1, filch::message(k_short));
      } else {
        await(mpi);
      }
    }
    each = std::chrono::duration<double, std::nano>(clock_type::now() - begin).count() / k_burst;
  }
  double const change = switch_cost(mpi);
  double const look = look_cost(mpi);
  if (mpi.rank() == 1) {
    filch::packer p;
    filch::packing<std::pair<double, double>>::pack(p, {poll, each});
    mpi.send(0, p.take());
    return 0;
  }
  auto const m = await(mpi);
  filch::unpacker u(m);
  auto const [poll_of_other, receive] = filch::packing<std::pair<double, double>>::unpack(u);
  std::printf("--poll %.0f --send %.0f --receive %.0f --latency %.0f --byte %.3f --switch %.0f --look %.0f\n",
              poll_of_other, each, receive, std::max(0.0, short_trip - each - receive),
              (long_trip - short_trip) / static_cast<double>(k_long), change, look);
}

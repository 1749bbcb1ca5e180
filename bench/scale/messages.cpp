// What messages cost between two ranks: the figures that scale-simulate is fed with, as its options.
//   mpirun -n 2 scale-messages
#include <filch/mpi_transport.hpp>
#include <filch/packing.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>

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
double trip(filch::mpi_transport& mpi, std::size_t bytes) {
  return ns_each(2000,
                 [&] {
                   if (mpi.rank() == 0) mpi.send(1, filch::message(bytes));
                   await(mpi);
                   if (mpi.rank() == 1) mpi.send(0, filch::message(bytes));
                 }) /
         2;
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
  // What the sender's processor spends; the receiver takes them out meanwhile.
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
  if (mpi.rank() == 1) {
    filch::packer p;
    filch::packing<std::pair<double, double>>::pack(p, {poll, each});
    mpi.send(0, p.take());
    return 0;
  }
  auto const m = await(mpi);
  filch::unpacker u(m);
  auto const [poll_of_other, receive] = filch::packing<std::pair<double, double>>::unpack(u);
  std::printf("--poll %.0f --send %.0f --receive %.0f --latency %.0f --byte %.3f\n", poll_of_other, each, receive,
              std::max(0.0, short_trip - each - receive), (long_trip - short_trip) / static_cast<double>(k_long));
}

// A user's packing that forks: the endpoint calls it with its mutex held.
#include "eventually.hpp"
#include "network.hpp"
#include "schedulers.hpp"
#include "this_thread.hpp"

namespace filch_test {
namespace {

/// The times at which a `forking` forks: in its packing, or also when it is moved and destroyed.
enum class forks { never, as_it_is_packed, always };
std::atomic<forks> forks_now{forks::never};
std::atomic<int> forks_so_far{0};

/// Expects that its joins run in order, on the calling thread, and that they enter no pool outside all pools.
template <class S> void fork_at(forks least) noexcept {
  if (forks_now < least) return;
  ++forks_so_far;
  long const thread = this_thread();
  auto const worker = filch::current_worker<S>();
  bool first_ran = false;
  auto const first = [&] {
    EXPECT_EQ(this_thread(), thread);
    EXPECT_EQ(filch::current_worker<S>(), worker);
    // Another worker would take the other side now, if it could.
    for (int i = 0; i < 20; ++i) filch::join<S>([] {}, [] {});
    first_ran = true;
  };
  auto const second = [&] {
    EXPECT_EQ(this_thread(), thread);
    EXPECT_TRUE(first_ran);
  };
  filch::join<S>(first, second);
  EXPECT_EQ(this_thread(), thread);
}

template <class S> struct forking {
  explicit forking(int n) noexcept : number(n) {}
  forking(forking const& other) noexcept : number(other.number) { fork_at<S>(forks::always); }
  forking& operator=(forking const&) = delete;
  ~forking() { fork_at<S>(forks::always); }
  int number;
};

}  // namespace
}  // namespace filch_test

template <class S> struct filch::packing<filch_test::forking<S>> {
  static void pack(packer& p, filch_test::forking<S> const& f) {
    packing<int>::pack(p, f.number);
    filch_test::fork_at<S>(filch_test::forks::as_it_is_packed);
  }
  static filch_test::forking<S> unpack(unpacker& u) {
    int const number = packing<int>::unpack(u);
    filch_test::fork_at<S>(filch_test::forks::as_it_is_packed);
    return filch_test::forking<S>(number);
  }
};

namespace filch_test {
namespace {

template <class S> class cluster_packs : public ::testing::Test {
 protected:
  ~cluster_packs() override { forks_now = forks::never; }
};
TYPED_TEST_SUITE(cluster_packs, all_schedulers, scheduler_names);

struct rank_in_steps {
  rank_in_steps(network& net, int rank)
      : here(net, rank), carrier(here), endpoint_(carrier, 0), mine(endpoint_, nullptr) {
    endpoint_.begin_run();
  }
  port here;
  filch::detail::transport_of<port> carrier;
  filch::detail::endpoint endpoint_;
  filch::detail::rank_worker mine;
};

template <class S> forking<S> one_more(filch::rank&, forking<S> const& f) { return forking<S>(f.number + 1); }

TYPED_TEST(cluster_packs, fork_in_order_on_a_thread_that_is_no_worker) {
  network net(2, 1);
  rank_in_steps victim(net, 0);
  rank_in_steps thief(net, 1);
  filch::detail::future_value<forking<TypeParam>> result;
  victim.mine.template spawn<&one_more<TypeParam>>(&result, forking<TypeParam>(1));

  forks_now = forks::always;
  forks_so_far = 0;
  while (thief.mine.tasks.empty()) {
    thief.endpoint_.idle(thief.mine.tasks, true);
    victim.endpoint_.poll(victim.mine.tasks, 1);
  }
  EXPECT_GE(forks_so_far, 4) << "packed and unpacked, and destroyed after that";
  forks_now = forks::never;
  thief.mine.run_newest();  // packs the result, outside of the endpoint
  forks_now = forks::always;
  forks_so_far = 0;
  while (!result.ready) victim.endpoint_.poll(victim.mine.tasks, 0);
  EXPECT_GE(forks_so_far, 1) << "unpacked";
  forks_now = forks::never;
  EXPECT_EQ(result.value->number, 2);
}

template <class S> long number_of(filch::rank&, forking<S> const& f) { return f.number; }

constexpr int k_tasks = 200;

/// Spawns tasks, and polls until the other ranks have half of them.
template <class S> long gives_half_away(filch::rank& here) {
  for (int i = 0; i < k_tasks; ++i) here.spawn<&number_of<S>>(forking<S>(1));
  EXPECT_TRUE(eventually([&] {
    here.poll();
    return forks_so_far >= k_tasks;  // as half of them were packed and unpacked
  }));
  return 0;
}

TYPED_TEST(cluster_packs, fork_in_order_beside_waiting_workers) {
  forks_now = forks::as_it_is_packed;
  forks_so_far = 0;
  on_ranks<TypeParam>(
      3, 2, 1, [](auto& c) { EXPECT_EQ((c.template fold<&gives_half_away<TypeParam>>(std::plus<>())), k_tasks); });
}

}  // namespace
}  // namespace filch_test

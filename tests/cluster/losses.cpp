// An exception that loses a message or a task ends all ranks: otherwise the run would not end.
#include "eventually.hpp"
#include "network.hpp"
#include "schedulers.hpp"

#include <chrono>
#include <new>

namespace filch_test {
namespace {

using filch::detail::endpoint;
using filch::detail::rank_worker;

/// Throws at the step that the test names.
class failing_port {
 public:
  failing_port(network& net, int rank) : inner_(net, rank) {}
  int rank() const noexcept { return inner_.rank(); }
  int ranks() const noexcept { return inner_.ranks(); }
  void send(int to, filch::message m) {
    if (sends_fail) throw std::bad_alloc();
    inner_.send(to, std::move(m));
  }
  std::optional<filch::message> receive() {
    if (receives_fail) throw std::bad_alloc();
    return inner_.receive();
  }
  void end_all(std::string_view text) {
    ++ends;
    inner_.end_all(text);
  }

  bool sends_fail = false;
  bool receives_fail = false;
  int ends = 0;

 private:
  port inner_;
};
static_assert(filch::transport<failing_port>);

struct failing_rank {
  failing_rank(network& net, int rank) : here(net, rank) { endpoint_.begin_run(); }
  failing_port here;
  filch::detail::transport_of<failing_port> carrier{here};
  endpoint endpoint_{carrier, 0};
  rank_worker mine{endpoint_, nullptr};
};

void nothing(filch::rank&) {}

struct two_ranks {
  network net{2, 1};
  failing_rank one{net, 0};
  failing_rank two{net, 1};
  void expect_end(std::string const& what) {
    EXPECT_EQ(net.last_words(), what + " is lost: std::bad_alloc");
    EXPECT_EQ(one.here.ends, 1) << "it is said once";
  }
};

TEST(cluster_losses, a_lost_arriving_message_is_reported) {
  two_ranks both;
  both.one.here.receives_fail = true;
  EXPECT_THROW(both.one.endpoint_.poll(both.one.mine.tasks, 0), std::bad_alloc);
  both.expect_end("a message");
}

TEST(cluster_losses, a_lost_sent_message_is_reported) {
  two_ranks both;
  both.one.here.sends_fail = true;
  EXPECT_THROW(both.one.endpoint_.idle(both.one.mine.tasks, true), std::bad_alloc);
  both.expect_end("a message");
}

TEST(cluster_losses, a_lost_result_is_reported) {
  two_ranks both;
  both.one.here.sends_fail = true;
  EXPECT_THROW(both.one.endpoint_.send_result(1, nullptr, std::nullopt, {}), std::bad_alloc);
  both.expect_end("a message");
}

TEST(cluster_losses, a_lost_heartbeat_is_reported) {
  two_ranks both;
  both.one.here.sends_fail = true;
  EXPECT_THROW(both.one.endpoint_.tick(), std::bad_alloc);
  both.expect_end("a message");
}

TEST(cluster_losses, a_lost_answer_is_reported) {
  two_ranks both;
  for (int i = 0; i < 2; ++i) both.one.mine.spawn<&nothing>(nullptr);
  both.two.endpoint_.idle(both.two.mine.tasks, true);  // asks
  both.one.here.sends_fail = true;
  EXPECT_THROW(for (int looks = 0; looks < 1'000; ++looks) both.one.endpoint_.poll(both.one.mine.tasks, 1),
               std::bad_alloc);
  both.expect_end("a message");
}

/// A part of a fold that can be split once: its halves cannot.
class brittle_part final : public filch::detail::partial_of<long> {
 public:
  explicit brittle_part(bool is_whole) : is_whole_(is_whole) {}
  std::unique_ptr<partial> another() const override {
    if (!is_whole_) throw std::bad_alloc();
    return std::make_unique<brittle_part>(false);
  }
  void add(long&&) override {}
  void merge() override {}

 private:
  bool const is_whole_;
};

long works(filch::rank&) {
  work_for(std::chrono::microseconds(20));
  return 1;
}

template <class S> class cluster_task_losses : public ::testing::Test {};
TYPED_TEST_SUITE(cluster_task_losses, all_schedulers, scheduler_names);

TYPED_TEST(cluster_task_losses, end_all_ranks) {
  if (!steals<TypeParam>) GTEST_SKIP() << "it has one worker";
  network net(1, 1);
  failing_rank r(net, 0);
  typename TypeParam::pool pool({.workers = 3});
  EXPECT_TRUE(eventually([&] {
    rank_worker whole(r.endpoint_, std::make_unique<brittle_part>(true));
    for (int i = 0; i < 1'000; ++i) whole.template spawn<&works>(nullptr);
    try {
      pool.run([&] { whole.template work_off<TypeParam>(); });
      return false;
    } catch (std::bad_alloc const&) {
      return true;
    }
  })) << "no half was split";
  EXPECT_EQ(net.last_words(), "a task is lost: std::bad_alloc");
}

/// A scheduler whose spawns throw, so nothing can be split off.
struct brittle : filch::direct {
  struct frame : filch::direct::frame {
    template <class F> void spawn(F&&) { throw std::bad_alloc(); }
  };
  static bool wanted() noexcept { return true; }
};

long spawns(filch::rank& here) {
  for (int i = 0; i < 2; ++i) here.spawn<&works>();
  return 1;
}

TEST(cluster_losses, lost_tasks_of_the_main_loop_are_reported) {
  network net(1, 1);
  port here(net, 0);
  EXPECT_THROW(
      {
        filch::cluster<brittle> c(here, {.workers = 1});
        c.fold<&spawns>(std::plus<>());
      },
      std::bad_alloc);
  EXPECT_EQ(net.last_words(), "a task is lost: std::bad_alloc");
}

long one(filch::rank&) { return 1; }
/// The wait would split `one` off, and can't.
long catches_what_a_wait_throws(filch::rank& here) {
  here.spawn<&one>();
  try {
    return here.async<&one>().get();
  } catch (...) {
    return 1;
  }
}

TEST(cluster_losses, lost_tasks_of_a_wait_are_reported) {
  network net(1, 1);
  port here(net, 0);
  try {
    filch::cluster<brittle> c(here, {.workers = 1});
    c.fold<&catches_what_a_wait_throws>(std::plus<>());
  } catch (std::bad_alloc const&) {
    ADD_FAILURE() << "no step but that of the wait has a task to split off";
  }
  EXPECT_EQ(net.last_words(), "a task is lost: std::bad_alloc");
}

}  // namespace
}  // namespace filch_test

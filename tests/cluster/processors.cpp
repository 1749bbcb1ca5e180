// The number of a rank's workers on a machine with more processors than cpu_set_t holds.
#include <gtest/gtest.h>

#include "os/linux/processors.hpp"

#include <filch/thread_transport.hpp>

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>

namespace {

std::size_t processors = 0;  // of a machine that the test makes up; 0: the real one

}  // namespace

// In front of the system's. The kernel wants room for all processors that the machine may have.
extern "C" int sched_getaffinity(pid_t thread, std::size_t bytes, cpu_set_t* set) noexcept {
  if (processors == 0) {
    long const written = syscall(SYS_sched_getaffinity, thread, bytes, set);
    if (written < 0) return -1;
    std::memset(reinterpret_cast<char*>(set) + written, 0, bytes - static_cast<std::size_t>(written));
    return 0;
  }
  if (8 * bytes < processors) {
    errno = EINVAL;
    return -1;
  }
  CPU_ZERO_S(bytes, set);
  for (std::size_t i = 0; i < processors; ++i) CPU_SET_S(i, bytes, set);
  return 0;
}

namespace filch_test {
namespace {

unsigned workers_of_a_rank(int ranks) {
  filch::thread_network network(ranks);
  return filch::thread_transport(network, 0).workers();
}

class cluster_processors : public ::testing::Test {
 protected:
  ~cluster_processors() override { processors = 0; }
};

TEST_F(cluster_processors, are_counted_where_a_set_of_usual_size_is_too_small) {
  processors = 2'000;
  unsigned const all = workers_of_a_rank(2);
  if (filch::os::processor_quota() == 0) {
    EXPECT_EQ(all, 1'000u);
  }
  EXPECT_EQ(workers_of_a_rank(2'000), 1u);
}

TEST_F(cluster_processors, give_no_more_workers_than_a_pool_takes) {
  processors = 4'000;
  EXPECT_LE(workers_of_a_rank(2), 1'024u);
}

TEST_F(cluster_processors, of_a_lone_rank_are_counted_by_its_pool) { EXPECT_EQ(workers_of_a_rank(1), 0u); }

}  // namespace
}  // namespace filch_test

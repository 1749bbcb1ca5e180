// Filch's headers behind C headers that define macros with short names, I of <complex.h> for one; and behind macros
// for every name that is not reserved, a letter say, as X11's headers have them.
#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <complex.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <regex.h>
#include <resolv.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/param.h>
#include <sys/queue.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/ttydefaults.h>
#include <sys/ucontext.h>
#include <sys/un.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <syslog.h>
#include <termios.h>
#include <tgmath.h>
#include <unistd.h>
#include <wchar.h>

#define A 'A'
#define B 'B'
#define C 'C'
#define D 'D'
#define E 'E'
#define F 'F'
#define G 'G'
#define H 'H'
#undef I
#define I 'I'
#define J 'J'
#define K 'K'
#define L 'L'
#define M 'M'
#define N 'N'
#define O 'O'
#define P 'P'
#define Q 'Q'
#define R 'R'
#define S 'S'
#define T 'T'
#define U 'U'
#define V 'V'
#define W 'W'
#define X 'X'
#define Y 'Y'
#define Z 'Z'
// X11's, Qt's and GLib's.
#define Always 2
#define Bool int
#define Complex 0
#define False 0
#define None 0L
#define Status int
#define Success 0
#define True 1
#define Unsorted 0
#define emit
#define foreach 1
#define forever for (;;)
#define signals public
#define slots
#define ABS(x) (x)
#define CLAMP(x, low, high) (x)
#define TRUE 1
#define FALSE 0

#include <filch/algorithm.hpp>
#include <filch/filch.hpp>
#if FILCH_HAS_CACTUS
#include <filch/cactus.hpp>
#include <filch/fiber_hooks.hpp>
#include <filch/implicit.hpp>
#endif
#include <filch/channel.hpp>
#include <filch/direct.hpp>
#include <filch/pipeline.hpp>
#include <filch/pool_stats.hpp>
#include <filch/profile.hpp>
#include <filch/serial.hpp>
// Behind the others: their names hide none of its own. It is not installed without the cluster.
#if __has_include(<filch/cluster.hpp>)
#include <filch/cluster.hpp>
#endif

#undef A
#undef B
#undef C
#undef D
#undef E
#undef F
#undef G
#undef H
#undef I
#undef J
#undef K
#undef L
#undef M
#undef N
#undef O
#undef P
#undef Q
#undef R
#undef S
#undef T
#undef U
#undef V
#undef W
#undef X
#undef Y
#undef Z

#include "schedulers.hpp"

namespace filch_test {
namespace {

template <class Sched> class macros : public ::testing::Test {};
TYPED_TEST_SUITE(macros, all_schedulers, scheduler_names);

TYPED_TEST(macros, of_other_headers_change_nothing) {
  typename TypeParam::pool pool({.workers = 2});
  pool.run([] {
    auto const [a, b] = filch::join<TypeParam>([] { return 1; }, [] { return std::string(1000, 'b'); });
    auto const [c, d, e] =
        filch::invoke<TypeParam>([] {}, [] { return 2.0; }, [x = std::array<long, 4>{3}] { return x; });
    std::atomic<long> sum{0};
    filch::scope<TypeParam>([&](auto& s) { s.spawn([&] { ++sum; }); });
    filch::for_index<TypeParam>(0, 10, [&](int i) { sum += i; });
    EXPECT_EQ(a + static_cast<int>(b.size()) + static_cast<int>(d) + e[0] + sum, 1 + 1000 + 2 + 3 + 46);
  });
  filch::worker_local<int> local;
  local.local() = 3;
  EXPECT_EQ(local.combine(std::plus<>()), 3);
}

}  // namespace
}  // namespace filch_test

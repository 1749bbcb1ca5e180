// Exceptions of a task that waits or polls, and of a caller of run: tasks on top see none of them.
#include "eventually.hpp"
#include "network.hpp"
#include "schedulers.hpp"

#include <exception>

namespace filch_test {
namespace {

std::atomic<int> clean{0};
std::atomic<int> not_clean{0};

/// Does this code see no exceptions?
void look() noexcept {
  bool const is_clean = std::uncaught_exceptions() == 0 && !std::current_exception();
  ++(is_clean ? clean : not_clean);
}

/// Checks for exceptions when it is packed and unpacked.
struct looking {};

}  // namespace
}  // namespace filch_test

template <> struct filch::packing<filch_test::looking> {
  static void pack(packer&, filch_test::looking) { filch_test::look(); }
  static filch_test::looking unpack(unpacker&) {
    filch_test::look();
    return {};
  }
};

namespace filch_test {
namespace {

template <class S> class cluster_exceptions : public ::testing::Test {
 protected:
  cluster_exceptions() { clean = not_clean = 0; }
};
TYPED_TEST_SUITE(cluster_exceptions, all_schedulers, scheduler_names);

constexpr int k_tasks = 100;
constexpr int k_first = 1;

void looks(filch::rank&) { look(); }
void throws_and_catches(filch::rank&) {
  try {
    throw std::logic_error("on top");
  } catch (std::logic_error const&) {
  }
  look();
}
int first(filch::rank&) {
  look();
  return k_first;
}

/// Spawns tasks that check for exceptions on top of it, then calls wait(future).
template <class Wait> void with_tasks_on_top(filch::rank& here, Wait wait) {
  auto f = here.async<&first>();
  for (int i = 0; i < k_tasks / 2; ++i) {
    here.spawn<&looks>();
    here.spawn<&throws_and_catches>();
  }
  wait(f);
}

struct expects_an_exception_in_flight {
  ~expects_an_exception_in_flight() { EXPECT_EQ(std::uncaught_exceptions(), 1); }
};
void throws_with_a_future(filch::rank& here) {
  expects_an_exception_in_flight const after_the_wait;
  with_tasks_on_top(here, [](auto&) { throw std::runtime_error("a reason"); });
}
void gets_in_a_handler(filch::rank& here) {
  try {
    throw std::runtime_error("a reason");
  } catch (std::runtime_error const& e) {
    with_tasks_on_top(here, [](auto& f) { EXPECT_EQ(f.get(), k_first); });
    auto const current = std::current_exception();
    ASSERT_TRUE(current);
    try {
      std::rethrow_exception(current);
    } catch (std::runtime_error const& same) {
      EXPECT_EQ(&same, &e);
    }
  }
  EXPECT_FALSE(std::current_exception());
}

TYPED_TEST(cluster_exceptions, of_an_unwound_task_are_hidden_from_tasks_on_top) {
  on_ranks<TypeParam>(1, 2, 1, [](auto& c) {
    try {
      c.template run<&throws_with_a_future>();
      ADD_FAILURE() << "nothing thrown";
    } catch (filch::task_error const& e) {
      EXPECT_STREQ(e.what(), "a reason");
    }
  });
  EXPECT_EQ(clean, k_tasks + 1);
  EXPECT_EQ(not_clean, 0);
}

TYPED_TEST(cluster_exceptions, of_a_waiting_task_are_hidden_from_tasks_on_top) {
  on_ranks<TypeParam>(1, 2, 1, [](auto& c) { c.template run<&gets_in_a_handler>(); });
  EXPECT_EQ(clean, k_tasks + 1);
  EXPECT_EQ(not_clean, 0);
}

TYPED_TEST(cluster_exceptions, of_a_caller_of_run_are_hidden_from_the_tasks) {
  on_ranks<TypeParam>(2, 1, 1, [](auto& c) {
    try {
      throw std::runtime_error("a reason");
    } catch (std::runtime_error const&) {
      c.template run<&looks>();
      EXPECT_TRUE(std::current_exception());
    }
  });
  EXPECT_EQ(clean, 1);
  EXPECT_EQ(not_clean, 0);
}

looking takes(filch::rank&, looking) { return {}; }
void polls_in_a_handler(filch::rank& here) {
  try {
    throw std::runtime_error("a reason");
  } catch (std::runtime_error const&) {
    auto older = here.async<&takes>(looking());
    auto newer = here.async<&takes>(looking());
    EXPECT_TRUE(eventually([&] {
      here.poll();
      return older.ready();
    }));
    EXPECT_TRUE(std::current_exception());
  }
}

TYPED_TEST(cluster_exceptions, of_a_polling_task_are_hidden_from_packing) {
  on_ranks<TypeParam>(2, 1, 1, [](auto& c) { c.template run<&polls_in_a_handler>(); });
  EXPECT_GE(clean, 4) << "an argument and a result, packed and unpacked";
  EXPECT_EQ(not_clean, 0);
}

}  // namespace
}  // namespace filch_test

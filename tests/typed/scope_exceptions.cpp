// Exceptions of a scope's tasks and of its body; callables and exceptions that fork when they are copied or
// destroyed.
#include "counted.hpp"
#include "scale.hpp"
#include "schedulers.hpp"
#include "stealing.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

namespace filch_test {
namespace {

template <class S> class scope_exceptions : public ::testing::Test {};
TYPED_TEST_SUITE(scope_exceptions, all_schedulers, scheduler_names);

TYPED_TEST(scope_exceptions, throws_the_exception_of_the_earliest_spawned_task) {
  nothing_left_behind const check;
  on_one_and_two_workers<TypeParam>([] {
    for (int first_to_throw : {0, 1, 7, 99, 5'000}) {
      std::atomic<int> ran{0};
      int thrown = -1;
      try {
        filch::scope<TypeParam>([&](auto& s) {
          for (int i = 0; i < 6'000; ++i) {
            s.spawn([&ran, i, first_to_throw] {
              ++ran;
              if (i == first_to_throw || i % 1'000 == 999) throw counted(i);
            });
          }
        });
      } catch (counted const& e) {
        thrown = e.value();
      }
      EXPECT_EQ(thrown, std::min(first_to_throw, 999));
      EXPECT_EQ(ran, 6'000);
    }
  });
}

TYPED_TEST(scope_exceptions, throws_at_each_sync_exceptions_of_earlier_spawns) {
  on_one_and_two_workers<TypeParam>([] {
    filch::scope<TypeParam>([](auto& s) {
      for (int round = 0; round < 10; ++round) {
        for (int i = 0; i < 5; ++i) s.spawn([round, i] { throw round * 10 + i; });
        try {
          s.sync();
          ADD_FAILURE() << "nothing was thrown";
        } catch (int e) {
          EXPECT_EQ(e, round * 10);
        }
        s.sync();
      }
    });
  });
}

TYPED_TEST(scope_exceptions, throws_its_body_s_exception_after_all_tasks_have_run) {
  nothing_left_behind const check;
  on_one_and_two_workers<TypeParam>([] {
    std::atomic<int> ran{0};
    int thrown = -1;
    try {
      filch::scope<TypeParam>([&](auto& s) -> counted {
        for (int i = 0; i < 100; ++i) {
          s.spawn([&ran, i] {
            ++ran;
            throw counted(i);
          });
        }
        throw counted(1'000);
      });
    } catch (counted const& e) {
      thrown = e.value();
    }
    EXPECT_EQ(thrown, 1'000);
    EXPECT_EQ(ran, 100);
  });
}

TYPED_TEST(scope_exceptions, destroys_its_result_when_a_task_threw) {
  nothing_left_behind const check;
  on_one_and_two_workers<TypeParam>([] {
    EXPECT_THROW(filch::scope<TypeParam>([](auto& s) {
                   s.spawn([] { throw 1; });
                   return std::vector<counted>(10, counted(1));
                 }),
                 int);
  });
}

TYPED_TEST(scope_exceptions, keeps_a_task_s_exception_while_its_closure_forks) {
  // The closure owns something whose destructor forks.
  struct owner {
    std::unique_ptr<int> value = std::make_unique<int>(1);
    owner() = default;
    owner(owner&&) noexcept = default;
    ~owner() {
      if (value)
        filch::join<TypeParam>([this] { ++*value; }, [x = std::array<long, 5>{-1, -1, -1, -1, -1}] { return x[4]; });
    }
  };
  on_one_and_two_workers<TypeParam>([] {
    for (int i = 0; i < 100; ++i) {
      try {
        filch::scope<TypeParam>([&](auto& s) {
          s.spawn([o = owner()] { throw std::string("a string that is too long to be stored in place"); });
          s.spawn([o = owner(), big = std::array<int, 50>{}] {
            throw std::string("spawned later than the first") + (big[0] ? "" : "!");
          });
        });
        FAIL() << "nothing was thrown";
      } catch (std::string const& e) {
        EXPECT_EQ(e, "a string that is too long to be stored in place");
      }
    }
  });
}

TYPED_TEST(scope_exceptions, runs_all_spawns_of_a_task_that_threw) {
  typename TypeParam::pool pool({.workers = 2});
  for (std::size_t i = 0; i < scaled(50); ++i) {
    std::atomic<int> ran{0};
    auto const count = [&ran] { ++ran; };
    pool.run([&] {
      EXPECT_THROW(filch::scope<TypeParam>([&](auto& s) {
                     for (int k = 0; k < 20; ++k) {
                       s.spawn([&] {
                         s.spawn(count);
                         throw std::runtime_error("after a spawn");
                       });
                     }
                   }),
                   std::runtime_error);
    });
    ASSERT_EQ(ran, 20);
  }
}

TYPED_TEST(scope_exceptions, around_another_one_gets_spawns_of_tasks_that_throw) {
  for (unsigned const workers : {1u, 2u}) {
    typename TypeParam::pool pool({.workers = workers});
    for (std::size_t i = 0; i < scaled(50); ++i) {
      std::atomic<int> ran{0};
      int caught = 0;
      pool.run([&] {
        filch::scope<TypeParam>([&](auto& outer) {
          try {
            filch::scope<TypeParam>([&](auto& inner) {
              inner.spawn([&] {
                outer.spawn([&ran] { ++ran; });
                throw std::runtime_error("after a spawn elsewhere");
              });
            });
          } catch (std::runtime_error const&) {
            ++caught;
          }
        });
      });
      ASSERT_EQ(ran, 1);
      ASSERT_EQ(caught, 1);
    }
  }
}

TYPED_TEST(scope_exceptions, throws_the_exception_of_the_earliest_task_before_those_of_its_spawns) {
  typename TypeParam::pool pool({.workers = 1});
  pool.run([] {
    try {
      filch::scope<TypeParam>([](auto& s) {
        s.spawn([&s] {
          try {
            s.spawn([] { throw 2; });
          } catch (int) {  // from elsewhere
          }
          throw 1;
        });
      });
      ADD_FAILURE() << "nothing was thrown";
    } catch (int which) {
      EXPECT_EQ(which, 1);
    }
  });
}

/// A callable whose copies spawn.
template <class Spawner> struct spawns_when_copied {
  Spawner& s;
  std::atomic<int>& by_copies;
  std::atomic<int>& by_itself;
  std::byte large[100]{};

  spawns_when_copied(Spawner& spawner, std::atomic<int>& copies, std::atomic<int>& itself)
      : s(spawner), by_copies(copies), by_itself(itself) {}
  spawns_when_copied(spawns_when_copied const& from)
      : s(from.s), by_copies(from.by_copies), by_itself(from.by_itself) {
    s.spawn([&count = by_copies] { ++count; });
  }
  spawns_when_copied& operator=(spawns_when_copied const&) = delete;
  void operator()() const { ++by_itself; }
};

TYPED_TEST(scope_exceptions, takes_callables_whose_copies_spawn) {
  typename TypeParam::pool pool({.workers = 2});
  std::atomic<int> by_copies{0};
  std::atomic<int> by_itself{0};
  pool.run([&] {
    filch::scope<TypeParam>([&](auto& s) {
      spawns_when_copied const f(s, by_copies, by_itself);
      s.spawn(f);
    });
  });
  EXPECT_GE(by_copies, 1);
  EXPECT_EQ(by_itself, 1);
}

/// An exception whose destructor forks.
template <class S, class Spawner> struct forks_at_its_end {
  Spawner& s;
  std::atomic<int>& ran;

  forks_at_its_end(Spawner& spawner, std::atomic<int>& count) : s(spawner), ran(count) {}
  forks_at_its_end(forks_at_its_end const&) = delete;
  forks_at_its_end& operator=(forks_at_its_end const&) = delete;
  ~forks_at_its_end() {
    filch::join<S>([this] { spawn(); }, [] {});
  }
  void spawn() const {
    try {
      s.spawn([&count = ran] {
        ++count;
        throw 7;
      });
    } catch (int) {  // from elsewhere
    }
  }
};

TYPED_TEST(scope_exceptions, lets_exceptions_fork_when_they_are_dropped) {
  typename TypeParam::pool pool({.workers = 3});
  for (std::size_t i = 0; i < scaled(20); ++i) {
    std::atomic<int> ran{0};
    auto const scoped = [&ran]<class Spawner>(Spawner& s) {
      s.spawn([] { throw 1; });
      for (int k = 0; k < 10; ++k) s.spawn([&] { throw forks_at_its_end<TypeParam, Spawner>(s, ran); });
    };
    EXPECT_THROW(pool.run([&] { filch::scope<TypeParam>(scoped); }), int);
    ASSERT_GE(ran, 1);
  }
}

}  // namespace
}  // namespace filch_test

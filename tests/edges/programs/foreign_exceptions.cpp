// Tasks that are left by no C++ exception. The number 0 is another language's exception; 1 is pthread_exit().
#include "programs/scenario.hpp"

#include <pthread.h>
#include <unistd.h>
#include <unwind.h>

#include <cstdio>
#include <cstring>
#include <stdexcept>

namespace filch_test {
namespace {

int kind = 0;

/// Is left by no C++ exception. The result is never made.
std::string leaves() {
  if (kind == 1) pthread_exit(nullptr);
  static thread_local _Unwind_Exception foreign{};
  std::memcpy(&foreign.exception_class, "LUAJIT2\0", 8);
  foreign.exception_cleanup = [](_Unwind_Reason_Code, _Unwind_Exception*) {};
  _Unwind_RaiseException(&foreign);
  std::fputs("no handler catches it\n", stderr);
  _exit(3);
}
std::string returns() { return "a value"; }
[[noreturn]] void throws() { throw std::runtime_error("a C++ exception"); }

/// 20: no exception came. 21: something else than a C++ exception came.
template <class Body> void expect_nothing_to_return(int what, Body body) {
  kind = what;
  try {
    body();
  } catch (...) {
    _exit(21);
  }
  _exit(20);
}

template <class S> struct scenarios_of {
  template <class Body> static scenario of(char const* where, Body) {
    static std::string const name = "foreign-" + std::string(where) + "-" + std::string(S::name);
    return {name.c_str(), [](int what) {
              expect_nothing_to_return(what, [] {
                typename S::pool pool({.workers = 2});
                pool.run([] { Body{}(); });
              });
            }};
  }

  scenario run = of("run", [] { static_cast<void>(leaves()); });
  scenario join_f = of("join-f", [] { filch::join<S>(leaves, returns); });
  scenario join_g = of("join-g", [] { filch::join<S>(returns, leaves); });
  scenario join_small =
      of("join-small", [] { filch::join<S>([] { static_cast<void>(leaves()); }, [] { return 1; }); });
  scenario join_after = of("join-after-an-exception", [] { filch::join<S>(throws, leaves); });
  scenario invoke = of("invoke", [] { filch::invoke<S>(returns, returns, leaves); });
  scenario for_index = of("for-index", [] { filch::for_index<S>(0, 10, [](int) { static_cast<void>(leaves()); }); });
  scenario body = of("scope", [] { filch::scope<S>([](auto&) { static_cast<void>(leaves()); }); });
  scenario spawned = of("spawned", [] { filch::scope<S>([](auto& s) { s.spawn(leaves); }); });
  scenario spawned_large = of("spawned-large", [] {
    filch::scope<S>(
        [](auto& s) { s.spawn([room = std::array<char, 100>{}] { static_cast<void>(room), leaves(); }); });
  });
  scenario in_stay = of("stay", [] { filch::stay([] { filch::join<S>(leaves, returns); }); });
};

template <class S> struct stolen_scenarios_of {
  template <class Body> static scenario of(char const* where, Body body) { return scenarios_of<S>::of(where, body); }

  scenario join_g = of("stolen", [] { join_stolen<S>([] {}, [] { static_cast<void>(leaves()); }); });
  scenario join_f = of("f-of-a-stolen", [] { join_stolen<S>([] { static_cast<void>(leaves()); }, [] {}); });
  scenario both = of("both-of-a-stolen", [] {
    join_stolen<S>([] { static_cast<void>(leaves()); }, [] { static_cast<void>(leaves()); });
  });
  scenario inside = of("in-a-stolen", [] { join_stolen<S>([] {}, [] { filch::join<S>(leaves, returns); }); });
  scenario spawned = of("stolen-spawned", [] {
    filch::scope<S>([](auto& s) {
      for (int i = 0; i < 100; ++i) s.spawn([] { static_cast<void>(fib(10)); });
      s.spawn(leaves);
    });
  });
};

scenarios_of<filch::serial> const of_serial;
scenarios_of<filch::direct> const of_direct;
scenarios_of<filch::channel> const of_channel;
stolen_scenarios_of<filch::direct> const stolen_of_direct;
stolen_scenarios_of<filch::channel> const stolen_of_channel;
#if FILCH_HAS_CACTUS
scenarios_of<filch::cactus> const of_cactus;
scenarios_of<filch::implicit> const of_implicit;
stolen_scenarios_of<filch::cactus> const stolen_of_cactus;
stolen_scenarios_of<filch::implicit> const stolen_of_implicit;
#endif

template <class S> void join_outside(int what) {
  expect_nothing_to_return(what, [] { filch::join<S>(leaves, returns); });
}
scenario const outside_direct{"foreign-outside-direct", join_outside<filch::direct>};
scenario const outside_channel{"foreign-outside-channel", join_outside<filch::channel>};
#if FILCH_HAS_CACTUS
scenario const outside_cactus{"foreign-outside-cactus", join_outside<filch::cactus>};
scenario const outside_implicit{"foreign-outside-implicit", join_outside<filch::implicit>};
#endif

template <class Leave> void detach_one(int what, Leave leave) {
  expect_nothing_to_return(what, [leave] {
    filch::channel::default_pool().run([leave] {
      filch::channel::detach([leave] { leave(); });
      filch::channel::barrier();
    });
  });
}
scenario const detached{"foreign-detached-channel",
                        [](int what) { detach_one(what, [] { static_cast<void>(leaves()); }); }};
scenario const detached_throws{"detached-throws", [](int) { detach_one(0, throws); }};

}  // namespace
}  // namespace filch_test

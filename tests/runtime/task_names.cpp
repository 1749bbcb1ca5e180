// Names of tasks and functions in reports, from demangled names as GCC and Clang make them.
#include "runtime/profile/task_names.hpp"
#include "runtime/addr2line.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace filch_test {
namespace {

using filch::runtime::profile::is_in_filch;
using filch::runtime::profile::is_own_line;
using filch::runtime::profile::name_of_function;
using filch::runtime::profile::name_of_task;

std::string stolen(std::string const& closure) {
  return "bool filch::v0_direct::detail::run_stolen<" + closure +
         ", filch::v0_direct::detail::direct_task>(filch::v0_direct::detail::direct_task&, void*)";
}

TEST(task_names, are_those_of_closures) {
  EXPECT_EQ(name_of_task(stolen("game::fib<long, int>(long)::{lambda(int)#2}")), "game::fib<long, int>::{lambda#2}");
  EXPECT_EQ(name_of_task(stolen("main::{lambda(int)#1}::operator()(int) const::{lambda()#2}")),
            "main::{lambda#1}::{lambda#2}");
  EXPECT_EQ(name_of_task(stolen("(anonymous namespace)::fib(long)::{lambda()#1}&")),
            "(anonymous namespace)::fib::{lambda#1}&");
  EXPECT_EQ(name_of_task(stolen("void (&)()")), "void (&)()");
  EXPECT_EQ(name_of_task("run_stolen<main()::<lambda()>::<lambda()>, filch::v0_direct::detail::direct_task>"),
            "main::<lambda>::<lambda>")
      << "a name that is not mangled";
  EXPECT_EQ(name_of_task("filch::v0_direct::detail::fiber_frame<filch::v0_direct::detail::cactus_frame>::spawned<"
                         "main::{lambda(auto:1&)#1}::operator()<filch::v0_direct::scope<int> >(filch::v0_direct::"
                         "scope<int>&) const::{lambda()#1}>::run(filch::v0_direct::detail::fiber_task&)"),
            "main::{lambda#1}<filch::v0_direct::scope<int> >::{lambda#1}");
  EXPECT_EQ(name_of_task("main"), "main");
  EXPECT_EQ(
      name_of_task("filch::v0_direct::detail::call_through<main::{lambda()#2}, filch::v0_direct::detail::pool_of<"
                   "filch::v0_direct::detail::direct_team>::run<main::{lambda()#2}>(main::{lambda()#2}&&)::{lambda("
                   "void (*)(void*), void*)#1}>(main::{lambda()#2}&&)::{lambda(void*)#1}::_FUN(void*)"),
      "pool.run: main::{lambda#2}");
}

TEST(task_names, of_parts_of_loops_have_the_program_s_closure) {
  auto const half = [](std::string const& piece) {
    return stolen(
        "filch::v0_direct::detail::split_piece<filch::v0_direct::direct, filch::v0_direct::detail::" + piece +
        ", filch::v0_direct::detail::never_stopped>(unsigned long, filch::v0_direct::detail::" + piece +
        "&)::{lambda()#2}");
  };
  EXPECT_EQ(name_of_task(half("index_piece<unsigned long, main::{lambda()#1}::operator()() const::{lambda(unsigned "
                              "long)#1}>")),
            "half of a loop: main::{lambda#1}::{lambda#1}");
  EXPECT_EQ(name_of_task(half("index_piece<unsigned long, (anonymous namespace)::functor>")),
            "half of a loop: (anonymous namespace)::functor");
  EXPECT_EQ(
      name_of_task(half("each_piece<__gnu_cxx::__normal_iterator<game::point*, std::vector<game::point, std::"
                        "allocator<game::point> > >, game::move(int)::{lambda(game::point&)#1}, std::identity>")),
      "half of a loop: game::move::{lambda#1}")
      << "the lambda comes before the element type";
  EXPECT_EQ(name_of_task(half("reducing_piece<long, filch::v0_direct::detail::elements<int*>, std::plus<void> >")),
            "half of a loop");
  EXPECT_EQ(
      name_of_task(stolen("filch::v0_direct::detail::join_calls<filch::v0_direct::direct>(void (*)(void const*), "
                          "void const*, void const*)::{lambda()#2}")),
      "half of a sort");
}

TEST(task_names, of_functions_are_without_parameters) {
  EXPECT_EQ(name_of_function("main"), "main");
  EXPECT_EQ(name_of_function("int (anonymous namespace)::fib<int>(int) [clone .cold]"),
            "(anonymous namespace)::fib<int>");
  EXPECT_EQ(name_of_function("game::world::step(double)::{lambda()#1}::operator()() const"),
            "game::world::step::{lambda#1}");
}

TEST(task_names, tell_filch_s_functions_from_the_program_s) {
  for (char const* const of_filch :
       {"filch::runtime::profile::record::forked(filch::runtime::profile::open_task&, void const*)",
        "std::array<long, 6ul> filch::runtime::profile::costs_of<filch::v0_direct::direct>()",
        "filch_call_on_stack"}) {
    EXPECT_TRUE(is_in_filch(of_filch)) << of_filch;
  }
  for (char const* const own :
       {"main", "filch::v0_direct::direct::pool game::pools::make<int>(filch::v0_direct::direct*)",
        "void (anonymous namespace)::run<filch::v0_direct::direct>(filch::v0_direct::direct&)",
        "game::loop(filch::v0_direct::direct::pool&)"}) {
    EXPECT_FALSE(is_in_filch(own)) << own;
  }
  EXPECT_TRUE(is_in_filch(stolen("main::{lambda()#1}")));
}

TEST(task_names, tell_filch_s_lines_from_the_program_s) {
  for (char const* const own : {"/home/me/c++/game/src/main.cpp:12", "/home/me/game/src/runtime/loop.cpp:12",
                                "/home/me/src/schedulers/earliest_deadline.hpp:7", "./src/main.cpp:3"}) {
    EXPECT_TRUE(is_own_line(own)) << own;
  }
  for (char const* const other :
       {"/x/filch/build/../src/runtime/profile/record.hpp:94", "/x/filch/src/schedulers/direct/join.cpp:15",
        "/x/filch/src/arch/x86_64/call_on_stack.S:40", "/usr/local/include/filch/join.hpp:72",
        "/usr/include/c++/12/bits/move.h:157", "??:0", "main.cpp:?"}) {
    EXPECT_FALSE(is_own_line(other)) << other;
  }
}

/// A process has no room for so many arguments.
TEST(addr2line, is_asked_for_any_number_of_addresses) {
  auto const begin = reinterpret_cast<std::uintptr_t>(&stolen);
  filch::runtime::object_file const here = filch::runtime::object_file_of(begin);
  filch::runtime::known_frames known;
  filch::runtime::look_up_frames(here, {begin}, known);
  if (known.empty()) GTEST_SKIP() << "there is no addr2line";
  std::vector<std::uintptr_t> many(150'000, begin);
  many.push_back(begin + 1);
  filch::runtime::look_up_frames(here, many, known);
  EXPECT_EQ(known.count(begin + 1), 1u);
}

}  // namespace
}  // namespace filch_test

// Each invariant of a task group (src/runtime/group/checks.hpp) is broken once, with nothing else wrong, and the
// check names it.
#include "runtime/group/checks.hpp"

#include "broken.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>

namespace filch_test {
namespace {

namespace r = filch::runtime;
using checks = r::group_checks;
using task = filch::detail::group_task;

constexpr auto nobody_sleeps = [] { return false; };

/// Two tasks wait, and a place is free.
struct a_list {
  task* const newer;
  task* const older;
  r::group_list list;

  a_list() : newer(new task), older(new task) {
    list.add(*older, nobody_sleeps);
    list.add(*newer, nobody_sleeps);
    list.drop_place(*new task);
  }
  ~a_list() {
    // The list frees what is free alone.
    delete newer;
    delete older;
    checks::newest(list) = checks::oldest(list) = nullptr;
  }
  std::string broken() const { return text(checks::of_list(list)); }
};

TEST(broken_lists, are_named) {
  expect_named<a_list>({
      {"(l.newest_ == nullptr) == (l.oldest_ == nullptr)", [](a_list& x) { checks::oldest(x.list) = nullptr; }},
      {"(l.newest_ == nullptr) == (l.size_.own() == 0)", [](a_list& x) { checks::size(x.list).set(0); }},
      {"!l.newest_ || !l.newest_->newer", [](a_list& x) { x.newer->newer = x.older; }},
      {"!l.oldest_ || !l.oldest_->older", [](a_list& x) { x.older->older = x.newer; }},
      {"(l.free_ == nullptr) == (l.free_count_ == 0)", [](a_list& x) { checks::free_count(x.list) = 0; }},
      {"l.free_count_ <= group_list::k_most_free",
       [](a_list& x) { checks::free_count(x.list) = r::group_list::k_most_free + 1; }},
  });
}

/// A group whose only task was taken and is over.
struct an_ended_group {
  r::group_state state;

  an_ended_group() {
    state.lists = std::make_unique<r::group_list[]>(2);
    state.number_of_lists = 2;
    auto* const t = new task;
    state.lists[0].add(*t, nobody_sleeps);
    EXPECT_EQ(state.lists[0].take_newest(), t);
    state.lists[1].finish(*t, [] {});
  }
  std::string broken() const { return text(checks::of_end(state)); }
};

TEST(groups_that_end_too_early, are_named) {
  expect_named<an_ended_group>({
      {"waiting == 0", [](an_ended_group& x) { checks::size(x.state.lists[0]).set(1); }},
      {"open == 0",
       [](an_ended_group& x) {
         auto* const t = new task;
         x.state.lists[0].add(*t, nobody_sleeps);
         x.state.lists[0].drop_place(*x.state.lists[0].take_newest());
       }},
      {"s.at_once.get() == 0", [](an_ended_group& x) { x.state.at_once.begin(); }},
  });
}

TEST(end_of_a_list, waits_for_an_adder_that_wakes_a_worker) {
  r::group_list list;
  list.add(*new task, [] { return true; });
  list.drop_place(*list.take_newest());
  std::atomic<bool> is_over{false};
  std::thread end([&] {
    list.end();
    is_over = true;
  });
  // Time in which it could end.
  auto const until = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
  while (!is_over && std::chrono::steady_clock::now() < until) std::this_thread::yield();
  EXPECT_FALSE(is_over);
  list.woken();
  end.join();
}

TEST(half_of_a_list, is_its_older_half) {
  r::group_list from;
  r::group_list to;
  std::unique_ptr<task> tasks[5];
  for (auto& t : tasks) {
    t = std::make_unique<task>();
    from.add(*t, nobody_sleeps);
  }
  task* const first = from.take_oldest();
  EXPECT_EQ(first, tasks[0].get());
  EXPECT_EQ(from.size(), 2u);
  EXPECT_EQ(text(checks::of_list(from)), "");
  to.put(std::exchange(first->newer, nullptr));
  EXPECT_EQ(to.size(), 2u);
  EXPECT_EQ(to.added(), 0u);
  EXPECT_EQ(text(checks::of_list(to)), "");
  EXPECT_EQ(to.take_newest(), tasks[2].get());
  EXPECT_EQ(to.take_newest(), tasks[1].get());
  EXPECT_EQ(from.take_oldest(), tasks[3].get());
  EXPECT_EQ(from.take_oldest(), tasks[4].get());
  EXPECT_EQ(from.take_oldest(), nullptr);
}

}  // namespace
}  // namespace filch_test

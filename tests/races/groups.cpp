// Task groups with and without races: tasks of tasks, tasks below joins, futures, groups outside all pools.
#include <filch/filch.hpp>
#include <filch/task_group.hpp>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <vector>

#include "checked.hpp"

namespace cases {

template <class Value> [[gnu::always_inline]] inline void use(Value x) { asm volatile("" ::"g"(x)); }

int by_two_tasks = 0;
void two_tasks() {
  filch::task_group group;
  group.run([] { by_two_tasks = 1; });  // race two tasks
  group.run([] { by_two_tasks = 2; });  // race two tasks
  group.wait();
  by_two_tasks = 3;
}
int beside_the_body = 0;
void task_and_body() {
  filch::task_group group;
  group.run([] { beside_the_body = 1; });  // race task and body
  beside_the_body = 2;                     // race task and body
  group.wait();
}
int after_the_wait = 0;
void serial_around_a_wait() {
  after_the_wait = 1;
  filch::task_group group;
  group.run([] { use(after_the_wait); });
  group.run([] { use(after_the_wait); });
  group.wait();
  after_the_wait = 2;
  group.run([] { after_the_wait = 3; });
  group.wait();
  use(after_the_wait);
}
int below_a_join = 0;
void outlives_its_join() {
  filch::task_group group;
  filch::join([&] { group.run([] { below_a_join = 1; }); }, [] {});  // race below a join
  below_a_join = 2;                                                  // race below a join
  group.wait();
  below_a_join = 3;
}
int by_a_grandchild = 0;
void task_of_a_task() {
  filch::task_group group;
  group.run([&] { group.run([] { by_a_grandchild = 1; }); });  // race grandchild
  use(by_a_grandchild);                                        // race grandchild
  group.wait();
}
[[gnu::noinline]] void touch_frames() {
  int own[512];
  for (int& each : own) asm volatile("" ::"g"(&(each = 1)) : "memory");
}
void frames_of_a_task_with_a_nested_one() {
  filch::task_group group;
  group.run([&] {
    group.run([] {});
    touch_frames();
  });
  touch_frames();
  group.wait();
}
int of_the_inner_group = 0;
void groups_in_tasks() {
  filch::task_group group;
  group.run([] {
    filch::task_group inner;
    inner.run([] { of_the_inner_group = 1; });
    inner.wait();
    use(of_the_inner_group);
  });
  group.wait();
  of_the_inner_group = 2;
}
int of_the_outer_group = 0;
void inner_wait_joins_no_outer_task() {
  filch::task_group outer;
  filch::task_group inner;
  outer.run([] { of_the_outer_group = 1; });  // race outer task
  inner.run([] {});
  inner.wait();
  of_the_outer_group = 2;  // race outer task
  outer.wait();
}
int in_a_loop = 0;
void tasks_of_a_loop() {
  filch::task_group group;
  filch::for_index(0, 8, [&](int i) {
    group.run([i] {
      if (i == 3 || i == 5) in_a_loop = i;  // race tasks of a loop
    });
  });
  group.wait();
}
int by_a_future = 0;
int read_of_a_future = 0;
void futures() {
  filch::task_group group;
  auto early = group.fork([] { return by_a_future = 1; });
  use(early.get());
  use(by_a_future);
  auto late = group.fork([] { return read_of_a_future = 1; });  // race future
  use(read_of_a_future);                                        // race future
  use(late.get());
  group.wait();
}
int before_get = 0;
void futures_that_no_one_gets() {
  filch::task_group group;
  {
    auto dropped = group.fork([] { return before_get = 1; });  // race dropped future
  }
  before_get = 2;  // race dropped future
  group.wait();
  before_get = 3;
}
void moves_and_ends() {
  filch::task_group group;
  for (int i = 0; i < 4; ++i) {
    auto own = std::make_unique<std::vector<int>>(100, i);
    group.run([own = std::move(own)] { use((*own)[7]); });
  }
  auto result = group.fork([] { return std::vector<int>(50, 1); });
  use(result.is_ready());
  use(result.get()[3]);
  group.wait();
}
void exceptions_and_a_cancelled_group() {
  filch::task_group group;
  for (int i = 0; i < 3; ++i) group.run([i] { throw i; });
  try {
    group.wait();
  } catch (int) {
  }
  group.cancel();
  group.run([] {});
  group.wait();
}
int in_the_inner_group = 0;
void a_group_with_the_token_of_another_one() {
  filch::task_group outer;
  filch::task_group inner(outer.get_token());
  inner.run([] { in_the_inner_group = 1; });
  inner.wait();
  outer.cancel();
  inner.run([] { in_the_inner_group = 2; });
  if (inner.wait() || in_the_inner_group != 1) std::abort();
  outer.wait();
}
int from_outside = 0;
void outside_all_pools() {
  filch::task_group group;
  group.run([] { from_outside = 1; });  // race from outside
  group.run([&group] {
    group.run([] { from_outside = 2; });  // race from outside
  });
  auto f = group.fork([] { return 5; });
  use(f.get());
  group.wait();
}

void all() {
  for (auto* const run : {two_tasks, task_and_body, serial_around_a_wait, outlives_its_join, task_of_a_task,
                          frames_of_a_task_with_a_nested_one, groups_in_tasks, inner_wait_joins_no_outer_task,
                          tasks_of_a_loop, futures, futures_that_no_one_gets, moves_and_ends,
                          exceptions_and_a_cancelled_group, a_group_with_the_token_of_another_one}) {
    filch::default_scheduler::default_pool().run(run);
  }
  outside_all_pools();
}

}  // namespace cases

int main(int count, char** arguments) {
  return checked::main_of(count, arguments, __FILE__, [](std::string const&) { cases::all(); });
}

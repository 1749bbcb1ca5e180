// Task groups with and without races: tasks of tasks, tasks below joins, futures, groups outside all pools.
#include <filch/filch.hpp>
#include <filch/pipeline.hpp>
#include <filch/task_group.hpp>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <thread>
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

// Pipelines. `up_to` is a source with a counter of its own.

auto up_to(int last) {
  return [i = 0, last]() mutable { return i < last ? std::optional(i++) : std::nullopt; };
}
void sums_of_serial_stages() {
  int sum = 0, product = 1, i = 0;
  filch::pipeline(
      2, [&] { return i < 8 ? std::optional(i++) : std::nullopt; }, filch::serial_out_of_order([&](int x) {
        sum += x;
        return x + 1;
      }),
      [](int x) { return x * x; }, filch::serial_in_order([&](int x) { product *= x; }));
  if (sum != 28 || product == 1) std::abort();
}
void items_with_memory() {
  using item = std::unique_ptr<std::vector<int>>;
  std::vector<item> kept;
  int i = 0;
  filch::pipeline(
      3, [&] { return i < 8 ? std::optional(std::make_unique<std::vector<int>>(10, i++)) : std::nullopt; },
      [](item its) {
        its->push_back(1);
        return its;
      },
      filch::serial_in_order([](item its) {
        its->push_back(2);
        return its;
      }),
      [](item its) {
        its->push_back(3);
        return its;
      },
      filch::serial_out_of_order([&](item its) { kept.push_back(std::move(its)); }));
  for (auto const& each : kept) use(each->at(12));
}
int by_parallel_stages = 0;
int by_two_stages = 0;
int by_source_and_stage = 0;
int by_branches_of_a_stage = 0;
void races_in_a_pipeline() {
  filch::pipeline(2, up_to(4), [](int) { ++by_parallel_stages; });  // race parallel stages
  filch::pipeline(2, up_to(4), filch::serial_in_order([](int x) {
                    by_two_stages = x;  // race two stages
                    return x;
                  }),
                  filch::serial_in_order([](int) { use(by_two_stages); }));  // race two stages
  filch::pipeline(
      2,
      [i = 0]() mutable {
        ++by_source_and_stage;  // race source and stage
        return i < 4 ? std::optional(i++) : std::nullopt;
      },
      filch::serial_in_order([](int) { use(by_source_and_stage); }));  // race source and stage
  filch::pipeline(2, up_to(2), filch::serial_in_order([](int) {
                    filch::join([] { by_branches_of_a_stage = 1; },   // race branches of a stage
                                [] { by_branches_of_a_stage = 2; });  // race branches of a stage
                  }));
}
void pipeline_of_one_item_at_a_time() {
  int common = 0;
  filch::pipeline(1, [&] { return common < 8 ? std::optional(common) : std::nullopt; }, [&](int) { ++common; });
}
void pipelines_that_end_early() {
  int thrown = 0, through = 0;
  try {
    filch::pipeline(
        2, up_to(8), [](int x) { return x == 3 ? throw std::runtime_error("third") : x; },
        filch::serial_in_order([&](int) { ++through; }));
  } catch (std::runtime_error const&) {
    ++thrown;
  }
  std::stop_source source;
  bool const is_whole = filch::pipeline(source.get_token(), 2, up_to(8), filch::serial_in_order([&](int x) {
                                          if (x == 3) source.request_stop();
                                        }));
  if (thrown != 1 || through != 3 || is_whole) std::abort();
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
void threads_add_outside_all_pools() {
  constexpr int k_tasks = 20'000;
  filch::task_group group;
  std::atomic<int> ran{0};
  std::atomic<int> ready{0};
  auto const add = [&] {
    ready.fetch_add(1);
    while (ready.load() != 4) {
    }
    for (int i = 0; i < k_tasks; ++i) group.run([&ran] { ran.fetch_add(1); });
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(add);
  for (auto& each : threads) each.join();
  group.wait();
  if (ran.load() != 4 * k_tasks) std::abort();
}

void all() {
  for (auto* const run :
       {two_tasks, task_and_body, serial_around_a_wait, outlives_its_join, task_of_a_task,
        frames_of_a_task_with_a_nested_one, groups_in_tasks, inner_wait_joins_no_outer_task, tasks_of_a_loop, futures,
        futures_that_no_one_gets, moves_and_ends, exceptions_and_a_cancelled_group,
        a_group_with_the_token_of_another_one, sums_of_serial_stages, items_with_memory, races_in_a_pipeline,
        pipeline_of_one_item_at_a_time, pipelines_that_end_early}) {
    filch::default_scheduler::default_pool().run(run);
  }
  outside_all_pools();
  threads_add_outside_all_pools();
}

}  // namespace cases

int main(int count, char** arguments) {
  return checked::main_of(count, arguments, __FILE__, [](std::string const&) { cases::all(); });
}

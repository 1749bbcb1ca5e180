// Forks with and without races: joins, scopes, loops, recursion, exceptions, nested pools, stays and detached tasks.
#include <filch/filch.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "checked.hpp"

// Not an unnamed namespace: variables there that are only written would vanish.
namespace cases {

constexpr int k_many = 64;
/// So that a value is computed.
template <class Value> [[gnu::always_inline]] inline void use(Value x) { asm volatile("" ::"g"(x)); }

// Joins.

int written_twice = 0;
void two_writes() {
  filch::join([] { written_twice = 1; },   // race two writes
              [] { written_twice = 2; });  // race two writes
}
int alpha = 0;
void write_beside_read() {
  filch::join([] { alpha = 1; },    // race write beside read
              [] { use(alpha); });  // race write beside read
}
int beta = 0;
void read_beside_write() {
  filch::join([] { use(beta); },  // race read beside write
              [] { beta = 1; });  // race read beside write
}
int shared_input = 5;
void two_reads() {
  filch::join([] { use(shared_input); }, [] { use(shared_input); });
}
int before_and_after = 0;
void serial_around_a_join() {
  before_and_after = 1;
  filch::join([] { use(before_and_after); }, [] { use(before_and_after); });
  before_and_after = 2;
  filch::join([] { before_and_after = 3; }, [] {});
  use(before_and_after);
}
int in_second_join = 0;
void joins_in_a_row() {
  filch::join([] { in_second_join = 1; }, [] {});
  filch::join([] { in_second_join = 2; }, [] {});
  filch::join([] {}, [] { in_second_join = 3; });
}
int of_a_cousin = 0;
void cousins() {
  filch::join([] { filch::join([] {}, [] { of_a_cousin = 1; }); },   // race cousins
              [] { filch::join([] { of_a_cousin = 2; }, [] {}); });  // race cousins
}
int after_inner_join = 0;
void after_an_inner_join() {
  filch::join(
      [] {
        filch::join([] { use(1); }, [] { use(2); });
        after_inner_join = 1;  // race after an inner join
      },
      [] { use(after_inner_join); });  // race after an inner join
}
std::array<int, 4> of_four{};
void invoke_four() {
  filch::invoke([] { of_four[0] = 1; }, [] { of_four[1] = 1; }, [] { of_four[2] = 1; }, [] { of_four[3] = 1; });
}
int of_third = 0;
void invoke_first_and_third() {
  filch::invoke([] { of_third = 1; },          // race first and third
                [] {}, [] { of_third = 2; });  // race first and third
}
void results() {
  auto const [a, b] =
      filch::join([] { return std::vector<int>(10, 1); }, [] { return std::string("a longer string than fits"); });
  use(a[3] + b[3]);
}
void captured_by_reference() {
  int n = 0;
  filch::join([&n] { n = 1; },   // race captured
              [&n] { n = 2; });  // race captured
  use(n);
}
void captured_by_value() {
  int n = 0;
  filch::join([n]() mutable { use(++n); }, [n]() mutable { use(++n); });
}
[[gnu::noinline]] long frame_of_many_slots(int seed) {
  long slots[32];
  for (int i = 0; i < 32; ++i) slots[i] = seed + i;
  return std::accumulate(std::begin(slots), std::end(slots), 0L);
}
void frames_share_a_stack() {
  for (int i = 0; i < 3; ++i) filch::join([i] { use(frame_of_many_slots(i)); }, [i] { use(frame_of_many_slots(i)); });
}
long local_of_a_branch(int depth) {
  long own[4] = {depth, 1, 2, 3};
  if (depth == 0) return own[0];
  filch::join([&own, depth] { own[1] = local_of_a_branch(depth - 1); },
              [&own, depth] { own[2] = local_of_a_branch(depth - 1); });
  return own[1] + own[2];
}
void recursion_with_own_locals() { use(local_of_a_branch(6)); }
long fib(int n) {
  if (n < 2) return n;
  auto const [a, b] = filch::join([n] { return fib(n - 1); }, [n] { return fib(n - 2); });
  return a + b;
}
void fibonacci() { use(fib(10)); }
int depth_reached = 0;
void descend(int n) {
  depth_reached = n;  // race recursion
  if (n != 0) filch::join([n] { descend(n - 1); }, [n] { descend(n - 1); });
}
void recursion_with_a_race() { descend(4); }
void sort(int* first, int* last) {
  if (last - first < 8) return std::sort(first, last);
  int const pivot = *(first + (last - first) / 2);
  int* const low = std::partition(first, last, [pivot](int x) { return x < pivot; });
  int* const high = std::partition(low, last, [pivot](int x) { return x == pivot; });
  filch::join([=] { sort(first, low); }, [=] { sort(high, last); });
}
std::vector<int> shuffled(int n) {
  std::vector<int> all(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) all[static_cast<std::size_t>(i)] = i * 7919 % n;
  return all;
}
void quicksort() {
  auto all = shuffled(500);
  sort(all.data(), all.data() + all.size());
}
void merge_into(int const* from, int n, int* to) {
  if (n == 1) {
    *to = *from;
    return;
  }
  std::vector<int> halves(static_cast<std::size_t>(n));
  filch::join([&] { merge_into(from, n / 2, halves.data()); },
              [&] { merge_into(from + n / 2, n - n / 2, halves.data() + n / 2); });
  std::merge(halves.begin(), halves.begin() + n / 2, halves.begin() + n / 2, halves.end(), to);
}
void mergesort() {
  auto const all = shuffled(200);
  std::vector<int> sorted(all.size());
  merge_into(all.data(), 200, sorted.data());
}
struct tree {
  int value = 0;
  std::unique_ptr<tree> left{}, right{};
};
std::unique_ptr<tree> grow(int depth) {
  auto made = std::make_unique<tree>();
  if (depth != 0) filch::join([&] { made->left = grow(depth - 1); }, [&] { made->right = grow(depth - 1); });
  return made;
}
int weight(tree const* t) {
  if (t == nullptr) return 0;
  auto const [a, b] = filch::join([t] { return weight(t->left.get()); }, [t] { return weight(t->right.get()); });
  return a + b + 1;
}
void trees_of_the_heap() { use(weight(grow(5).get())); }
int node_count = 0;
void count_nodes(tree const* t) {
  if (t == nullptr) return;
  ++node_count;  // race count of nodes
  filch::join([t] { count_nodes(t->left.get()); }, [t] { count_nodes(t->right.get()); });
}
void count_of_nodes() { count_nodes(grow(3).get()); }
struct virtual_base {
  virtual ~virtual_base() = default;
  virtual int value() const { return 1; }
};
struct derived final : virtual_base {
  int value() const override { return 2; }
};
void objects_with_virtual_functions() {
  filch::join([] { use(std::make_unique<derived>()->value()); }, [] { use(std::make_unique<derived>()->value()); });
  derived d;
  filch::join([&d] { use(static_cast<virtual_base&>(d).value()); },
              [&d] { use(static_cast<virtual_base&>(d).value()); });
}

// Scopes.

int of_two_tasks = 0;
void tasks_of_a_scope() {
  filch::scope([](auto& s) {
    s.spawn([] { of_two_tasks = 1; });  // race tasks
    s.spawn([] { of_two_tasks = 2; });  // race tasks
  });
}
int in_the_body = 0;
void task_beside_the_body() {
  filch::scope([](auto& s) {
    s.spawn([] { in_the_body = 1; });  // race body
    use(in_the_body);                  // race body
  });
}
int after_a_sync = 0;
void sync_between() {
  filch::scope([](auto& s) {
    s.spawn([] { after_a_sync = 1; });
    s.sync();
    s.spawn([] { after_a_sync = 2; });
    s.sync();
    use(after_a_sync);
  });
  use(after_a_sync);
}
int of_a_grandchild = 0;
void wait_for_children_only() {
  filch::scope([](auto& outer) {
    filch::scope([&outer](auto& inner) {
      inner.spawn([] {});
      outer.spawn([] { of_a_grandchild = 1; });  // race grandchild
      inner.sync();
      use(of_a_grandchild);  // race grandchild
    });
  });
}
int of_an_inner_scope = 0;
void inner_scope_has_ended() {
  filch::scope([](auto& outer) {
    outer.spawn([] { filch::scope([](auto& inner) { inner.spawn([] { of_an_inner_scope = 1; }); }); });
    outer.sync();
    use(of_an_inner_scope);
  });
}
std::array<int, k_many> of_tasks{};
void a_task_for_each() {
  filch::scope([](auto& s) {
    for (std::size_t i = 0; i < k_many; ++i) s.spawn([i] { of_tasks[i] = static_cast<int>(i); });
  });
}
std::array<int, k_many + 1> of_neighbours{};
void a_task_reads_its_neighbour() {
  filch::scope([](auto& s) {
    for (std::size_t i = 0; i < k_many; ++i)
      s.spawn([i] { of_neighbours[i] = of_neighbours[i + 1] + 1; });  // race neighbour
  });
}
void loop_variable_by_reference() {
  std::array<int, 4> to{};
  std::size_t i = 0;
  filch::scope([&](auto& s) {
    for (; i < 3; ++i)              // race loop variable
      s.spawn([&] { to[i] = 1; });  // race loop variable
    s.sync();
  });
}
void loop_variable_by_value() {
  std::array<int, 4> to{};
  filch::scope([&](auto& s) {
    for (std::size_t i = 0; i < 4; ++i) s.spawn([&to, i] { to[i] = 1; });
  });
}
template <class Spawner> [[gnu::noinline]] void spawn_from_deep(Spawner& s, int depth, std::array<int, 8>& to) {
  long own[16] = {};
  own[depth] = depth;
  s.spawn([&to, depth] { to[static_cast<std::size_t>(depth)] = static_cast<int>(frame_of_many_slots(depth)); });
  if (depth != 0) spawn_from_deep(s, depth - 1, to);
  use(own[depth]);
}
void spawns_at_several_depths() {
  std::array<int, 8> to{};
  filch::scope([&to](auto& s) {
    spawn_from_deep(s, 7, to);
    use(frame_of_many_slots(1));
    s.spawn([] { use(frame_of_many_slots(2)); });
    s.sync();
    spawn_from_deep(s, 3, to);
  });
}
[[gnu::noinline]] void fill(long* to, int n) {
  for (int i = 0; i < n; ++i) to[i] = i;
}
[[gnu::noinline]] void touch_frames() {
  long own[512];
  fill(own, 512);
  use(own[3]);
}
template <class Spawner> [[gnu::noinline]] void spawn_below(Spawner& s) {
  long own[1024];
  fill(own, 1024);
  s.spawn([] {});
  use(own[3]);
}
void task_above_an_older_one() {
  filch::scope([](auto& s) {
    spawn_below(s);
    s.spawn([] { touch_frames(); });
    touch_frames();
  });
}
void task_with_a_nested_one() {
  filch::scope([](auto& s) {
    s.spawn([&s] {
      spawn_below(s);
      touch_frames();
    });
    touch_frames();
    s.spawn([] { touch_frames(); });
  });
}
template <class Spawner> [[gnu::noinline]] void helper(Spawner& s) {
  int own = 0;
  s.spawn([&own] { own = 1; });  // race helper
  own = 2;                       // race helper
  s.sync();
  use(own);
}
void local_of_a_helper() {
  filch::scope([](auto& s) { helper(s); });
}
void large_closures() {
  std::array<int, 100> values{};
  std::array<int, 2> sums{};
  filch::scope([&sums, values](auto& s) {
    for (std::size_t i = 0; i < 2; ++i)
      s.spawn([&sums, values, i] { sums[i] = std::accumulate(values.begin(), values.end(), 0); });
  });
}

// Loops. Each iteration is a branch.

std::array<int, k_many> of_a_loop{};
void loop_of_own_elements() {
  filch::for_index(0, k_many, [](int i) { of_a_loop[static_cast<std::size_t>(i)] = i; });
}
std::array<int, k_many> carried{};
constexpr std::size_t at(int i) { return static_cast<std::size_t>(i); }
void loop_carried() {
  filch::for_index(1, k_many, [](int i) { carried[at(i)] = carried[at(i - 1)] + 1; });  // race carried
}
int sum_of_loop = 0;
void loop_sum() {
  filch::for_index(0, k_many, [](int) { sum_of_loop += 1; });  // race sum
}
std::array<int, k_many> scattered{};
void loop_permutation() {
  filch::for_index(0, k_many, [](int i) { scattered[static_cast<std::size_t>(i * 5 % k_many)] = i; });
}
std::array<int, k_many> colliding{};
void loop_that_is_no_permutation() {
  filch::for_index(0, k_many, [](int i) { colliding[static_cast<std::size_t>(i / 2)] = i; });  // race collision
}
std::array<char, k_many> of_bytes{};
void loop_of_bytes() {
  filch::for_index(0, k_many, [](int i) { of_bytes[static_cast<std::size_t>(i)] = 'x'; });
}
std::array<short, k_many> of_shorts{};
void loop_of_shorts() {
  filch::for_index(0, k_many, [](int i) { of_shorts[static_cast<std::size_t>(i)] = 1; });
}
struct bits {
  unsigned low : 4;
  unsigned high : 4;
};
bits one_byte{};
void neighbouring_bits() {
  filch::join([] { one_byte.low = 1; },    // race bits
              [] { one_byte.high = 2; });  // race bits
}
void loop_in_a_loop() {
  std::array<std::array<int, 8>, 8> grid{};
  filch::for_index(0, 8, [&grid](int i) {
    filch::for_index(0, 8,
                     [&grid, i](int k) { grid[static_cast<std::size_t>(i)][static_cast<std::size_t>(k)] = i * k; });
  });
}
std::array<int, 8> of_columns{};
void inner_loops_collide() {
  filch::for_index(0, 8, [](int) {
    filch::for_index(0, 8, [](int k) { of_columns[static_cast<std::size_t>(k)] += 1; });  // race columns
  });
}
void private_scratch() {
  filch::for_index(0, k_many, [](int i) {
    std::array<int, 8> scratch{};
    for (int& x : scratch) x = i;
    use(scratch[3]);
  });
}
std::array<int, 8> common_scratch{};
void shared_scratch() {
  filch::for_index(0, k_many, [](int i) { common_scratch[static_cast<std::size_t>(i % 8)] = i; });  // race scratch
}
void task_in_a_loop() {
  std::array<int, k_many> to{};
  filch::for_index(0, k_many,
                   [&to](int i) { filch::join([&to, i] { to[static_cast<std::size_t>(i)] = i; }, [] {}); });
}

// Exceptions, pools, stays, detached tasks.

int beside_a_throw = 0;
void a_branch_that_throws() {
  try {
    filch::join(
        [] {
          beside_a_throw = 1;  // race throw
          throw std::runtime_error("left");
        },
        [] { beside_a_throw = 2; });  // race throw
  } catch (std::runtime_error const&) {
  }
  beside_a_throw = 3;
}
[[gnu::noinline]] void throws_deep(int depth) {
  if (depth == 0) throw std::runtime_error("deep");
  throws_deep(depth - 1);
}
void exceptions_without_a_race() {
  for (int i = 0; i < 4; ++i) {
    try {
      filch::join([] { throws_deep(5); }, [] { throws_deep(3); });
    } catch (std::runtime_error const& e) {
      use(e.what()[0]);
    }
    try {
      filch::scope([](auto& s) {
        s.spawn([] { throws_deep(2); });
        s.spawn([] { throws_deep(2); });
      });
    } catch (std::runtime_error const&) {
    }
  }
}
int in_an_inner_pool = 0;
void nested_pools() {
  filch::cactus::pool inner;
  filch::direct::pool outer;
  outer.run([&inner] {
    filch::join(
        [&inner] {
          inner.run([] { filch::join<filch::cactus>([] { in_an_inner_pool = 1; }, [] {}); });  // race nested pools
        },
        [] { in_an_inner_pool = 2; });  // race nested pools
  });
}
int in_a_stay = 0;
void joins_in_a_stay() {
  filch::default_scheduler::default_pool().run(
      [] { filch::stay([] { filch::join([] { in_a_stay = 1; }, [] { in_a_stay = 2; }); }); });
}
/// The checked thread is in a stay meanwhile: that is no stay of the other one.
void scope_of_a_thread_that_is_not_checked() {
  std::atomic<int> step{0};
  auto const await = [&step](int n) {
    while (step.load() != n) std::this_thread::yield();
  };
  bool is_kept = false;
  std::thread other;
  filch::default_scheduler::default_pool().run([&] {
    other = std::thread([&] {
      try {
        filch::scope([&](auto& s) {
          step = 1;
          await(2);
          s.spawn([] { throw std::runtime_error("kept up to the end of the scope"); });
          is_kept = true;
        });
      } catch (std::runtime_error const&) {
      }
      step = 3;
    });
    await(1);
    filch::stay([&] {
      step = 2;
      await(3);
    });
  });
  other.join();
  if (!is_kept) std::abort();
}
int beside_a_stay = 0;
void stay_beside_a_branch() {
  filch::join([] { filch::stay([] { beside_a_stay = 1; }); },  // race stay
              [] { beside_a_stay = 2; });                      // race stay
}
int in_a_pool_in_a_stay = 0;
void pool_in_a_stay() {
  filch::channel::pool inner;
  filch::default_scheduler::default_pool().run([&inner] {
    filch::stay([&inner] {
      inner.run([] {
        filch::join<filch::channel>([] { in_a_pool_in_a_stay = 1; },   // race pool in a stay
                                    [] { in_a_pool_in_a_stay = 2; });  // race pool in a stay
      });
    });
  });
}
int of_detached = 0;
void detached_tasks() {
  filch::channel::default_pool().run([] {
    filch::channel::detach([] { of_detached = 1; });  // race detached
    filch::channel::detach([] { of_detached = 2; });  // race detached
    filch::channel::barrier();
    of_detached = 3;
  });
}
int after_a_run = 0;
void detached_beyond_the_run() {
  filch::channel::pool pool;
  pool.run([] { filch::channel::detach([] { after_a_run = 1; }); });  // race beyond
  after_a_run = 2;                                                    // race beyond
}
int after_a_pool = 0;
void detached_and_the_end_of_the_pool() {
  {
    filch::channel::pool pool;
    pool.run([] { filch::channel::detach([] { after_a_pool = 1; }); });
  }
  after_a_pool = 2;
}
void other_schedulers() {
  std::array<int, 3> to{};
  filch::join<filch::channel>([&to] { to[0] = 1; }, [&to] { to[1] = 1; });
  filch::join<filch::implicit>([&to] { to[0] = 2; }, [&to] { to[1] = 2; });
  filch::join<filch::serial>([&to] { to[0] = 3; }, [&to] { to[0] = 4; });
  filch::for_index<filch::cactus>(0, 3, [&to](int i) { to[static_cast<std::size_t>(i)] = i; });
}
std::array<int, 2> stoppable{};
void joins_with_a_token() {
  std::stop_source source;
  filch::join(source.get_token(), [] { stoppable[0] = 1; }, [] { stoppable[1] = 1; });
  filch::for_index(source.get_token(), 0, 10, [&source](int i) {
    if (i == 5) source.request_stop();
  });
}

// A race only if atomic accesses count as plain ones.

std::atomic<int> counted{0};
void atomic_counts() {
  filch::join([] { counted.fetch_add(1); }, [] { counted.fetch_add(1); });
}
int* element = nullptr;
void element_of_the_heap() {
  auto const made = std::make_unique<int[]>(8);
  element = made.get();
  filch::join([] { element[3] = 1; },   // race heap
              [] { element[3] = 2; });  // race heap
}

// More pairs of source places than a report has.

int by_many_functions = 0;
template <std::size_t Number> [[gnu::noinline]] void write_once() { by_many_functions = static_cast<int>(Number); }
template <std::size_t... Number> void many_pairs(std::index_sequence<Number...>) {
  void (*const all[])() = {write_once<Number>...};
  for (auto* const each : all) filch::join(each, each);
}

void all() {
  for (auto* const run : {two_writes,
                          write_beside_read,
                          read_beside_write,
                          two_reads,
                          serial_around_a_join,
                          joins_in_a_row,
                          cousins,
                          after_an_inner_join,
                          invoke_four,
                          invoke_first_and_third,
                          results,
                          captured_by_reference,
                          captured_by_value,
                          frames_share_a_stack,
                          recursion_with_own_locals,
                          fibonacci,
                          recursion_with_a_race,
                          quicksort,
                          mergesort,
                          trees_of_the_heap,
                          count_of_nodes,
                          objects_with_virtual_functions,
                          tasks_of_a_scope,
                          task_beside_the_body,
                          sync_between,
                          wait_for_children_only,
                          inner_scope_has_ended,
                          a_task_for_each,
                          a_task_reads_its_neighbour,
                          loop_variable_by_reference,
                          loop_variable_by_value,
                          spawns_at_several_depths,
                          task_above_an_older_one,
                          task_with_a_nested_one,
                          local_of_a_helper,
                          large_closures,
                          loop_of_own_elements,
                          loop_carried,
                          loop_sum,
                          loop_permutation,
                          loop_that_is_no_permutation,
                          loop_of_bytes,
                          loop_of_shorts,
                          neighbouring_bits,
                          loop_in_a_loop,
                          inner_loops_collide,
                          private_scratch,
                          shared_scratch,
                          task_in_a_loop,
                          a_branch_that_throws,
                          exceptions_without_a_race,
                          nested_pools,
                          joins_in_a_stay,
                          scope_of_a_thread_that_is_not_checked,
                          stay_beside_a_branch,
                          pool_in_a_stay,
                          detached_tasks,
                          detached_beyond_the_run,
                          detached_and_the_end_of_the_pool,
                          other_schedulers,
                          joins_with_a_token,
                          atomic_counts,
                          element_of_the_heap}) {
    run();
  }
}

}  // namespace cases

int main(int count, char** arguments) {
  return checked::main_of(count, arguments, __FILE__, [](std::string const& name) {
    if (name == "many") return cases::many_pairs(std::make_index_sequence<1'003>());
    cases::all();
  });
}

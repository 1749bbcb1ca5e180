// Locks and atomics with and without races.
#include <filch/filch.hpp>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <stop_token>
#include <thread>
#include <vector>

#include "checked.hpp"

// Not an unnamed namespace: variables there that are only written would vanish.
namespace cases {

/// So that a value is computed.
template <class Value> [[gnu::always_inline]] inline void use(Value x) { asm volatile("" ::"g"(x)); }
template <class Fn> void twice(Fn f) { filch::join(f, f); }

std::mutex of_std;
int under_a_lock = 0;
void one_lock() {
  twice([] {
    std::lock_guard const lock(of_std);
    ++under_a_lock;
  });
}
std::timed_mutex of_time;
std::shared_timed_mutex shared_of_time;
int under_timed_locks = 0;
int under_shared_timed_locks = 0;
void timed_locks() {
  twice([] {
    while (!of_time.try_lock_for(std::chrono::seconds(1))) {
    }
    ++under_timed_locks;
    of_time.unlock();
    while (!shared_of_time.try_lock_until(std::chrono::system_clock::now() + std::chrono::seconds(1))) {
    }
    ++under_shared_timed_locks;
    shared_of_time.unlock();
    while (!shared_of_time.try_lock_shared_for(std::chrono::seconds(1))) {
    }
    use(under_shared_timed_locks);
    shared_of_time.unlock_shared();
  });
}
filch::mutex of_filch;
int under_filch_s = 0;
void one_filch_mutex() {
  filch::for_index(0, 20, [](int) {
    std::lock_guard const lock(of_filch);
    ++under_filch_s;
  });
}
int under_two_locks = 0;
void different_locks() {
  filch::join(
      [] {
        std::lock_guard const lock(of_std);
        ++under_two_locks;  // race different locks
      },
      [] {
        std::lock_guard const lock(of_filch);
        ++under_two_locks;  // race different locks
      });
}
int read_without_lock = 0;
void lock_on_one_side() {
  filch::join(
      [] {
        std::lock_guard const lock(of_std);
        read_without_lock = 1;  // race one side
      },
      [] { use(read_without_lock); });  // race one side
}
int under_an_outer_lock = 0;
void lock_held_across_a_join() {
  std::lock_guard const lock(of_filch);
  filch::join([] { under_an_outer_lock = 1; },   // race across
              [] { under_an_outer_lock = 2; });  // race across
}
int in_two_holds = 0;
void locks_held_across_joins_of_branches() {
  twice([] {
    std::lock_guard const lock(of_filch);
    filch::join([] { in_two_holds = 1; }, [] {});
  });
}
int of_three = 0;
void three_locks_in_pairs() {
  static std::mutex a, b, c;
  filch::invoke(
      [] {
        std::scoped_lock const lock(a, b);
        ++of_three;
      },
      [] {
        std::scoped_lock const lock(b, c);
        ++of_three;
      },
      [] {
        std::scoped_lock const lock(a, c);
        ++of_three;
      });
}
std::shared_mutex readers;
int for_readers = 0;
void shared_lock() {
  filch::join(
      [] {
        std::shared_lock const lock(readers);
        use(for_readers);
      },
      [] {
        std::unique_lock const lock(readers);
        ++for_readers;
      });
}
int written_by_readers = 0;
void writes_under_a_shared_lock() {
  filch::join(
      [] {
        std::shared_lock const lock(readers);
        written_by_readers = 1;  // race readers
      },
      [] {
        std::shared_lock const lock(readers);
        written_by_readers = 2;  // race readers
      });
}

// Mutexes at one address that are several.

int under_own_mutexes = 0;
void mutex_of_each_task() {
  twice([] {
    filch::mutex own;
    std::lock_guard const lock(own);
    ++under_own_mutexes;  // race own mutexes
  });
}
thread_local filch::mutex of_the_thread;
int under_a_thread_s = 0;
void mutex_of_each_thread() {
  twice([] {
    std::lock_guard const lock(of_the_thread);
    ++under_a_thread_s;  // race thread's mutex
  });
}
int under_new_mutexes = 0;
void mutex_of_each_allocation() {
  twice([] {
    auto const own = std::make_unique<std::mutex>();
    std::lock_guard const lock(*own);
    ++under_new_mutexes;  // race new mutexes
  });
}
int under_a_local_one = 0;
void mutexes_that_branches_share() {
  filch::mutex local;
  auto const of_the_heap = std::make_unique<filch::mutex>();
  twice([&] {
    std::lock_guard const lock(local);
    ++under_a_local_one;
  });
  twice([&] {
    std::lock_guard const lock(*of_the_heap);
    ++under_a_local_one;
  });
}
std::atomic<int> counter{0};
void atomic_counter() {
  filch::for_index(0, 20, [](int) { counter.fetch_add(1); });
  use(counter.load());
}
int mostly_atomic = 0;
void atomic_beside_plain() {
  filch::join([] { std::atomic_ref<int>(mostly_atomic).fetch_add(1); },  // race atomic and plain
              [] { mostly_atomic = 1; });                                // race atomic and plain
}
std::atomic<long> compared{0};
void compare_and_exchange() {
  filch::for_index(0, 20, [](int i) {
    long seen = compared.load(std::memory_order_relaxed);
    while (!compared.compare_exchange_weak(seen, seen + i)) {
    }
  });
}

// Callbacks of stop tokens, whose list the standard library guards by a bit of an atomic.

void stop_callbacks_on_one_token() {
  std::stop_source source;
  std::stop_token const token = source.get_token();
  filch::for_index(0, 8, [&token](int) {
    std::stop_callback const outer(token, [] {});
    twice([&token] { std::stop_callback const inner(token, [] {}); });
  });
}
void stop_callbacks_on_the_heap() {
  std::stop_source source;
  std::stop_token const token = source.get_token();
  auto const nothing = [] {};
  using callback = std::stop_callback<decltype(nothing)>;
  std::vector<std::unique_ptr<callback>> all(8);
  filch::for_index(0, 8, [&](std::size_t i) { all[i] = std::make_unique<callback>(token, nothing); });
  filch::for_index(0, 8, [&](std::size_t i) { all[i ^ 1].reset(); });
}
void stop_request_beside_callbacks() {
  std::stop_source source;
  std::atomic<int> hits{0};
  filch::for_index(0, 8, [&](int i) {
    std::stop_callback const outer(source.get_token(), [&hits] { ++hits; });
    if (i == 3) source.request_stop();
  });
  use(hits.load());
}
int hits = 0;
void count_a_hit() {
  ++hits;  // race callback
}
void race_in_stop_callbacks() {
  std::stop_source source;
  source.request_stop();
  twice([&source] { std::stop_callback const mine(source.get_token(), count_a_hit); });
}
void moved_into_stop_callbacks() {
  std::stop_source source;
  std::function<void()> f = [] {};
  auto const take = [&] {
    std::stop_callback<std::function<void()>> const mine(source.get_token(), std::move(f));  // race moved
  };
  filch::join([&] { take(); }, [&] { take(); });
}
void assigned_stop_source() {
  std::stop_source source;
  auto const assign = [&source] { source = std::stop_source(); };  // race source
  filch::join([&] { assign(); }, [&] { assign(); });
}

void all() {
  for (auto* const run : {one_lock,
                          timed_locks,
                          one_filch_mutex,
                          different_locks,
                          lock_on_one_side,
                          lock_held_across_a_join,
                          locks_held_across_joins_of_branches,
                          three_locks_in_pairs,
                          shared_lock,
                          writes_under_a_shared_lock,
                          mutex_of_each_task,
                          mutex_of_each_thread,
                          mutex_of_each_allocation,
                          mutexes_that_branches_share,
                          atomic_counter,
                          atomic_beside_plain,
                          compare_and_exchange,
                          stop_callbacks_on_one_token,
                          stop_callbacks_on_the_heap,
                          stop_request_beside_callbacks,
                          race_in_stop_callbacks,
                          moved_into_stop_callbacks,
                          assigned_stop_source}) {
    run();
  }
}

}  // namespace cases

int main(int count, char** arguments) {
  return checked::main_of(count, arguments, __FILE__, [](std::string const&) { cases::all(); });
}

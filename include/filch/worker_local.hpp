// worker_local: a value for each worker, for code that may change threads at a join.
#pragma once

#include <filch/detail/standard.hpp>
#if defined(FILCH_RACES)
#include <filch/detail/race_hooks.hpp>
#endif

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <optional>
#include <utility>

namespace filch::inline FILCH_ABI {
namespace detail {

/// A small number that no other thread has at the same time. The first call in a thread throws std::bad_alloc if
/// 65536 threads have one already. It is a call into the library, so that no compiler keeps the number, or the
/// address of a thread_local, across a join.
FILCH_API unsigned thread_number();
inline constexpr unsigned k_thread_numbers = 1u << 16;

/// A function that makes values. (With std::function this header would take twice the time to compile.)
template <class Value> struct maker {
  virtual ~maker() = default;
  virtual Value make() const = 0;
};
template <class Value, class Make> struct maker_of final : maker<Value> {
  Make function;
  explicit maker_of(Make&& f) : function(std::move(f)) {}
  Value make() const override { return detail::call_with(function); }
};

}  // namespace detail

/// One Value for each thread, made at the thread's first call of local(), in cache lines of its own. While a task
/// runs, no other task has its thread, so it may change the Value without a lock: sums, scratch memory, random number
/// generators. Workers of all pools, also of nested ones, and threads outside all pools may share a worker_local: two
/// threads never get the same Value at once. A thread that begins after another one has ended may get its Value. A
/// child of fork() has the Values of all threads, also of those that stayed in the parent, as they were at the fork.
///
///     filch::worker_local<long> found;
///     filch::for_index(0, n, [&](int i) { found.local() += matches(i); });
///     long const all = found.combine(std::plus<>());
///
/// Several threads may call local() at once. The other functions must not run beside a use: call them after the join,
/// the scope or the run in which it was used.
template <class Value> class worker_local {
 public:
  /// Each Value begins as Value().
  worker_local()
    requires std::is_default_constructible_v<Value>
      : worker_local([] { return Value(); }) {}
  /// Each Value begins as what make() returns, which several threads may call at once.
  template <class Make>
    requires(std::is_invocable_r_v<Value, Make const&> && std::is_move_constructible_v<Make>)
  explicit worker_local(Make make) : make_(new detail::maker_of<Value, Make>(std::move(make))) {}
  /// Each Value begins as a copy of `first`.
  explicit worker_local(Value const& first)
    requires std::is_copy_constructible_v<Value>
      : worker_local([first]() -> Value { return first; }) {}
  worker_local(worker_local const&) = delete;
  worker_local& operator=(worker_local const&) = delete;
  ~worker_local() {
    clear();
    for (auto& chunk : chunks_)
      delete[] chunk.load(std::memory_order_relaxed);  // relaxed: there are no users any more
  }

  /// Returns the calling thread's Value. Valid until the caller's next join, invoke, scope, spawn, sync, loop,
  /// algorithm, pipeline or pool.run, and run, fork, wait or a future's get of a task_group (and mutex::lock, if
  /// FILCH_FORCE_STEAL is on). After that the caller may be on another thread, or another task may have changed the
  /// Value. Throws what making a Value throws, and std::bad_alloc. Cost: a call and a few loads.
  Value& local() {
#if defined(FILCH_RACES)
    // All sections are on one worker here: what they do to its value is not parallel.
    detail::race_has_local(nullptr, 0);
#endif
    node*& place = place_of_caller();
#if defined(FILCH_RACES)
    detail::race_has_local(std::addressof(place), sizeof(place));
#endif
    if (place) [[likely]]
      return own(*place);
    return make_local();
  }

  /// Calls f(Value&) for each existing Value, in no particular order, on the calling thread. Throws what f throws.
  /// Cost: a load for each thread number that was given out, up to the next power of two.
  template <class Fn> void for_each(Fn&& f) {
    for_each_node([&f](node*& place) { f(place->value); });
  }

  /// Folds copies of all values by op(Value, Value const&) and returns the result, which should not depend on their
  /// order. If there are none, returns what make() returns. Throws what op, copies of Value and make() throw. Cost:
  /// as for_each.
  template <class Op> Value combine(Op op) {
    std::optional<Value> sum;
    for_each([&](Value const& value) {
      if (sum) {
        *sum = op(std::move(*sum), value);
      } else {
        sum.emplace(value);
      }
    });
    return sum ? std::move(*sum) : make_->make();
  }

  /// Destroys all values. local() makes new ones.
  void clear() noexcept {
    for_each_node([](node*& place) { delete std::exchange(place, nullptr); });
  }

 private:
  struct alignas(alignof(Value) > 64 ? alignof(Value) : 64) node {
    Value value;
  };

  // Chunk c has the places of 2^c thread numbers. Numbers are given out from zero on.
  static constexpr std::size_t k_chunks = std::bit_width(detail::k_thread_numbers);

  static Value& own(node& mine) noexcept {
#if defined(FILCH_RACES)
    detail::race_has_local(std::addressof(mine.value), sizeof(mine.value));
#endif
    return mine.value;
  }

  node*& place_of_caller() {
    std::size_t const n = std::size_t{detail::thread_number()} + 1;
    auto const c = static_cast<std::size_t>(std::bit_width(n)) - 1;
    // edge local-1: acquire: the empty places.
    node** const chunk = chunks_[c].load(std::memory_order_acquire);
    return (chunk ? chunk : add_chunk(c))[n - (std::size_t{1} << c)];
  }

  FILCH_COLD node** add_chunk(std::size_t c) {
    detail::owned<node*[]> made(new node*[std::size_t{1} << c]());
    node** there = nullptr;
    // edge local-1: release: the empty places; acquire: those of a thread that was faster.
    if (!chunks_[c].compare_exchange_strong(there, made.get(), std::memory_order_release,
                                            std::memory_order_acquire)) {
      return there;
    }
    return made.release();
  }

  FILCH_COLD Value& make_local() {
    detail::owned<node> made;
    for (;;) {
      // make() and the destructor may join and change threads, and make() may call local() itself.
      node*& place = place_of_caller();
      if (place && !made.get()) return own(*place);
      if (place) {
        made.reset();
      } else if (made.get()) {
        place = made.release();
      } else {
        made.reset(new node{make_->make()});
      }
    }
  }

  template <class Fn> void for_each_node(Fn&& f) {
    for (std::size_t c = 0; c < k_chunks; ++c) {
      node** const chunk = chunks_[c].load(std::memory_order_acquire);  // edge local-1
      for (std::size_t i = 0; chunk && i < std::size_t{1} << c; ++i) {
        if (chunk[i]) f(chunk[i]);
      }
    }
  }

  detail::owned<detail::maker<Value>> make_;
  std::array<std::atomic<node**>, k_chunks> chunks_{};
};

}  // namespace filch::inline FILCH_ABI

// A value for each worker, for code that may change threads at a join.
#pragma once

#include <filch/detail/platform.hpp>

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

namespace filch::inline FILCH_ABI {
namespace detail {

/// A small number that no other thread has at the same time. The first call in a thread throws std::bad_alloc where
/// 65536 threads have one already. A call into the library, so that no compiler keeps the answer, nor the address
/// of a thread-local, across a join.
FILCH_API unsigned thread_number();
inline constexpr unsigned k_thread_numbers = 1u << 16;

}  // namespace detail

/// One Value for each thread that asks for it, made at its first call of local(), in cache lines of its own. While a
/// task runs no other one has its thread, so it may change the Value without a lock: sums, scratch memory, random
/// number generators. Workers of any pools, of nested ones too, and threads that are no workers may share a
/// worker_local: two threads never get the same Value at once. A thread that begins after another one has ended may
/// get its Value.
///
///     filch::worker_local<long> found;
///     filch::for_index(0, n, [&](int i) { found.local() += matches(i); });
///     long const all = found.combine(std::plus<>());
///
/// local() may be called by many at once. The other functions want to be alone with it: after the join, the scope
/// or the run in which it was used.
template <class Value> class worker_local {
 public:
  /// Each Value begins as Value().
  worker_local()
    requires std::is_default_constructible_v<Value>
      : make_([] { return Value(); }) {}
  /// Each Value begins as what make() returns, which several threads may call at once.
  template <class Make>
    requires(std::is_invocable_r_v<Value, Make const&> && std::is_copy_constructible_v<Make>)
  explicit worker_local(Make make) : make_(std::move(make)) {}
  worker_local(worker_local const&) = delete;
  worker_local& operator=(worker_local const&) = delete;
  ~worker_local() {
    clear();
    for (auto& chunk : chunks_) delete[] chunk.load(std::memory_order_relaxed);  // relaxed: nobody uses it any more
  }

  /// The calling thread's Value. Valid until the caller's next join, invoke, scope, spawn, sync, for_index or run
  /// (and mutex::lock, where FILCH_FORCE_STEAL is on): after it the caller may be on another thread, or another task
  /// may have changed it. Throws what making a Value throws, and std::bad_alloc. Costs a call and a few loads.
  Value& local() {
    node*& place = place_of_caller();
    if (place) [[likely]]
      return place->value;
    return make_local();
  }

  /// Calls f(Value&) for each Value there is, in no particular order, on the calling thread. Throws what f throws.
  /// Looks at a place for each thread number that was given out, up to the next power of two.
  template <class Fn> void for_each(Fn&& f) {
    for_each_node([&f](node*& place) { f(place->value); });
  }

  /// Folds copies of all values with op(Value, Value const&), which should not depend on their order. What make()
  /// returns where there are none. Throws what op, copies of Value and make() throw. Costs what for_each does.
  template <class Op> Value combine(Op op) {
    std::optional<Value> sum;
    for_each([&](Value const& value) {
      if (sum) {
        *sum = op(std::move(*sum), value);
      } else {
        sum.emplace(value);
      }
    });
    return sum ? std::move(*sum) : make_();
  }

  /// Destroys all values: local() begins with new ones.
  void clear() noexcept {
    for_each_node([](node*& place) { delete std::exchange(place, nullptr); });
  }

 private:
  struct alignas(alignof(Value) > 64 ? alignof(Value) : 64) node {
    Value value;
  };

  // Chunk c has a place for each of 2^c thread numbers; numbers are given out from zero on.
  static constexpr std::size_t k_chunks = std::bit_width(detail::k_thread_numbers);

  node*& place_of_caller() {
    std::size_t const n = std::size_t{detail::thread_number()} + 1;
    auto const c = static_cast<std::size_t>(std::bit_width(n)) - 1;
    // edge local-1: acquire, the empty places.
    node** const chunk = chunks_[c].load(std::memory_order_acquire);
    return (chunk ? chunk : add_chunk(c))[n - (std::size_t{1} << c)];
  }

  FILCH_COLD node** add_chunk(std::size_t c) {
    auto made = std::make_unique<node*[]>(std::size_t{1} << c);
    node** there = nullptr;
    // edge local-1: release, the empty places; acquire, where another thread was faster.
    if (!chunks_[c].compare_exchange_strong(there, made.get(), std::memory_order_release,
                                            std::memory_order_acquire)) {
      return there;
    }
    return made.release();
  }

  FILCH_COLD Value& make_local() {
    std::unique_ptr<node> made(new node{make_()});
    // make() may have joined, and be on another thread now, or have asked for the value itself.
    node*& place = place_of_caller();
    if (!place) place = made.release();
    return place->value;
  }

  template <class Fn> void for_each_node(Fn&& f) {
    for (std::size_t c = 0; c < k_chunks; ++c) {
      node** const chunk = chunks_[c].load(std::memory_order_acquire);  // edge local-1
      for (std::size_t i = 0; chunk && i < std::size_t{1} << c; ++i) {
        if (chunk[i]) f(chunk[i]);
      }
    }
  }

  std::function<Value()> make_;
  std::array<std::atomic<node**>, k_chunks> chunks_{};
};

}  // namespace filch::inline FILCH_ABI

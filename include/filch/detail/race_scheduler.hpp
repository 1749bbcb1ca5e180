// All schedulers of a program that is compiled with FILCH_RACES: joins run in order, and the library filch_races is
// told of each fork. Loops are split into pieces of one iteration.
//
// Branches are calls that are not inlined. Inlined ones would share stack slots, and their accesses to these would
// look like races.
#pragma once

#include <filch/detail/in_order.hpp>
#include <filch/detail/packet.hpp>
#include <filch/detail/pool_of.hpp>
#include <filch/detail/race_hooks.hpp>
#include <filch/scheduler.hpp>

#include <concepts>
#include <exception>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

namespace filch::inline FILCH_ABI::detail {

template <class Fn> FILCH_OUTLINE result_of<Fn> call_race_branch(std::remove_reference_t<Fn>& f) {
  return detail::call(static_cast<Fn&&>(f));
}

struct race_left {
  race_place& place;
  ~race_left() { detail::race_join_turns(place); }
};
class race_right {
 public:
  explicit race_right(race_place& place) noexcept : place_(std::addressof(place)) {}
  race_right(race_right const&) = delete;
  race_right& operator=(race_right const&) = delete;
  ~race_right() { ends(); }
  void ends() noexcept {
    if (place_ != nullptr) detail::race_join_ends(*std::exchange(place_, nullptr));
  }

 private:
  race_place* place_;
};

/// The frame of a join, which is below those of its branches. Results are touched again after the join.
template <class Fn, class Gn>
FILCH_OUTLINE std::pair<result_of<Fn>, result_of<Gn>> race_join(std::remove_reference_t<Fn>& f,
                                                                std::remove_reference_t<Gn>& g) {
  race_place place;
  detail::race_join_begins(place);
  result_slot<result_of<Fn>> a;
  result_slot<result_of<Gn>> b;
  result_slot<std::exception_ptr> of_f;
  auto const left = [&]() -> result_of<Fn> {
    race_left const turns{place};
    return detail::call_race_branch<Fn>(f);
  };
  try {
    a.make(left);
  } catch (...) {
    of_f.make(detail::caught_exception);
    goto threw;
  }
  {
    drop_on_exit<result_of<Fn>> const guard{a};
    race_right joins(place);
    b.make([&]() -> result_of<Gn> { return detail::call_race_branch<Gn>(g); });
    joins.ends();
    drop_on_exit<result_of<Gn>> const guard_of_b{b};
    return {a.take(), b.take()};
  }
threw:
  race_right const joins(place);
  detail::run_after_throw([&]() -> result_of<Gn> { return detail::call_race_branch<Gn>(g); }, of_f.value);
}

/// Forks many times: a scope.
class race_frame {
 public:
  template <class Fn> void spawn(Fn&& f) {
    using closure = std::decay_t<Fn>;
    auto task = std::make_unique<closure>(std::forward<Fn>(f));
    scope_.spawn(&race_frame::run<closure>, task.release());
  }
  void sync() { scope_.sync(); }

  template <class Closure> static void run(void* argument) {
    std::unique_ptr<Closure> const task(static_cast<Closure*>(argument));
    static_cast<void>(std::invoke(std::move(*task)));
  }

 private:
  race_scope scope_;
};

template <unsigned Number, class Options, class Statistics> class race_pool : public race_pool_base {
 public:
  using options = Options;
  using statistics = Statistics;
  explicit race_pool(options const& asked = {}) : race_pool_base(Number, detail::options_as<pool_options>(asked)) {}
  explicit race_pool(no_options) : race_pool(options()) {}
  template <std::same_as<pool_options> Common>
    requires(!std::same_as<Common, options>)
  explicit race_pool(Common const& common) : race_pool_base(Number, common) {}

  template <class Fn> std::invoke_result_t<Fn> run(Fn&& f) {
    return detail::call_through([this](void (*call)(void*), void* argument) { enter(call, argument); },
                                std::forward<Fn>(f));
  }
  statistics stats() const noexcept { return {}; }
  std::size_t written_stack_bytes() const noexcept { return 0; }
};

/// All that the schedulers have in common here.
template <class Sched, unsigned Number> struct race_scheduler {
  static constexpr bool k_is_checked = true;

  template <class Fn, class Gn> FILCH_INLINE static std::pair<result_of<Fn>, result_of<Gn>> join(Fn&& f, Gn&& g) {
    if (inside()) return detail::race_join<Fn, Gn>(f, g);
    return Sched::default_pool().run([&] { return detail::race_join<Fn, Gn>(f, g); });
  }
  using frame = race_frame;
  static bool wanted() noexcept { return false; }
  static bool inside() noexcept { return detail::race_inside(Number); }
  static unsigned worker_index() noexcept { return detail::race_worker_index(Number); }
  static void poll() noexcept {}
  static void attach(task_source&) noexcept {}
  static auto& default_pool() {
    static auto* const the_pool = new typename Sched::pool;
    return *the_pool;
  }
};

}  // namespace filch::inline FILCH_ABI::detail

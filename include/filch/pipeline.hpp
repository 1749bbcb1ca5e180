// pipeline: items flow through stages, some of them serial, with a bound on the items under way.
#pragma once

#include <filch/detail/pipeline_stages.hpp>
#if defined(FILCH_RACES)
#include <filch/detail/race_pipeline.hpp>
#endif
#include <filch/detail/standard.hpp>
#include <filch/task_group.hpp>

#include <cstddef>
#include <mutex>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace filch::inline FILCH_ABI {

/// A stage that takes items one at a time, in the order in which the source gave them.
template <class Fn> detail::in_order_stage<std::decay_t<Fn>> serial_in_order(Fn&& f) { return {std::forward<Fn>(f)}; }
/// A stage that takes items one at a time, in the order in which they arrive.
template <class Fn> detail::any_order_stage<std::decay_t<Fn>> serial_out_of_order(Fn&& f) {
  return {std::forward<Fn>(f)};
}
/// A stage that takes any number of items at once. A callable that is no stage is such a one.
template <class Fn> detail::parallel_stage<std::decay_t<Fn>> parallel(Fn&& f) { return {std::forward<Fn>(f)}; }

namespace detail {

/// A run of a pipeline. An item is a task of the group while it runs, and waits at a gate in between.
template <scheduler Sched, class Source, class... Stages> class pipeline_run {
  static_assert(
      requires { typename std::invoke_result_t<Source&>::value_type; },
      "filch::pipeline: the source must return a std::optional of an item");
  using first_item = typename std::invoke_result_t<Source&>::value_type;
  static constexpr std::size_t k_stages = sizeof...(Stages);
  static constexpr std::size_t k_most = 65'536;  // serial stages have room for so many

  /// Types of the items that a stage and the later ones take.
  template <class Item, class... Rest> struct items_of {
    using type = std::tuple<Item>;
  };
  template <class Item, class Stage, class... Rest> struct items_of<Item, Stage, Rest...> {
    static_assert(std::is_invocable_v<decltype(Stage::f)&, Item>,
                  "filch::pipeline: a stage must take an Item, which the source or the stage before it returns");
    using result = std::decay_t<
        result_of<decltype(detail::stage_call(std::declval<decltype(Stage::f)&>(), std::declval<Item&&>()))>>;
    using type = decltype(std::tuple_cat(std::declval<std::tuple<Item>>(),
                                         std::declval<typename items_of<result, Rest...>::type>()));
  };
  using items = typename items_of<first_item, Stages...>::type;
  template <std::size_t Index> using item = std::tuple_element_t<Index, items>;
  template <std::size_t Index> using stage = std::tuple_element_t<Index, std::tuple<Stages...>>;
  template <std::size_t Index> static auto gate_of() {
    if constexpr (!stage<Index>::is_serial) {
      return std::type_identity<no_gate>{};
    } else {
      return std::type_identity<gate<item<Index>, stage<Index>::is_in_order>>{};
    }
  }
  template <std::size_t... Index> static auto gates_of(std::index_sequence<Index...>) {
    return std::type_identity<std::tuple<typename decltype(gate_of<Index>())::type...>>{};
  }
  using gates = typename decltype(gates_of(std::make_index_sequence<k_stages>()))::type;
  template <std::size_t... Index>
  pipeline_run(task_group<Sched>& group, std::size_t most, Source& source, std::tuple<Stages...>& stages,
               std::index_sequence<Index...>)
      : group_(group), most_(most), source_(source), stages_(stages), gates_(((void)Index, most)...) {}

 public:
  pipeline_run(task_group<Sched>& group, std::size_t most, Source& source, std::tuple<Stages...>& stages)
      : pipeline_run(group,
                     most < 1        ? 1
                     : most > k_most ? k_most
                                     : most,
                     source, stages, std::make_index_sequence<k_stages>()) {}

  void begin() {
    group_.run([this] { next(); });
  }

 private:
  /// Takes an item from the source. One task at a time does.
  void next() {
    auto value = detail::call_with(source_);
    if (!value) return;  // and no task is in here any more
    std::size_t const number = taken_++;
    bool continues = false;
    {
      std::lock_guard<mutex> const lock(mutex_);
      ++under_way_;
      continues = is_in_source_ = under_way_ < most_;
    }
    if (continues) group_.run([this] { next(); });
    bool is_through = false;
    {
      first_item its = std::move(*value);
      value.reset();
      is_through = pass<0>(number, std::move(its));
    }
    if (is_through) ends();
  }

  /// An item is through, and destroyed: there may be room for another one.
  void ends() {
    {
      std::lock_guard<mutex> const lock(mutex_);
      --under_way_;
      if (std::exchange(is_in_source_, true)) return;
    }
    group_.run([this] { next(); });
  }

  /// After a stop request or an exception no stage begins. The group notes that a task was left out, also if the
  /// token says no more that a stop is requested.
  bool is_stopped() {
    if (!group_.is_cancelled()) return false;
    group_.cancel();
    group_.run([] {});
    return true;
  }

  /// A copy where the stage returns a reference.
  template <std::size_t Index> item<Index + 1> run_stage(item<Index>&& value) {
    return detail::call(detail::stage_call(std::get<Index>(stages_).f, std::move(value)));
  }

  /// Returns whether the item is through all stages.
  template <std::size_t Index> bool pass(std::size_t number, item<Index>&& value) {
    if constexpr (Index == k_stages) {
      return true;
    } else if (is_stopped()) {
      return false;
    } else if constexpr (!stage<Index>::is_serial) {
      return pass<Index + 1>(number, run_stage<Index>(std::move(value)));
    } else {
      return std::get<Index>(gates_).enter(number, value) && inside<Index>(number, std::move(value));
    }
  }

  /// In a serial stage. The next item gets a task before this one goes on.
  template <std::size_t Index> bool inside(std::size_t number, item<Index>&& value) {
    item<Index + 1> result = run_stage<Index>(std::move(value));
    if (auto follows = std::get<Index>(gates_).leave()) {
      group_.run([this, its = std::move(*follows)]() mutable {
        bool is_through = false;
        {
          auto own = std::move(its);
          is_through = inside<Index>(own.first, std::move(own.second));
        }
        if (is_through) ends();
      });
    }
    return pass<Index + 1>(number, std::move(result));
  }

  task_group<Sched>& group_;
  std::size_t const most_;
  Source& source_;
  std::tuple<Stages...>& stages_;
  gates gates_;
  std::size_t taken_ = 0;  // of the task in next()
  filch::mutex mutex_;
  std::size_t under_way_ = 0;  // under mutex_
  bool is_in_source_ = true;   // the same: a task is in next(), or will be, or the source has ended
};

template <scheduler Sched, class Source, class... Stages>
bool run_pipeline(task_group<Sched>& group, std::size_t most, Source& source, std::tuple<Stages...> stages) {
#if defined(FILCH_RACES)
  race_pipeline_run<Sched, Source, Stages...> run(group, most, source, stages);
#else
  pipeline_run<Sched, Source, Stages...> run(group, most, source, stages);
#endif
  run.begin();
  return group.wait();
}

}  // namespace detail

/// Takes items from source() until it returns an empty std::optional, and passes each through all stages: the first
/// stage gets the item, each other one what the stage before it returned. At most `most` items are under way at once,
/// and at most 65536.
///
///     filch::pipeline(8, [&]() -> std::optional<std::string> { return next_line(file); },
///                     [](std::string line) { return parse(line); },
///                     filch::serial_in_order([&](record r) { write(out, r); }));
///
/// source() is called by one thread at a time, and so is each serial stage; a callable is a parallel stage. An item
/// whose turn has not come waits in memory, and its worker takes another one. Stages may fork; a serial stage may
/// change threads between two items.
///
/// If the source or a stage throws, no further call of one begins, and the first exception leaves after those under
/// way have ended. Outside all pools it enters the default pool. Continues where `join` may.
/// Cost: a task of a filch::task_group for each item and serial stage.
template <scheduler Sched = default_scheduler, class Source, class... Stages>
  requires(!detail::stop_token_like<Source>)
void pipeline(std::size_t most, Source&& source, Stages&&... stages) {
  detail::inside_pool<Sched>([&] {
    task_group<Sched> group;
    static_cast<void>(
        detail::run_pipeline(group, most, source, std::tuple(detail::as_stage(std::forward<Stages>(stages))...)));
  });
}

/// The same with a token: after a stop request no further call begins. Returns false if one was left out.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class Source, class... Stages>
bool pipeline(Token const& token, std::size_t most, Source&& source, Stages&&... stages) {
  return detail::inside_pool<Sched>([&] {
    task_group<Sched> group(token);
    return detail::run_pipeline(group, most, source, std::tuple(detail::as_stage(std::forward<Stages>(stages))...));
  });
}

}  // namespace filch::inline FILCH_ABI

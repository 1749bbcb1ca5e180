// filch::pipeline in a program that is compiled with FILCH_RACES: one task takes all items from the source, and each
// item is a task of the group for all stages. To the check a serial stage is code under a lock of its own.
#pragma once

#include <filch/detail/pipeline_stages.hpp>
#include <filch/detail/race_hooks.hpp>
#include <filch/task_group.hpp>

#include <cstddef>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

namespace filch::inline FILCH_ABI::detail {

template <scheduler Sched, class Source, class... Stages> class race_pipeline_run {
  static constexpr std::size_t k_stages = sizeof...(Stages);

 public:
  race_pipeline_run(task_group<Sched>& group, std::size_t most, Source& source, std::tuple<Stages...>& stages)
      : group_(group), is_one_by_one_(most <= 1), source_(source), stages_(stages) {}

  void begin() {
    group_.run([this] { take_all(); });
  }

 private:
  class hold {
   public:
    explicit hold(void const* lock) noexcept : lock_(lock) { detail::race_locked(lock_); }
    hold(hold const&) = delete;
    hold& operator=(hold const&) = delete;
    ~hold() { detail::race_unlocked(lock_); }

   private:
    void const* lock_;
  };

  void take_all() {
    while (!is_stopped()) {
      auto value = detail::call_with(source_);
      if (!value) return;
      if (is_one_by_one_) {
        pass<0>(std::move(*value));
      } else {
        group_.run([this, its = std::move(*value)]() mutable { pass<0>(std::move(its)); });
      }
    }
  }

  bool is_stopped() {
    if (!group_.is_cancelled()) return false;
    group_.cancel();
    group_.run([] {});
    return true;
  }

  template <std::size_t Index, class Item> auto run_stage(Item& value) {
    return detail::call(detail::stage_call(std::get<Index>(stages_).f, std::move(value)));
  }
  template <std::size_t Index, class Item> auto run_alone(Item& value) {
    hold const here(std::addressof(locks_[Index]));
    return run_stage<Index>(value);
  }

  template <std::size_t Index, class Item> void pass(Item&& value) {
    if constexpr (Index == k_stages) {
      static_cast<void>(value);
    } else if (is_stopped()) {
      return;
    } else if constexpr (std::tuple_element_t<Index, std::tuple<Stages...>>::is_serial) {
      pass<Index + 1>(run_alone<Index>(value));
    } else {
      pass<Index + 1>(run_stage<Index>(value));
    }
  }

  task_group<Sched>& group_;
  bool const is_one_by_one_;
  Source& source_;
  std::tuple<Stages...>& stages_;
  char locks_[k_stages + 1] = {};  // their addresses are the serial stages' locks
};

}  // namespace filch::inline FILCH_ABI::detail

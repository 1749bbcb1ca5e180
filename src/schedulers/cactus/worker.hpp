// A worker on cactus stacks, and its team. Words and edges: protocol.md beside this file.
#pragma once

#include <filch/cactus.hpp>

#include "runtime/fiber/open_range.hpp"
#include "runtime/fiber/team.hpp"
#include "schedulers/cactus/words.hpp"

#include <algorithm>
#include <utility>

namespace filch::inline FILCH_ABI::detail {

class cactus_team;
class cactus_profile;

struct alignas(64) cactus_member : runtime::fiber_member {
  // A request stands until so many tasks in a row were taken back. Then forks are private again.
  static constexpr unsigned k_taken_back_until_private = 8;

  cactus_member() noexcept : fiber_member(k_cactus_tag, 1, nullptr) {}

  // fixed after start
  fiber_task** base = nullptr;
  std::uint32_t places = 0;
  cactus_profile* profile = nullptr;  // if FILCH_PROFILE measures this worker; set before its first task

  // owner
  alignas(64) unsigned taken_back_in_a_row =
      0;                           // tasks taken back while a request stands, since it came or a task was stolen
  fiber_task** counted = nullptr;  // stack->open_forks counts the forks below

  // owner and thieves
  alignas(64) runtime::open_range open;  // its public places
  places_read taken;

  split_word requests() noexcept { return split_word(*this); }
  std::uint32_t index_of_head() const noexcept { return static_cast<std::uint32_t>(head - base); }
  /// Tasks below this may be offered. Deeper ones stay private: the open range has no numbers for them.
  std::uint32_t end_of_offers() const noexcept { return std::min(index_of_head(), places); }
  bool can_offer_more() const noexcept { return end_of_offers() > open.peek().end; }
};

/// The number of open forks of the worker's fiber since it began, stolen ones included.
inline std::uint64_t open_forks(cactus_member& w) noexcept {
  return w.stack->open_forks += static_cast<std::uint64_t>(w.head - std::exchange(w.counted, w.head));
}
/// So many stolen forks are done, or waited for.
inline void close_forks(cactus_member& w, unsigned stolen) noexcept {
  static_cast<void>(open_forks(w));
  w.stack->open_forks -= stolen;
}

class cactus_team final : public runtime::fiber_team {
 public:
  cactus_team(runtime::settings s, bool tolerate_missing_threads);
  ~cactus_team() override;

  // The owner's slow paths.
  void publish(cactus_member& w) noexcept;
  bool take_back(cactus_member& w) noexcept;
  /// Waits until so many stolen parts have arrived. Continues on any thread.
  void wait_for_thieves(join_counter& m, unsigned stolen) noexcept;
  void start_over_if_far(cactus_member& w) noexcept;
  bool has_room(cactus_member& w) noexcept;

  void serve_thieves(runtime::fiber_member& w) noexcept override;
  void offer_all(runtime::fiber_member& w) noexcept override;

  char const* scheduler_name() const noexcept override { return "cactus"; }
  bool is_measured() const noexcept override { return asked_for().profile; }

 private:
  void make_place(unsigned place) noexcept override;
  void be_worker(unsigned me, void (*call)(void*), void* argument) override;
  void begin_profile(cactus_member& m);
  /// One more task was taken back while a request was answered. True: forks stay public.
  bool goes_on_being_public(cactus_member& w) noexcept;
  /// Nothing is offered for the request any more. While a worker sleeps, or is on its way, it is made anew.
  void make_quiet(cactus_member& w, fiber_task** first_private) noexcept;
  void request_if_others_look(cactus_member& w) noexcept;
  fiber_task* steal_from(runtime::fiber_member& victim, runtime::fiber_member& me,
                         std::uint16_t& root) noexcept override;
  void ask(runtime::fiber_member& victim) noexcept override;
  void request_for_sleepers(runtime::fiber_member& w) noexcept override;
  runtime::fiber_offers offers_of(runtime::fiber_member const& victim) const noexcept override;
  void takes_up(runtime::fiber_member&) noexcept override;
  void gives_up(runtime::fiber_member&) noexcept override;
};

inline cactus_team& team_of(cactus_member& w) noexcept { return static_cast<cactus_team&>(*w.team); }

}  // namespace filch::inline FILCH_ABI::detail

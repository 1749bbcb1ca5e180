// A worker of filch::direct, and the team of all workers of a pool. Each function of the team stands in the file of
// the actor that runs it: offer.cpp and join.cpp the owner, steal.cpp the thief, frame.cpp the owner in a scope,
// pool.cpp callers. What workers share is in filch/detail/direct_words.hpp; protocol: protocol.md.
#pragma once

#include <filch/direct.hpp>

#include "runtime/random.hpp"
#include "runtime/team.hpp"

namespace filch::inline FILCH_ABI::detail {

class direct_team;
class direct_profile;

/// After so many public joins in a row that found their task unstolen, places become private again.
inline constexpr unsigned k_inlined_until_private = 8;

/// A worker. Its array of tasks lies behind it: first_task().
struct alignas(k_cache_line) direct_member : direct_worker {
  direct_member() noexcept : direct_worker(nullptr) {}

  // fixed after start
  direct_team* team = nullptr;
  unsigned index = 0;
  direct_profile* profile = nullptr;  // if FILCH_PROFILE measures this worker; set before its first task

  // owner
  alignas(k_cache_line) unsigned inlined_in_a_row = 0;  // public joins since the last steal or request
  runtime::unasked_offers unasked;
  runtime::random_numbers random;
  direct_worker* outer = nullptr;  // the thread's worker before this one

  direct_task* first_task() noexcept { return reinterpret_cast<direct_task*>(this + 1); }
  direct_task const* first_task() const noexcept { return reinterpret_cast<direct_task const*>(this + 1); }
};

inline direct_member& member(direct_worker& w) noexcept { return static_cast<direct_member&>(w); }

inline bool is_emptied(direct_task const& t) noexcept { return t.run == &direct_run_nothing; }

/// For the team: the number of untaken tasks below `end`. All of them are public.
inline auto untaken(direct_member const& w, direct_task const* end) noexcept {
  return [&w, end] { return w.bot.distance_to(end); };
}

enum class [[nodiscard]] steal_outcome { ran, nothing, backed_off };

class direct_team final : public runtime::team {
 public:
  direct_team(runtime::settings s, bool tolerate_missing_threads);
  ~direct_team() override;

  // Owner: offers.
  void publish(direct_member& w, direct_task* below) noexcept;
  void offer_in_place(direct_member& w, direct_task& t) noexcept;
  void serve_thieves(direct_member& w) noexcept;
  void offer_all(direct_member& w) noexcept;
  // Owner: joins, and runs the tasks of a scope.
  join_outcome join_public(direct_member& w, direct_task& t) noexcept;
  void ask_if_searched(direct_member& w) noexcept;
  void share_before_task(direct_member& w) noexcept;
  void emptied(direct_member& w, direct_task& t) noexcept;

  // The way in and out.
  direct_member* place_of_caller() const noexcept;
  void enter_or_nest(void (*call)(void*), void* argument);

  char const* scheduler_name() const noexcept override { return "direct"; }
  bool is_measured() const noexcept override { return asked_for().profile; }

 private:
  void make_place(unsigned place) noexcept override;
  void be_worker(unsigned me, void (*call)(void*), void* argument) override;
  void run_in_order(void (*call)(void*), void* argument) override;
  bool steal_and_run(unsigned me) override;
  void ask_everybody(unsigned me) noexcept override;
  bool sees_work(unsigned me) const noexcept override;
  void hand_on_wakeup(unsigned me) noexcept override;
  void run_call(unsigned me, std::uint16_t root, void (*call)(void*), void* argument) override;
  std::uint64_t forks_of(unsigned worker) const noexcept override;
  std::byte* unused_above(unsigned me) noexcept override;

  /// be_worker() where FILCH_PROFILE measures, and the same without a place.
  void run_measured(direct_member& m, void (*call)(void*), void* argument);
  static void run_measured_in_order(void (*call)(void*), void* argument);
  void begin_profile(direct_member& m);

  // Owner.
  void has_offered(direct_member& w, bool was_requested, direct_task const* end) noexcept;
  void took_back(direct_member& w, direct_task& t) noexcept;
  direct_state wait_for_thief(direct_member& w, direct_task& t, unsigned thief) noexcept;
  void sleep_until_done(direct_member& w, direct_task& t, unsigned thief) noexcept;
  // Thief.
  steal_outcome steal_from(direct_member& victim, direct_member& me, direct_task const* awaited) noexcept;
  bool offers_task(direct_member const& victim) const noexcept;
  void pass_on(direct_member const& me) noexcept;

  std::vector<direct_member*> members_;  // the member of each place, at the start of its space
};

}  // namespace filch::inline FILCH_ABI::detail

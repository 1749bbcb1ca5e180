// A worker of the direct task stack, and its team. Words, states and edges: protocol.md beside this file.
#pragma once

#include <filch/direct.hpp>

#include "runtime/random.hpp"
#include "runtime/team.hpp"

namespace filch::inline FILCH_ABI::detail {

class direct_team;

struct alignas(k_cache_line) direct_member : direct_worker {
  direct_member() noexcept : direct_worker(nullptr) {}

  // fixed after start
  direct_team* team = nullptr;
  unsigned index = 0;

  // owner
  alignas(k_cache_line) unsigned inlined_in_a_row = 0;  // public joins since the last steal or request
  runtime::unasked_offers unasked;
  runtime::random_numbers random;
  direct_worker* outer = nullptr;  // what the thread was before it became this worker
};

enum class [[nodiscard]] steal_outcome { ran, nothing, backed_off };

class direct_team final : public runtime::team {
 public:
  direct_team(runtime::settings s, bool tolerate_missing_threads);
  ~direct_team() override;

  // The owner's slow paths.
  void publish(direct_member& w, direct_task* below) noexcept;
  void answer_in_place(direct_member& w, direct_task const* end) noexcept;
  void has_offered(direct_member& w, bool was_asked, direct_task const* end) noexcept;
  join_outcome join_public(direct_member& w, direct_task& t) noexcept;
  void took_public(direct_member& w) noexcept;
  void emptied(direct_member& w, direct_task& t) noexcept;

  // The way in and out.
  void serve_thieves(direct_member& w) noexcept;
  void offer_all(direct_member& w) noexcept;
  direct_member* place_of_caller() const noexcept;
  void enter_or_nest(void (*call)(void*), void* argument);

  char const* scheduler_name() const noexcept override { return "direct"; }

 private:
  void make_place(unsigned place) noexcept override;
  void be_worker(unsigned me, void (*call)(void*), void* argument) override;
  void run_in_order(void (*call)(void*), void* argument) override;
  bool steal_and_run(unsigned me) override;
  void ask_everybody(unsigned me) noexcept override;
  bool sees_work(unsigned me) const noexcept override;
  std::uint64_t forks_of(unsigned worker) const noexcept override;
  std::byte* unused_above(unsigned me) noexcept override;

  steal_outcome steal_from(direct_member& victim, direct_member& me) noexcept;
  bool offers_task(direct_member const& victim) const noexcept;
  /// Who was woken, or is awake already, wakes another for what is left.
  void pass_on(direct_member const& me) noexcept {
    team::pass_on(me.index, [this](unsigned i) { return offers_task(*members_[i]); }, no_root);
  }
  direct_state wait_for_thief(direct_member& w, direct_task& t, unsigned thief) noexcept;
  void sleep_until_done(direct_member& w, direct_task& t, unsigned thief) noexcept;
  void took_back(direct_member& w, direct_task& t) noexcept;

  std::vector<direct_member*> members_;  // of each place, at the start of its space, its tasks behind it
};

}  // namespace filch::inline FILCH_ABI::detail

// A team whose workers run fibers: code on stacks of their own, which may leave a worker at a join and continue on
// another one. The scheduler decides what is offered and stolen.
#pragma once

#include <filch/detail/fiber.hpp>
#include <filch/fiber_stats.hpp>

#include "runtime/fiber/forced_steals.hpp"
#include "runtime/fiber/hooks.hpp"
#include "runtime/fiber/stack_pool.hpp"
#include "runtime/forced_steals.hpp"
#include "runtime/random.hpp"
#include "runtime/team.hpp"

#include <memory>
#include <string>
#include <vector>

namespace filch::runtime {

class fiber_team;

/// The last step for a fiber that has left its stack, done by the worker that it left.
struct fiber_parting {
  enum { ended, suspends, resumes, moves, returns } what = ended;
  detail::join_counter* counter = nullptr;  // suspends: adds `stolen` to it; resumes: the continued frame's
  std::int32_t stolen = 0;
  fiber_stack* next = nullptr;  // resumes: the stack of the frame that continues here
};

/// The offers of a worker: the number of untaken tasks, and the root of its fiber.
struct fiber_offers {
  std::uint32_t untaken = 0;
  std::uint16_t root = k_any_root;
};

struct alignas(64) fiber_member : detail::fiber_worker {
  using fiber_worker::fiber_worker;

  // fixed after start
  fiber_team* team = nullptr;
  unsigned index = 0;
  std::uint16_t limit = k_any_root;  // a caller's: the root that it may take tasks of

  // owner
  alignas(64) random_numbers random;
  unasked_offers unasked;
  fiber_stack* home = nullptr;   // the stack on which the worker searches
  bool has_used_home = false;    // a call ran there, for want of another stack
  unsigned leaves = 0;           // of a caller's place
  fiber_stack* stack = nullptr;  // the stack of the fiber that it runs
  fiber_stack* spare = nullptr;
  detail::fiber_task* next_task = nullptr;  // for a fiber that begins
  void (*next_call)(void*) = nullptr;       // the same, of a caller from outside
  void* next_argument = nullptr;
  fiber_parting parting;
  char const* fiber_around = nullptr;  // for hooks: the fiber in which a pool was entered, while a fiber of it runs
  std::uint64_t faults = 0;            // page faults of its thread at its last trim, or at its entry; 0: unknown
};

/// The worker of the calling fiber, or null. In a child of fork() the fiber is outside: null.
fiber_member* member_of_fiber() noexcept;
inline fiber_member& this_member() noexcept { return *member_of_fiber(); }
/// With forced steals: others run on this worker first, and the fiber continues later, on any worker. False, and
/// nothing has happened: the caller is no fiber, or has offers.
bool fiber_gives_way() noexcept;

class fiber_team : public team {
 public:
  bool give_way(fiber_member& w) noexcept;
  /// True if so many parts have arrived: the join counter is over then.
  static bool have_arrived(detail::join_counter& m, unsigned stolen) noexcept;
  /// Leaves the stack until `stolen` parts have arrived at the join counter. Continues on any thread.
  void wait_for_parts(detail::join_counter& m, unsigned stolen) noexcept;
  /// The calling thread's place in this team, where it is further out on its stack; else null.
  fiber_member* place_of_caller() const noexcept;
  /// On the calling thread's fiber: attaches s to its team, with its root.
  static bool attach_here(detail::task_source& s, detail::fiber_kind of) noexcept;
  /// For pool_of::enter.
  void enter_or_nest(void (*call)(void*), void* argument);
  std::size_t written_stack_bytes() const noexcept;
  /// For pool_of::stats.
  void add_to(fiber_stats& all) const noexcept;
  std::string own_figures() const override;
  /// Before a task of this team enters another pool, or stays.
  virtual void serve_thieves(fiber_member&) noexcept = 0;
  /// Before its worker waits in the system: offers all that it can.
  virtual void offer_all(fiber_member&) noexcept = 0;
  /// A stay, or another pool's run, begins in a task of this team. Before its thieves are served.
  virtual void keep_interrupts_away(fiber_member&) noexcept {}
  /// It is over. Before its thieves are served.
  virtual void admit_interrupts(fiber_member&) noexcept {}

 protected:
  /// lower_bytes says how many bytes the scheduler wants at the low end of stacks of that size; null: none.
  fiber_team(settings s, bool tolerate_missing_threads, std::size_t (*lower_bytes)(std::size_t));
  /// From the scheduler's make_place().
  void add(fiber_member& m, unsigned place) noexcept;

  fiber_member& member(unsigned i) const noexcept { return *members_[i]; }
  /// After an offer by its owner.
  void has_offered(fiber_member& w, bool was_asked) noexcept;
  bool should_ask_itself(fiber_member& w) noexcept {
    return team::should_ask_itself(w.unasked, [&] { return offers_of(w).untaken; }, w.stack->root);
  }
  /// Does the victim offer a task that a worker with this limit may take?
  bool offers_task(fiber_member const& victim, std::uint16_t limit = k_any_root) const noexcept {
    fiber_offers const o = offers_of(victim);
    return o.untaken != 0 && (limit == k_any_root || limit == o.root);
  }
  /// May that worker take tasks that the victim's fiber forks?
  bool may_take_from(fiber_member const& me, fiber_member const& victim) const noexcept {
    return me.limit == k_any_root || me.limit == offers_of(victim).root;
  }
  /// With forced steals: hands over all offers of the worker's fiber, as if thieves had come first.
  void hand_over_offers(fiber_member& w) noexcept {
    if constexpr (k_steals_are_forced) hand_over_all(w);
  }

  // Hooks.
  /// Takes a task of a root that the thief may take, and sets `root`; or requests one. With forced steals the victim
  /// may be the thief.
  virtual detail::fiber_task* steal_from(fiber_member& victim, fiber_member& me, std::uint16_t& root) noexcept = 0;
  virtual void ask(fiber_member& victim) noexcept = 0;
  /// Code of the program that the stolen task will run, for traces.
  virtual void const* code_of(detail::fiber_task const& task) const noexcept {
    return reinterpret_cast<void const*>(task.run);
  }
  /// The worker requests an offer of itself in place of searching workers that have not requested one here. If it is
  /// too early for a request, one of them is woken, and requests later.
  virtual void request_for_sleepers(fiber_member& w) noexcept { ask(w); }
  /// edge idle-1: in order after the announcement.
  virtual fiber_offers offers_of(fiber_member const& victim) const noexcept = 0;
  /// Was a request put off, so that a searching worker should wake another one?
  virtual bool is_owed(unsigned) const noexcept { return false; }
  /// The worker is about to continue the fiber on w.stack. Afterwards offers_of() tells its root.
  virtual void takes_up(fiber_member&) noexcept {}
  /// The fiber on w.stack leaves the worker, and waits for nothing.
  virtual void gives_up(fiber_member&) noexcept {}
  /// The worker runs no fiber any more.
  virtual void is_free(fiber_member&) noexcept {}
  void be_worker(unsigned me, void (*call)(void*), void* argument) override;
  bool steal_and_run(unsigned me) override;

 private:
  void run_root(fiber_member& me, void (*call)(void*), void* argument) noexcept;
  bool has_used_own_stack(unsigned me) noexcept override;
  void run_at_home(fiber_member& me, void (*call)(void*), void* argument) noexcept;
  void run_in_order(void (*call)(void*), void* argument) override;
  /// A stack is taken, begun and left for each. Thieves never pause if steals cost nothing.
  steal_cost cost_of_steal() const noexcept override {
    if (k_steals_at_any_pace) return {};
    return {.least = 6'000, .for_search = 8, .most = 32'000};
  }
  void ask_everybody(unsigned me) noexcept override;
  bool sees_work(unsigned me) const noexcept override;
  void run_call(unsigned me, std::uint16_t root, void (*call)(void*), void* argument) override;
  std::uint64_t forks_of(unsigned) const noexcept override { return 0; }

  [[noreturn]] static void fiber_main(void*) noexcept;
  void begin_call(fiber_member& me, std::uint16_t root, void (*call)(void*), void* argument) noexcept;
  void run_fiber(fiber_member& w) noexcept;
  void trim(fiber_member& w, fiber_stack& left) noexcept;
  void trim_waiting(fiber_member& w, fiber_stack& left) noexcept;
  void go_on(fiber_member& w, fiber_stack& frame, detail::join_counter const& m) noexcept;
  bool moves_on(fiber_member const& w, detail::join_counter const& m) const noexcept;
  void hand_over(handed_over::work what) noexcept;
  void hand_over_all(fiber_member& w) noexcept;
  /// With forced steals: runs work that another worker has handed over. False: there is none.
  bool run_handed_over(fiber_member& me) noexcept { return k_steals_are_forced && run_newest_handed_over(me); }
  bool run_newest_handed_over(fiber_member& me) noexcept;
  bool need_spare(fiber_member& w) noexcept;

  fiber_hooks const hooks_ = fiber_hooks_now();
  bool const has_hooks_ = hooks_.enter || hooks_.leave;
  fiber_stack_pool stacks_;
  handed_over handed_over_;
  std::vector<fiber_member*> members_;    // the member of each place, at the start of its space
  std::unique_ptr<fiber_stack[]> homes_;  // the home of each place's worker
};

}  // namespace filch::runtime

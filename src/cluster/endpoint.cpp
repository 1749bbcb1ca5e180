// The endpoint's looks: it takes the messages that have arrived, and hands each one to its part. Rank workers and
// main loops call it. Its short functions, which lock and call one part, are in calls.cpp. Protocol: protocol.md.
#include "cluster/endpoint.hpp"

#include <filch/detail/cluster_rank_worker.hpp>

namespace filch::inline FILCH_ABI::detail {
namespace {

// A worker that receives returns to its tasks after so many messages.
constexpr int k_messages_a_look = 256;
// Looks of the watchdog in one tick, if no worker looks and more messages wait than one look takes.
constexpr int k_looks_a_tick = 64;

}  // namespace

any_transport::~any_transport() = default;
endpoint_interface::~endpoint_interface() = default;

endpoint::endpoint(any_transport& carrier, unsigned silence, unsigned arrival)
    : endpoint_interface(carrier.rank(), carrier.ranks()),
      messenger_(carrier),
      bounds_(messenger_, bound_values_),
      termination_(messenger_, bounds_),
      heartbeats_(messenger_, silence, arrival),
      results_(messenger_),
      requests_(messenger_, results_, heartbeats_, hints_),
      reduction_(messenger_) {}

endpoint::~endpoint() = default;

void endpoint::check() const noexcept {
  runtime::check("rank's messages", [this] { return messenger_.broken(); });
  runtime::check("rank's termination", [this] { return termination_.broken(); });
  runtime::check("rank's heartbeats", [this] { return heartbeats_.broken(); });
  runtime::check("rank's requests", [this] { return requests_.broken(); });
  runtime::check("rank's reduction", [this] { return reduction_.broken(); });
}

look_result endpoint::poll(task_deque& mine, std::size_t spare, bool may_request) {
  std::unique_lock const lock(mutex_, std::try_to_lock);
  if (!lock) return look_result::idle;
  look(mine, spare, may_request, look_weight::working, arrivals::come);
  return requests_.take_was_requested() ? look_result::requested : look_result::idle;
}

look_result endpoint::poll_in_task(task_deque& mine, std::size_t spare) {
  std::unique_lock const lock(mutex_, std::try_to_lock);
  if (!lock) return look_result::idle;
  // It takes no task, and so it requests none: two ranks in long tasks would send one task to and fro.
  look(mine, spare, false, look_weight::working, arrivals::stay);
  return requests_.take_was_requested() ? look_result::requested : look_result::idle;
}

look_result endpoint::poll_waiting(task_deque& mine, bool may_request, bool may_take) {
  std::unique_lock const lock(mutex_, std::try_to_lock);
  if (!lock) return look_result::idle;
  if (may_take) hints_.worker_waits.write(false);
  look_result const found = look(mine, 0, may_request, look_weight::waiting, arrivals::come);
  if (may_take) hints_.worker_waits.write(mine.empty());
  return found;
}

look_result endpoint::look(task_deque& mine, std::size_t spare, bool may_request, look_weight weight,
                           arrivals where) {
  begin_look();
  bounds_.send_improved();
  return requests_.look(mine, spare, may_request, weight, where);
}

void endpoint::begin_look() {
  check();
  hints_.overdue.write(false);
  heartbeats_.note_look(receive() == received::some);
  take_tick();
}

endpoint::help_outcome endpoint::help(task_deque& mine, std::unique_ptr<partial>& part, std::uint64_t& run) {
  std::lock_guard const lock(mutex_);
  if (run == 0) run = termination_.run();
  if (!termination_.main_loop_works() || run != termination_.run()) return help_outcome::leave;
  if (root_part_ && !part) part = root_part_->another();
  look_result const found = look(mine, 0, true, look_weight::waiting, arrivals::come);
  if (!mine.empty()) {
    termination_.helper_begins();
    return help_outcome::work;
  }
  if (found == look_result::refused) return help_outcome::leave;
  return requests_.is_under_way() ? help_outcome::requested : help_outcome::nothing;
}

endpoint::idle_outcome endpoint::idle(task_deque& mine, bool may_request) {
  std::lock_guard const lock(mutex_);
  termination_.set_main_loop_works(true);
  waits_no_more();
  if (!mine.empty()) return idle_outcome::work;
  begin_look();
  bool const refused = requests_.take_was_refused();
  requests_.move_inbox(mine);
  if (!mine.empty()) return idle_outcome::work;
  termination_.set_main_loop_works(false);
  // Helpers may have tasks for this loop and for thieves.
  bool const is_helped = termination_.helpers() > 0;
  hints_.worker_waits.write(is_helped);
  auto const late = static_cast<unsigned>(look_weight::working) * (hints_.workers.read() + 1);
  requests_.serve(mine, 0, is_helped ? late : 1);
  bounds_.send_improved();
  // Passive from here until the mutex is free, unless there are helpers.
  if (!is_helped && !termination_.run_has_ended()) termination_.answer_wave();
  if (termination_.run_has_ended()) return idle_outcome::ended;
  if (refused) return idle_outcome::refused;
  if (may_request) requests_.send_request();
  return idle_outcome::nothing;
}

endpoint::received endpoint::receive() {
  for (int i = 0; i < k_messages_a_look; ++i) {
    try {
      auto const m = messenger_.receive();
      if (!m) return received::all;
      dispatch(*m);
    } catch (...) {
      messenger_.lose("a message");
      throw;
    }
    heartbeats_.send_due();
  }
  return received::some;
}

void endpoint::dispatch(std::span<std::byte const> bytes) {
  unpacker u(bytes);
  auto const kind = get<message_kind>(u);
  messenger_.count_received(kind);
  switch (kind) {
    case message_kind::request: return requests_.take_request(u);
    case message_kind::tasks: return requests_.take_tasks(bytes);
    case message_kind::result: return results_.take_result(u);
    case message_kind::bound: return bounds_.take_bound(u);
    case message_kind::probe: return termination_.take_probe();
    case message_kind::counts: return termination_.take_counts(u);
    case message_kind::end: return termination_.take_end();
    case message_kind::up: return reduction_.take_up(bytes);
    case message_kind::down: return reduction_.take_down(bytes);
    case message_kind::heartbeat: return heartbeats_.take_heartbeat(u);
    case message_kind::farewell: return heartbeats_.take_farewell(u);
  }
}

void endpoint::take_tick() {
  if (!heartbeats_.take_due_tick()) return;
  check();
  if (!heartbeats_.take_look()) {
    hints_.overdue.write(true);
    int looks = 0;
    received found = receive();
    while (found == received::some && ++looks < k_looks_a_tick) found = receive();
    heartbeats_.note_more(found == received::some);
    bounds_.send_improved();
    requests_.forward_all();
  }
  heartbeats_.send_due();
  heartbeats_.watch();
}

}  // namespace filch::inline FILCH_ABI::detail

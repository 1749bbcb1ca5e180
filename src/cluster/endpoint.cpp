#include "cluster/messages.hpp"

#include <filch/detail/cluster_share.hpp>

namespace filch::inline FILCH_ABI::detail {
namespace {

// A worker looks at so many messages at most, and goes on with its tasks.
constexpr int k_messages_a_look = 256;
// What a look counts of a worker that begins its last task; those of one that waits follow each other at once.
constexpr unsigned k_look_of_worker = 16;
constexpr unsigned k_look_of_waiter = 1;

reduction_part part_in(std::span<std::byte const> bytes, part_header header) {
  return {header.what, {bytes.begin() + sizeof(std::byte) + sizeof header, bytes.end()}};
}

}  // namespace

any_transport::~any_transport() = default;

endpoint::endpoint(any_transport& carrier, unsigned silence, unsigned arrival)
    : transport_(carrier),
      me_(carrier.rank()),
      ranks_(carrier.ranks()),
      silence_(silence),
      arrival_(silence > 0 ? arrival : 0),
      random_(0x9e3779b97f4a7c15u * static_cast<std::uint64_t>(me_ + 1)) {}

endpoint::~endpoint() = default;

// Workers with a share

bool endpoint::poll(task_deque& mine, std::size_t spare, bool may_ask) {
  std::unique_lock const lock(mutex_, std::try_to_lock);
  if (!lock) return false;
  look(mine, spare, may_ask, k_look_of_worker);
  return std::exchange(was_asked_, false);
}

bool endpoint::poll_waiting(task_deque& mine, bool may_ask, bool may_take) {
  std::unique_lock const lock(mutex_, std::try_to_lock);
  if (!lock) return false;
  if (may_take) share_waits_.store(false, std::memory_order_relaxed);
  bool const refused = look(mine, 0, may_ask, k_look_of_waiter);
  if (may_take) share_waits_.store(mine.empty(), std::memory_order_relaxed);
  return refused;
}

/// Returns whether a request of this rank has come back since the last look.
bool endpoint::look(task_deque& mine, std::size_t spare, bool may_ask, unsigned weight) {
  begin_look();
  bool const refused = std::exchange(refused_, false);
  std::size_t const came = mine.size() < 2 ? move_arrived(mine) : 0;
  send_bounds();
  std::size_t const left = serve(mine, spare, shares_.load(std::memory_order_relaxed));  // relaxed: policy
  if (share_waits_.load(std::memory_order_relaxed) && inbox_.empty()) leave_in_inbox(mine, (left + came + 1) / 2);
  bool const drained = seems_drained(spare, weight);
  if (drained && may_ask && !refused && mine.size() < 2) ask();
  return refused;
}

/// Who waits comes for them, at its own time: what was left for it before may just have come back.
void endpoint::leave_in_inbox(task_deque& mine, std::size_t count) {
  if (count == 0) return;
  inbox_.take_oldest_of(mine, count);
  arrived_.store(true, std::memory_order_relaxed);  // relaxed: the mutex orders the rest
}

void endpoint::begin_look() {
  polled_ = true;
  overdue_.store(false, std::memory_order_relaxed);  // relaxed: a hint
  has_more_ = receive();
  take_tick();
}

/// Has each share begun its last task, or none to begin? As far as looks have shown since one had more.
bool endpoint::seems_drained(std::size_t spare, unsigned weight) noexcept {
  auto const shares = shares_.load(std::memory_order_relaxed);  // relaxed: policy
  looks_in_vain_ = spare > 0 ? 0 : std::min(looks_in_vain_ + weight, k_look_of_worker * shares);
  return spare == 0 && (shares <= 1 || looks_in_vain_ == k_look_of_worker * shares);
}

bool endpoint::take_arrived(task_deque& mine) {
  if (!arrived_.load(std::memory_order_relaxed)) return false;  // relaxed: the mutex orders the rest
  std::lock_guard const lock(mutex_);
  move_arrived(mine);
  return !mine.empty();
}

/// Returns how many there were.
std::size_t endpoint::move_arrived(task_deque& mine) {
  std::size_t const count = inbox_.size();
  if (count > 0) inbox_.renew_oldest();
  mine.take_oldest_of(inbox_, count);
  arrived_.store(false, std::memory_order_relaxed);
  return count;
}

// Workers of the pool that have nothing to do

bool endpoint::wants_help(unsigned workers) {
  std::unique_lock const lock(mutex_, std::try_to_lock);
  if (!lock || !root_works_) return false;
  return !inbox_.empty() || shares_.load(std::memory_order_relaxed) < workers;  // relaxed: policy
}

endpoint::help_outcome endpoint::help(task_deque& mine, std::unique_ptr<partial>& part, std::uint64_t& run) {
  std::lock_guard const lock(mutex_);
  if (run == 0) run = runs_begun_;
  if (!root_works_ || run != runs_begun_) return help_outcome::leave;
  if (of_root_ && !part) part = of_root_->another();
  bool const refused = look(mine, 0, true, k_look_of_waiter);
  if (!mine.empty()) {
    ++helpers_;
    return help_outcome::work;
  }
  if (refused) return help_outcome::leave;
  return asking_ ? help_outcome::asks : help_outcome::nothing;
}

void endpoint::help_ends() {
  std::lock_guard const lock(mutex_);
  --helpers_;
}

// The main loop

void endpoint::begin_run(partial const* of_root) {
  std::lock_guard const lock(mutex_);
  of_root_ = of_root;
  ++runs_begun_;
  ++calls_;
  received_before_.reset();
  waits_no_more();
  looks_in_vain_ = 0;
  refused_ = false;
}

bool endpoint::leave_run() {
  std::lock_guard const lock(mutex_);
  root_works_ = false;
  of_root_ = nullptr;
  return helpers_ == 0;
}

endpoint::outcome endpoint::idle(task_deque& mine, bool may_ask) {
  std::lock_guard const lock(mutex_);
  root_works_ = true;
  waits_no_more();
  if (!mine.empty()) return outcome::work;
  begin_look();
  bool const refused = std::exchange(refused_, false);
  move_arrived(mine);
  if (!mine.empty()) return outcome::work;
  root_works_ = false;
  // Who helps may have tasks for this loop, and for those who ask.
  auto const shares = shares_.load(std::memory_order_relaxed);  // relaxed: policy
  share_waits_.store(helpers_ > 0, std::memory_order_relaxed);
  serve(mine, 0, helpers_ > 0 ? k_look_of_worker * (shares + 1) : 1);
  send_bounds();
  // Passive from here on, until the mutex is free again, unless others help.
  if (helpers_ == 0 && runs_ended_ < runs_begun_) answer_wave();
  if (runs_ended_ == runs_begun_) return outcome::ended;
  if (refused) return outcome::refused;
  if (may_ask) ask();
  return outcome::nothing;
}

// Messages

/// Returns whether there may be more.
bool endpoint::receive() {
  for (int i = 0; i < k_messages_a_look; ++i) {
    try {
      auto const m = transport_.receive();
      if (!m) return false;
      handle(*m);
    } catch (...) {
      lose("a message");
      throw;
    }
    send_due_heartbeat();
  }
  return true;
}

void endpoint::handle(std::span<std::byte const> bytes) {
  unpacker u(bytes);
  kind const what = get<kind>(u);
  bool const is_counted = what < kind::up;
  counted_.received += is_counted;
  switch (what) {
    case kind::request: {
      steal_request request{get<std::int32_t>(u), get<std::int32_t>(u), get<std::int32_t>(u), 0};
      if (request.thief != me_) {
        was_asked_ = true;
        if (!closing_) requests_.push_back(request);
      } else {
        asking_ = false;
        refused_ = true;
        ++stats_.returns;
      }
      break;
    }
    case kind::tasks: handle_tasks(bytes); break;
    case kind::result: handle_result(u); break;
    case kind::bound: {
      ++basic_.received;
      unsigned const id = get<unsigned>(u);
      raise(id, get<std::int64_t>(u));
      break;
    }
    case kind::probe:
      wave_here_ = true;
      for_each_child([this](int child) { send(child, message_of(kind::probe)); });
      break;
    case kind::counts:
      ++wave_answers_;
      wave_sum_.sent += get<std::uint64_t>(u);
      wave_sum_.received += get<std::uint64_t>(u);
      break;
    case kind::end: end_run(); break;
    case kind::up: {
      auto const header = get<part_header>(u);
      ups_[header.closing].push_back(part_in(bytes, header));
      break;
    }
    case kind::down:
      for_each_child([&](int child) { send(child, message(bytes.begin(), bytes.end())); });
      result_ = part_in(bytes, get<part_header>(u));
      break;
    case kind::heartbeat: {
      heard_ = true;
      expecting_ = true;
      ++heartbeats_received_;
      auto const calls = get<std::uint64_t>(u);
      if (get<bool>(u)) calls_of_before_ = calls;
      break;
    }
    case kind::farewell: farewell_ = get<std::uint64_t>(u); break;
  }
}

void endpoint::send(int to, message m) {
  bool const is_counted = static_cast<kind>(m.front()) < kind::up;
  counted_.sent += is_counted;
  ++stats_.messages;
  hand_over(to, std::move(m));
}

void endpoint::send_basic(int to, message m) {
  ++basic_.sent;
  send(to, std::move(m));
}

void endpoint::hand_over(int to, message m) {
  try {
    transport_.send(to, std::move(m));
  } catch (...) {
    lose("a message");
    throw;
  }
}

void endpoint::end_all(std::string_view text) {
  std::lock_guard const lock(mutex_);
  transport_.end_all(text);
}

void endpoint::end_over_loss(std::string_view what) {
  std::lock_guard const lock(mutex_);
  lose(what);
}

/// In a handler. Once: the exception comes by here again on its way out.
void endpoint::lose(std::string_view what) {
  if (std::exchange(has_lost_, true)) return;
  std::string text;
  try {
    text = std::string(what) + " is lost: " + text_of_current_exception();
  } catch (...) {  // no memory: in few words
  }
  transport_.end_all(text.empty() ? what : std::string_view(text));
}

cluster_stats endpoint::stats() const {
  std::lock_guard const lock(mutex_);
  return stats_;
}

}  // namespace filch::inline FILCH_ABI::detail

#include <cstring>
#include <filch/detail/cluster_endpoint.hpp>
#include <filch/stay.hpp>
#include <numeric>

namespace filch::inline FILCH_ABI::detail {
namespace {

// A worker looks at so many messages at most, and goes on with its tasks.
constexpr int k_messages_a_look = 256;
constexpr std::size_t k_tasks_an_answer = 1024;
// Then an answer has its last task. While it is packed the rank hears and says nothing else, and what carries
// messages has bounds of its own.
constexpr std::size_t k_bytes_an_answer = std::size_t{4} << 20;
constexpr unsigned k_ticks_a_heartbeat = 5;
// The watchman looks at so many times k_messages_a_look, where nobody else looks.
constexpr int k_looks_a_tick = 64;
// What a look counts of a worker that begins its last task; those of one that waits follow each other at once.
constexpr unsigned k_look_of_worker = 16;
constexpr unsigned k_look_of_waiter = 1;

template <class T> T get(unpacker& u) { return packing<T>::unpack(u); }
template <class... T> message message_of(T const&... values) {
  packer p;
  (packing<T>::pack(p, values), ...);
  return p.take();
}

// What goes up or down: this, then the value.
struct part_header {
  bool closing;
  bool failed;
};
reduction_part part_in(std::span<std::byte const> bytes, part_header header) {
  return {header.failed, {bytes.begin() + sizeof(std::byte) + sizeof header, bytes.end()}};
}

// Tasks in an answer: the place of their headers, their arguments, their headers. With the sizes, so that arguments
// which throw as they are read spoil no others.
struct task_header {
  std::uint64_t kind;
  std::uint64_t future;
  std::uint64_t size;
  std::int64_t home;
};

}  // namespace

endpoint::endpoint(any_transport& carrier, unsigned silence, unsigned arrival)
    : transport_(carrier),
      me_(carrier.rank()),
      ranks_(carrier.ranks()),
      silence_(silence),
      arrival_(silence > 0 ? arrival : 0),
      random_(0x9e3779b97f4a7c15u * static_cast<std::uint64_t>(me_ + 1)) {}

endpoint::~endpoint() = default;

// Workers with a share

void endpoint::poll(task_deque& mine, std::size_t spare, bool may_ask) {
  std::unique_lock const lock(mutex_, std::try_to_lock);
  if (lock) look(mine, spare, may_ask, k_look_of_worker);
}

bool endpoint::poll_waiting(task_deque& mine, bool may_ask, bool may_take) {
  std::unique_lock const lock(mutex_, std::try_to_lock);
  if (!lock) return false;
  bool const refused = look(mine, 0, may_ask, k_look_of_waiter);
  if (may_take) share_waits_ = mine.empty();
  return refused;
}

/// Returns whether a request of this rank has come back since the last look.
bool endpoint::look(task_deque& mine, std::size_t spare, bool may_ask, unsigned weight) {
  begin_look();
  bool const refused = std::exchange(refused_, false);
  if (mine.size() < 2) move_arrived(mine);
  send_bounds();
  std::size_t const left = serve(mine, spare);
  if (left > 0 && share_waits_) {
    share_waits_ = false;
    inbox_.take_oldest_of(mine, (left + 1) / 2);
    arrived_.store(true, std::memory_order_relaxed);  // relaxed: the mutex orders the rest
  }
  bool const drained = seems_drained(spare, weight);
  if (drained && may_ask && !refused && mine.size() < 2) ask();
  return refused;
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

void endpoint::move_arrived(task_deque& mine) {
  mine.take_oldest_of(inbox_, inbox_.size());
  arrived_.store(false, std::memory_order_relaxed);
}

void endpoint::send_result(int home, cluster_future* future, std::optional<std::string> const& failure,
                           message const& result) {
  std::lock_guard const lock(mutex_);
  send_outcome(home, future, failure, result);
}

void endpoint::send_outcome(int home, cluster_future* future, std::optional<std::string> const& failure,
                            message const& result) {
  auto const address = reinterpret_cast<std::uintptr_t>(future);
  message m = message_of(kind::result, address, failure.has_value(), failure.value_or(""));
  m.insert(m.end(), result.begin(), result.end());
  send_basic(home, std::move(m));
}

void endpoint::fail(std::string_view text) {
  std::lock_guard const lock(mutex_);
  keep(text);
}

void endpoint::keep(std::string_view text) {
  if (!failure_) failure_ = text.empty() ? "an exception without a text" : text;
}

std::optional<std::string> endpoint::take_failure() {
  std::lock_guard const lock(mutex_);
  return std::exchange(failure_, std::nullopt);
}

// The main loop

void endpoint::begin_run() {
  std::lock_guard const lock(mutex_);
  ++runs_begun_;
  ++calls_;
  received_before_.reset();
  share_waits_ = false;
  looks_in_vain_ = 0;
  refused_ = false;
}

endpoint::outcome endpoint::idle(task_deque& mine, bool may_ask) {
  std::lock_guard const lock(mutex_);
  if (!mine.empty()) return outcome::work;
  begin_look();
  bool const refused = std::exchange(refused_, false);
  move_arrived(mine);
  if (!mine.empty()) return outcome::work;
  serve(mine, 0);
  send_bounds();
  // Passive from here on, until the mutex is free again.
  if (runs_ended_ < runs_begun_) answer_wave();
  if (runs_ended_ == runs_begun_) return outcome::ended;
  if (refused) return outcome::refused;
  if (may_ask) ask();
  return outcome::nothing;
}

// Messages

/// Returns whether there may be more.
bool endpoint::receive() {
  for (int i = 0; i < k_messages_a_look; ++i) {
    auto const m = transport_.receive();
    if (!m) return false;
    handle(*m);
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
    case kind::end:
      ++runs_ended_;
      for_each_child([this](int child) { send(child, message_of(kind::end)); });
      break;
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

void endpoint::handle_tasks(std::span<std::byte const> bytes) {
  ++basic_.received;
  asking_ = false;
  unpacker arguments(bytes.subspan(sizeof(kind)));
  unpacker headers(bytes.subspan(get<std::size_t>(arguments)));
  auto const all = get<std::vector<task_header>>(headers);
  stay([&] {  // packing may fork, and the mutex is held
    for (task_header const& h : all) {
      cluster_task& t = inbox_.room();
      t.kind = find_kind(h.kind);
      if (!t.kind) {
        transport_.end_all("a task of a function that this rank does not have: do all ranks run the same program?");
        return;
      }
      t.home = static_cast<std::int32_t>(h.home);
      t.future = reinterpret_cast<cluster_future*>(static_cast<std::uintptr_t>(h.future));
      unpacker of_this(arguments.get_bytes(h.size));
      try {
        t.kind->unpack(of_this, t);
        inbox_.push();
      } catch (...) {
        give_up(t.home, t.future);
      }
      send_due_heartbeat();
    }
  });
  arrived_.store(true, std::memory_order_relaxed);  // relaxed: the mutex orders the rest
}

void endpoint::handle_result(unpacker& u) {
  ++basic_.received;
  auto& future = *reinterpret_cast<cluster_future*>(get<std::uintptr_t>(u));
  bool failed = get<bool>(u);
  auto text = get<std::string>(u);
  stay([&] {  // packing may fork, and the mutex is held
    try {
      if (!failed) future.take_result(future, u);
    } catch (...) {
      failed = true;
      text = text_of_current_exception();
    }
  });
  if (failed) future.failure = std::move(text);
  future.set_ready();
  // future may be gone
}

/// In a handler: a task whose arguments could not travel.
void endpoint::give_up(std::int32_t home, cluster_future* future) {
  std::string text = text_of_current_exception();
  if (!future) {
    keep(std::move(text));
  } else if (home != me_) {
    send_outcome(home, future, text, {});
  } else {
    future->failure = std::move(text);
    future->set_ready();
    // *future may be gone
  }
}

void endpoint::send(int to, message m) {
  bool const is_counted = static_cast<kind>(m.front()) < kind::up;
  counted_.sent += is_counted;
  ++stats_.messages;
  transport_.send(to, std::move(m));
}

void endpoint::send_basic(int to, message m) {
  ++basic_.sent;
  send(to, std::move(m));
}

// Stealing

/// Returns how many may still go.
std::size_t endpoint::serve(task_deque& mine, std::size_t spare) {
  auto const shares = shares_.load(std::memory_order_relaxed);  // relaxed: policy
  std::erase_if(requests_, [&](steal_request& request) {
    if (spare > 0) {
      spare -= give(request, mine, std::min((spare + 1) / 2, k_tasks_an_answer));
      return true;
    }
    if (++request.looks < shares) return false;
    forward(request);
    return true;
  });
  return spare;
}

/// Returns how many have left `mine`: one at least.
std::size_t endpoint::give(steal_request const& request, task_deque& mine, std::size_t most) {
  packer p;
  packing<kind>::pack(p, kind::tasks);
  packing<std::size_t>::pack(p, 0);
  std::vector<task_header> headers;
  std::size_t count = 0;
  stay([&] {  // packing may fork, and the mutex is held
    for (; count < most && p.size() < k_bytes_an_answer; ++count) {
      cluster_task& t = mine.take_oldest();
      std::size_t const before = p.size();
      try {
        t.kind->pack(p, t);
        headers.push_back({t.kind->id, reinterpret_cast<std::uintptr_t>(t.future), p.size() - before, t.home});
      } catch (...) {
        message kept = p.take();
        p.put_bytes(kept.data(), before);
        give_up(t.home, t.future);
      }
      send_due_heartbeat();
    }
  });
  std::size_t const place = p.size();
  packing<std::vector<task_header>>::pack(p, headers);
  message m = p.take();
  std::memcpy(m.data() + sizeof(kind), &place, sizeof place);
  ++stats_.answers;
  stats_.tasks_given += headers.size();
  stats_.bytes_of_tasks += m.size();
  wanted_.store(false, std::memory_order_relaxed);  // relaxed: a hint
  send_basic(request.thief, std::move(m));
  return count;
}

void endpoint::forward(steal_request request) {
  ++request.hops;
  bool const all_asked = request.hops >= ranks_ - 1;
  auto const steps = static_cast<std::int64_t>(request.hops + 1) * request.stride;
  int const to = all_asked ? request.thief : static_cast<int>((request.thief + steps) % ranks_);
  ++stats_.forwards;
  wanted_.store(true, std::memory_order_relaxed);  // relaxed: a hint
  send(to, message_of(kind::request, request.thief, request.hops, request.stride));
}

void endpoint::forward_all() {
  for (steal_request const& request : std::exchange(requests_, {})) forward(request);
}

void endpoint::ask() {
  if (asking_ || closing_ || ranks_ == 1) return;
  asking_ = true;
  std::int32_t stride = 0;
  do stride = 1 + static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(ranks_ - 1));
  while (std::gcd(stride, ranks_) != 1);
  ++stats_.requests;
  send((me_ + stride) % ranks_, message_of(kind::request, me_, std::int32_t{0}, stride));
}

std::uint64_t endpoint::random() noexcept {  // xorshift
  random_ ^= random_ << 13;
  random_ ^= random_ >> 7;
  return random_ ^= random_ << 17;
}

// Termination

template <class F> void endpoint::for_each_child(F f) const {
  for (int child = 2 * me_ + 1; child <= 2 * me_ + 2 && child < ranks_; ++child) f(child);
}

std::size_t endpoint::children() const noexcept {
  std::size_t count = 0;
  for_each_child([&count](int) { ++count; });
  return count;
}

void endpoint::answer_wave() {
  if (me_ == 0 && !wave_here_) {
    wave_here_ = true;
    ++stats_.waves;
    for_each_child([this](int child) { send(child, message_of(kind::probe)); });
  }
  if (!wave_here_ || wave_answers_ < children()) return;
  wave_here_ = false;
  wave_answers_ = 0;
  wave_sum_.sent += basic_.sent;
  wave_sum_.received += basic_.received;
  auto const sum = std::exchange(wave_sum_, {});
  if (me_ != 0) {
    send((me_ - 1) / 2, message_of(kind::counts, sum.sent, sum.received));
  } else if (received_before_ == sum.sent) {
    ++runs_ended_;
    for_each_child([this](int child) { send(child, message_of(kind::end)); });
  } else {
    received_before_ = sum.received;
  }
}

// Bounds

void endpoint::raise(unsigned id, std::int64_t value) noexcept {
  auto& b = bounds_[id];
  auto known = b.value.load(std::memory_order_relaxed);  // relaxed: the mark orders it
  do {
    if (known >= value) return;
  } while (!b.value.compare_exchange_weak(known, value, std::memory_order_relaxed));
  b.improved.exchange(true, std::memory_order_release);  // edge cluster-2
}

void endpoint::set_bound(unsigned id, std::int64_t value) noexcept {
  bounds_[id].value.store(value, std::memory_order_relaxed);  // relaxed: between runs; a reduction follows
}

void endpoint::send_bounds() {
  for (unsigned id = 0; id < k_bounds; ++id) {
    auto& b = bounds_[id];
    // relaxed: a hint, the exchange decides; who raises it now is seen by the next look.
    if (!b.improved.load(std::memory_order_relaxed)) continue;
    b.improved.exchange(false, std::memory_order_acquire);       // edge cluster-2
    auto const value = b.value.load(std::memory_order_relaxed);  // relaxed: ordered by the mark
    auto const tell = [&](int to) { send_basic(to, message_of(kind::bound, id, value)); };
    for_each_child(tell);
    if (me_ != 0) tell((me_ - 1) / 2);
  }
}

// Reduction

void endpoint::contribute(reduction_part part) {
  std::lock_guard const lock(mutex_);
  if (!closing_) ++calls_;
  contribution_ = std::move(part);
}

std::optional<reduction_part> endpoint::reduction() {
  std::lock_guard const lock(mutex_);
  begin_look();
  forward_all();
  return std::exchange(result_, std::nullopt);
}

std::vector<reduction_part> endpoint::parts_to_fold() {
  std::lock_guard const lock(mutex_);
  auto& ups = ups_[closing_];
  if (!contribution_ || ups.size() < children()) return {};
  auto parts = std::exchange(ups, {});
  parts.push_back(std::move(*contribution_));
  contribution_.reset();
  return parts;
}

void endpoint::hand_on(reduction_part sum) {
  std::lock_guard const lock(mutex_);
  message m = message_of(me_ == 0 ? kind::down : kind::up, part_header{closing_, sum.failed});
  m.insert(m.end(), sum.bytes.begin(), sum.bytes.end());
  if (me_ != 0) {
    send((me_ - 1) / 2, std::move(m));
  } else {
    for_each_child([&](int child) { send(child, m); });
    result_ = std::move(sum);
  }
}

// The watchman, and the end

void endpoint::all_are_here() {
  std::lock_guard const lock(mutex_);
  expecting_ = ranks_ > 1;
  silent_ = 0;  // what it was until now was absence
}

void endpoint::tick() {
  // relaxed: hints, of which the mutex orders what is done about them.
  if (ranks_ > 1 && ticks_++ % k_ticks_a_heartbeat == 0) heartbeat_is_due_.store(true, std::memory_order_relaxed);
  tick_is_due_.store(true, std::memory_order_relaxed);
  // Who has the mutex may have it for long, in users' packing. It sends the heartbeat; the tick is for the next look.
  std::unique_lock const lock(mutex_, std::try_to_lock);
  if (lock) take_tick();
}

void endpoint::take_tick() {
  if (!tick_is_due_.load(std::memory_order_relaxed)) return;  // relaxed, all: as in tick()
  tick_is_due_.store(false, std::memory_order_relaxed);
  if (!std::exchange(polled_, false)) {
    overdue_.store(true, std::memory_order_relaxed);  // relaxed: a hint
    int looks = 0;
    do has_more_ = receive();
    while (has_more_ && ++looks < k_looks_a_tick);
    send_bounds();
    forward_all();
  }
  send_due_heartbeat();
  if (ranks_ > 1) watch();
}

void endpoint::send_due_heartbeat() {
  if (!heartbeat_is_due_.load(std::memory_order_relaxed)) return;  // relaxed, both: as in tick()
  heartbeat_is_due_.store(false, std::memory_order_relaxed);
  ++heartbeats_sent_;
  transport_.send(next(), message_of(kind::heartbeat, calls_, has_left_));
}

void endpoint::watch() {
  if (calls_of_before_ && !closing_ && calls_ > *calls_of_before_) {
    calls_of_before_.reset();
    transport_.end_all("rank " + std::to_string(before()) +
                       " has left the cluster, and this rank waits for it in another run or reduction");
  }
  if (std::exchange(heard_, false) || farewell_) {
    silent_ = 0;
  } else if (has_more_) {
    // Its heartbeat may be among what waits.
  } else if (unsigned const most = expecting_ ? silence_ : arrival_; most > 0 && ++silent_ > most) {
    silent_ = 0;
    if (expecting_) {
      end_over_silence();
    } else {
      end_over_absence();
    }
  }
}

void endpoint::end_over_silence() {
  transport_.end_all("rank " + std::to_string(before()) + " has not answered for " +
                     std::to_string(silence_ / k_ticks_per_second) + " s");
}

void endpoint::end_over_absence() {
  transport_.end_all("rank " + std::to_string(before()) + " has not made its cluster " +
                     std::to_string(arrival_ / k_ticks_per_second) + " s after this rank (cluster_options::arrival)");
}

void endpoint::begin_closing(bool is_thrown) {
  std::lock_guard const lock(mutex_);
  closing_ = true;
  has_left_ = !is_thrown;
  requests_.clear();
}

std::int64_t endpoint::under_way() {
  std::lock_guard const lock(mutex_);
  receive();
  return static_cast<std::int64_t>(counted_.sent - counted_.received);
}

void endpoint::say_farewell() {
  std::lock_guard const lock(mutex_);
  heartbeat_is_due_.store(false, std::memory_order_relaxed);  // relaxed: of a thread that was joined
  if (ranks_ > 1) transport_.send(next(), message_of(kind::farewell, heartbeats_sent_));
}

bool endpoint::silent() {
  std::lock_guard const lock(mutex_);
  receive();
  return ranks_ == 1 || farewell_ == heartbeats_received_;
}

void endpoint::miss_farewell() {
  std::lock_guard const lock(mutex_);
  end_over_silence();
}

void endpoint::end_all(std::string_view text) {
  std::lock_guard const lock(mutex_);
  transport_.end_all(text);
}

cluster_stats endpoint::stats() const {
  std::lock_guard const lock(mutex_);
  return stats_;
}

}  // namespace filch::inline FILCH_ABI::detail

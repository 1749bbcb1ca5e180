// Sends this rank's steal requests, passes on those of others, and answers them with tasks. The endpoint calls it.
// Protocol: protocol.md, "Steal requests".
#include "cluster/requests.hpp"

#include "cluster/users_code.hpp"

#include <algorithm>
#include <numeric>

namespace filch::inline FILCH_ABI::detail {
namespace {

constexpr std::size_t k_tasks_an_answer = 1024;
// No task is added to a longer answer. The rank receives and sends little else while it packs one, and transports
// have limits of their own.
constexpr std::size_t k_bytes_an_answer = std::size_t{4} << 20;

/// The head of a message `tasks`, which send_tasks() fills in.
packer begun_tasks() {
  packer p;
  packing<message_kind>::pack(p, message_kind::tasks);
  packing<std::size_t>::pack(p, 0);
  packing<bool>::pack(p, true);
  return p;
}

}  // namespace

requests::requests(messenger& m, results& r, heartbeats& h, endpoint_hints& hints, std::size_t longest) noexcept
    : messenger_(m),
      results_(r),
      heartbeats_(h),
      hints_(hints),
      longest_(longest),
      random_(0x9e3779b97f4a7c15u * static_cast<std::uint64_t>(m.rank() + 1)) {}

void requests::begin_run() noexcept {
  looks_in_vain_ = 0;
  was_refused_ = false;
}

void requests::close() noexcept {
  closing_ = true;
  list_.clear();
}

// Looks

look_result requests::look(task_deque& mine, std::size_t spare, bool may_request, look_weight weight,
                           arrivals where) {
  bool const refused = take_was_refused();
  std::size_t const came = where == arrivals::come && mine.size() < 2 ? move_inbox(mine) : 0;
  bool const from_inbox = spare == 0 && !inbox_.empty();
  if (from_inbox) {
    spare = inbox_.size();
    static_cast<void>(serve(inbox_, spare, hints_.workers.read()));
    hints_.has_arrived.write(!inbox_.empty());
  } else {
    std::size_t const left = serve(mine, spare, hints_.workers.read());
    if (hints_.worker_waits.read() && inbox_.empty()) leave_in_inbox(mine, (left + came + 1) / 2);
  }
  bool const drained = seems_drained(spare, weight);
  if (drained && may_request && !refused && mine.size() < 2) send_request();
  return refused ? look_result::refused : look_result::idle;
}

/// Has each rank worker begun its last task? Known from looks since one had tasks to spare.
bool requests::seems_drained(std::size_t spare, look_weight weight) noexcept {
  auto const workers = hints_.workers.read();
  unsigned const enough = static_cast<unsigned>(look_weight::working) * workers;
  looks_in_vain_ = spare > 0 ? 0 : std::min(looks_in_vain_ + static_cast<unsigned>(weight), enough);
  return spare == 0 && (workers <= 1 || looks_in_vain_ == enough);
}

/// The waiting worker takes them at its next look. They are the oldest: tasks that were left for it may just have
/// come back.
void requests::leave_in_inbox(task_deque& mine, std::size_t count) {
  if (count == 0) return;
  inbox_.take_oldest_of(mine, count);
  hints_.has_arrived.write(true);
}

std::size_t requests::move_inbox(task_deque& mine) {
  std::size_t const count = inbox_.size();
  if (count > 0) inbox_.renew_oldest();
  mine.take_oldest_of(inbox_, count);
  hints_.has_arrived.write(false);
  return count;
}

// Requests

void requests::send_request() {
  if (under_way_ || closing_ || messenger_.ranks() == 1) return;
  under_way_ = true;
  std::int32_t const stride = random_stride();
  ++messenger_.stats.requests;
  messenger_.send((messenger_.rank() + stride) % messenger_.ranks(),
                  message_of(message_kind::request, messenger_.rank(), std::int32_t{0}, stride));
}

/// Has no common divisor with the number of ranks, so that the request meets all of them.
std::int32_t requests::random_stride() noexcept {
  std::int32_t stride = 0;
  do {
    random_ ^= random_ << 13;  // xorshift
    random_ ^= random_ >> 7;
    random_ ^= random_ << 17;
    stride = 1 + static_cast<std::int32_t>(random_ % static_cast<std::uint64_t>(messenger_.ranks() - 1));
  } while (std::gcd(stride, messenger_.ranks()) != 1);
  return stride;
}

void requests::take_request(unpacker& u) {
  steal_request const request{get<std::int32_t>(u), get<std::int32_t>(u), get<std::int32_t>(u), 0};
  if (request.thief == messenger_.rank()) {
    under_way_ = false;
    was_refused_ = true;
    ++messenger_.stats.returns;
  } else {
    was_requested_ = true;
    if (!closing_) list_.push_back(request);
  }
}

std::size_t requests::serve(task_deque& mine, std::size_t spare, unsigned looks) {
  try {
    std::erase_if(list_, [&](steal_request& request) {
      if (spare > 0) {
        spare -= answer(request, mine, std::min((spare + 1) / 2, k_tasks_an_answer));
        return true;
      }
      if (++request.looks < looks) return false;
      forward(request);
      return true;
    });
  } catch (...) {  // no memory
    messenger_.lose("an answer");
    throw;
  }
  return spare;
}

void requests::forward(steal_request request) {
  ++request.hops;
  bool const has_met_all = request.hops >= messenger_.ranks() - 1;
  auto const steps = static_cast<std::int64_t>(request.hops + 1) * request.stride;
  int const to = has_met_all ? request.thief : static_cast<int>((request.thief + steps) % messenger_.ranks());
  ++messenger_.stats.forwards;
  hints_.wanted.write(true);
  messenger_.send(to, message_of(message_kind::request, request.thief, request.hops, request.stride));
}

void requests::forward_all() {
  for (steal_request const& request : std::exchange(list_, {})) forward(request);
}

// Answers

/// Returns how many tasks have left `mine`: one at least.
std::size_t requests::answer(steal_request const& request, task_deque& mine, std::size_t most) {
  packer p = begun_tasks();
  std::vector<task_header> headers;
  std::size_t count = 0;
  call_packing([&] { count = pack_tasks(p, headers, mine, most); });
  ++messenger_.stats.answers;
  hints_.wanted.write(false);
  if (p.size() > longest_ && headers.size() > 1) {
    // The last task made it so long: none is added to a long answer.
    message const all = p.take();
    task_header const last = headers.back();
    headers.pop_back();
    std::size_t const before = all.size() - last.size;
    p.put_bytes(all.data(), before);
    send_tasks(request.thief, std::move(p), headers, false);
    p = begun_tasks();
    p.put_bytes(all.data() + before, last.size);
    headers = {last};
  }
  send_tasks(request.thief, std::move(p), headers, true);
  return count;
}

void requests::send_tasks(int thief, packer p, std::vector<task_header> const& headers, bool ends_request) {
  std::size_t const place = p.size();
  packing<std::vector<task_header>>::pack(p, headers);
  message m = p.take();
  message const head = message_of(message_kind::tasks, place, ends_request);
  std::copy(head.begin(), head.end(), m.begin());
  messenger_.stats.tasks_given += headers.size();
  messenger_.stats.bytes_of_tasks += m.size();
  messenger_.send_basic(thief, std::move(m));
}

std::size_t requests::pack_tasks(packer& p, std::vector<task_header>& headers, task_deque& mine, std::size_t most) {
  std::size_t count = 0;
  task_kind const* known = nullptr;
  for (; count < most && p.size() < k_bytes_an_answer; ++count) {
    cluster_task& t = mine.take_oldest();
    if (t.kind != known) {
      known = t.kind;
      // A library loaded since the cluster was made may have a second one.
      if (is_ambiguous(*known)) messenger_.end_all(text_of_ambiguity(*known));
    }
    std::size_t const before = p.size();
    try {
      t.kind->pack(p, t);
      headers.push_back({t.kind->id, reinterpret_cast<std::uintptr_t>(t.future), p.size() - before, t.home});
    } catch (...) {
      message const kept = p.take();
      p.put_bytes(kept.data(), before);
      results_.give_up(t.home, t.future);
    }
    heartbeats_.send_due();
  }
  return count;
}

/// Null: the rank does not know which function a task of this kind is, so all ranks end.
task_kind const* requests::known_kind(std::uint64_t id) {
  task_kind const* const kind = find_kind(id);
  if (kind && !is_ambiguous(*kind)) return kind;
  messenger_.end_all(kind ? text_of_ambiguity(*kind)
                          : "a task of a function that this rank does not have: do all ranks run the same program?");
  return nullptr;
}

void requests::take_tasks(std::span<std::byte const> bytes) {
  messenger_.count_received_basic();
  unpacker arguments(bytes.subspan(sizeof(message_kind)));
  unpacker headers(bytes.subspan(get<std::size_t>(arguments)));
  if (get<bool>(arguments)) under_way_ = false;
  auto const all = get<std::vector<task_header>>(headers);
  call_packing([&] {
    task_kind const* kind = nullptr;
    for (task_header const& header : all) {
      if (!kind || kind->id != header.kind) kind = known_kind(header.kind);
      if (!kind) return;
      unpacker of_this(arguments.get_bytes(header.size));
      unpack_task(of_this, header, *kind);
      heartbeats_.send_due();
    }
  });
  hints_.has_arrived.write(true);
}

void requests::unpack_task(unpacker& arguments, task_header const& header, task_kind const& kind) {
  cluster_task& t = inbox_.room();
  t.kind = &kind;
  t.home = static_cast<std::int32_t>(header.home);
  t.future = reinterpret_cast<cluster_future*>(static_cast<std::uintptr_t>(header.future));
  try {
    kind.unpack(arguments, t);
    inbox_.push();
  } catch (...) {
    results_.give_up(t.home, t.future);
  }
}

// Conditions

runtime::broken_condition requests::broken() const noexcept {
  FILCH_HOLDS(!under_way_ || !was_refused_);
  FILCH_HOLDS(inbox_.empty() || hints_.has_arrived.read());
  FILCH_HOLDS(list_.size() < static_cast<std::size_t>(messenger_.ranks()));
  for (steal_request const& request : list_) {
    if (auto const condition = broken(request)) return condition;
  }
  return nullptr;
}

runtime::broken_condition requests::broken(steal_request const& request) const noexcept {
  FILCH_HOLDS(0 <= request.thief && request.thief < messenger_.ranks());
  FILCH_HOLDS(0 <= request.hops && request.hops < messenger_.ranks() - 1);
  FILCH_HOLDS(std::gcd(request.stride, messenger_.ranks()) == 1);
  return nullptr;
}

}  // namespace filch::inline FILCH_ABI::detail

#include <filch/detail/caught.hpp>
#include <filch/detail/cluster_pace.hpp>
#include <filch/detail/cluster_share.hpp>
#include <filch/rank.hpp>

#include "runtime/exceptions_in_flight.hpp"
#include "runtime/team.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <unordered_map>

namespace filch::inline FILCH_ABI {

task_error::task_error(std::string const& what, std::string const& type) : std::runtime_error(what), type_(type) {}
task_error::~task_error() = default;

task_error task_error::from(std::string_view text) {
  std::size_t const end = std::min(text.find('\0'), text.size());
  return task_error(std::string(text.substr(0, end)), std::string(text.substr(std::min(end + 1, text.size()))));
}

namespace detail {
namespace {

/// A library that is loaded or unloaded while a cluster runs brings its kinds, and takes them away.
struct known_kinds {
  std::shared_mutex mutex;
  std::unordered_multimap<std::uint64_t, task_kind const*> by_id;  // under mutex
};
known_kinds& kinds() {
  static known_kinds all;
  return all;
}

constexpr unsigned k_block_most = 1u << 16;
constexpr unsigned k_chunk_most = 64;
// Waits nested deeper than this run only what the rank has: whatever they steal goes on top of the same stack.
constexpr unsigned k_thieving_waits = 64;

std::uint64_t id_of(std::string_view name) noexcept {  // FNV-1a
  std::uint64_t id = 14695981039346656037u;
  for (char const c : name) id = (id ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return id;
}

}  // namespace

std::string text_of_current_exception() {
  detail::drop_caught_exception();
  std::string text;
  try {
    throw;
  } catch (task_error const& e) {  // a future's: the type of the first one
    return std::string(e.what()) + '\0' + e.type();
  } catch (std::exception const& e) {
    text = e.what();
  } catch (...) {
    text = "an exception that is no std::exception";
  }
  std::type_info const* const type = abi::__cxa_current_exception_type();
  if (!type) return text;
  int status = 0;
  std::unique_ptr<char, void (*)(void*)> const name(abi::__cxa_demangle(type->name(), nullptr, nullptr, &status),
                                                    std::free);
  return text + '\0' + (name ? name.get() : type->name());
}

partial::~partial() = default;

exceptions_aside::exceptions_aside() noexcept {
  auto const taken = runtime::take_exceptions();
  caught_ = taken.caught;
  uncaught_ = taken.uncaught;
}
exceptions_aside::~exceptions_aside() { runtime::put_exceptions_below({caught_, uncaught_}); }

task_kind::task_kind(std::string_view its_name, run_function r, pack_function p, unpack_function u, drop_function d)
    : name(its_name), id(id_of(its_name)), run(r), pack(p), unpack(u), drop(d) {
  std::lock_guard const lock(kinds().mutex);
  kinds().by_id.emplace(id, this);
}

task_kind::~task_kind() {
  std::lock_guard const lock(kinds().mutex);
  auto const [first, last] = kinds().by_id.equal_range(id);
  auto const mine = std::find_if(first, last, [this](auto const& known) { return known.second == this; });
  if (mine != last) kinds().by_id.erase(mine);
}

task_kind const* find_kind(std::uint64_t id) noexcept {
  std::shared_lock const lock(kinds().mutex);
  auto const found = kinds().by_id.find(id);
  return found == kinds().by_id.end() ? nullptr : found->second;
}

task_kind const* ambiguous_kind() noexcept {
  std::shared_lock const lock(kinds().mutex);
  for (auto const& [id, kind] : kinds().by_id) {
    if (kinds().by_id.count(id) > 1) return kind;
  }
  return nullptr;
}

void share::poll(std::size_t spare) {
  using clock = std::chrono::steady_clock;
  auto const begin = clock::now();
  bool const asked = ends.poll(tasks, spare);
  auto const now = clock::now();
  gap_.looked(now - begin, asked);
  // As many tasks as would have taken the time; at most twice as many as before.
  auto const took = std::max(begin - last_poll_, clock::duration(1));
  auto const begun = std::max(block_ - behind_it_ - until_look_, 1u);
  auto const fit = static_cast<unsigned long>(begun) * static_cast<unsigned long>(gap_.length().count()) /
                   static_cast<unsigned long>(took.count());
  block_ = static_cast<unsigned>(std::clamp<unsigned long>(fit, 1, std::min(2 * block_, k_block_most)));
  until_look_ = std::min(block_, k_chunk_most);
  behind_it_ = block_ - until_look_;
  last_poll_ = now;
}

bool share::block_is_over() noexcept {
  if (behind_it_ == 0 || std::chrono::steady_clock::now() - last_poll_ >= gap_.length()) return true;
  until_look_ = std::min(behind_it_, k_chunk_most);
  behind_it_ -= until_look_;
  return false;
}

void share::failed(cluster_future* future, int home) noexcept {
  std::string text = text_of_current_exception();
  if (!future) {
    ends.fail(text);
  } else if (home == ends.rank()) {
    future->failure = std::move(text);
    future->set_ready();
    // *future may be gone
  } else {
    ends.send_result(home, future, text, {});
  }
}

void share::merge() {
  if (!part_) return;
  try {
    part_->merge();
  } catch (...) {
    failed(nullptr, ends.rank());
  }
}

void share::send_result(cluster_future* future, int home, message const& result) {
  ends.send_result(home, future, std::nullopt, result);
}

bool share::take_back() {
  while (!halves_.empty()) {
    auto const newest = std::move(halves_.back());
    halves_.pop_back();
    if (!newest->claim()) continue;
    task_deque& theirs = newest->tasks.tasks;
    tasks.take_oldest_of(theirs, theirs.size());
    return true;
  }
  return false;
}

void share::wait_for(cluster_future& future) {
  if (future.ready.load(std::memory_order_acquire)) return;  // edge cluster-1
  exceptions_aside const of_the_waiting_task;
  ++waits_;
  bool has_said = false;  // to the rank's other shares, that it would take tasks
  auto const waits_no_more = [&] {
    if (std::exchange(has_said, false)) ends.waits_no_more();
  };
  idle_pause pause;
  while (!future.ready.load(std::memory_order_acquire)) {  // edge cluster-1
    serve_all_thieves();
    if (!tasks.empty() || take_back()) {
      waits_no_more();
      step_(*this, frame_);
      pause.reset();
    } else {
      bool const may_steal = waits_ <= k_thieving_waits;
      has_said = may_steal;
      if (ends.poll_waiting(tasks, may_steal && pause.may_ask(), may_steal)) pause.refused();
      if (tasks.empty()) pause.wait();
    }
  }
  waits_no_more();
  --waits_;
}

bool share::is_sent_work() {
  using clock = std::chrono::steady_clock;
  auto const begin = clock::now();
  std::uint64_t run = 0;
  for (idle_pause pause;; pause.wait()) {
    clock::duration longest{};
    switch (ends.help(tasks, part_, run)) {
      case endpoint::help_outcome::work: return true;
      case endpoint::help_outcome::leave: return false;
      case endpoint::help_outcome::asks: longest = pace::k_helper_waits; break;
      case endpoint::help_outcome::nothing: longest = pace::k_awake; break;
    }
    if (clock::now() - begin >= longest) return false;
  }
}

void idle_pause::wait() {
  auto const now = clock::now();
  if (begin_ == clock::time_point()) begin_ = now;
  // Since the last yield began. MPI's own progress may have yielded, too.
  if (last_ != clock::time_point()) is_shared_ = now - last_ > pace::k_own_processor;
  if (!is_shared_ && now - begin_ < pace::k_awake) {
    last_ = now;
    std::this_thread::yield();
  } else {
    // MPI can't sleep until a message comes.
    std::this_thread::sleep_for(pace::sleep_after(sleeps_++));
    last_ = clock::time_point();
  }
}

void idle_pause::refused() { ask_again_ = clock::now() + pace::silence_after(refusals_++); }

}  // namespace detail
}  // namespace filch::inline FILCH_ABI

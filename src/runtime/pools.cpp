// The process-wide part of pools: the lock under which they are made, default pools in a child of fork(), and the
// errors that end the process with one line.
#include "runtime/pools.hpp"

#include <filch/detail/caught.hpp>
#include <filch/pool_options.hpp>

#include "os/linux/fatal.hpp"
#include "runtime/filled_once.hpp"
#include "runtime/fork_generation.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <new>

namespace filch::runtime {
namespace {

std::mutex making;
std::mutex adding;

filled_once<std::atomic<void*>*, 8> to_forget;

void forget_all() {
  // relaxed: a child of fork() has one thread.
  for (auto* const place : to_forget.all()) place->store(nullptr, std::memory_order_relaxed);
  ::new (static_cast<void*>(&making)) std::mutex;
  ::new (static_cast<void*>(&adding)) std::mutex;
}

}  // namespace

std::mutex& making_pools() {
  watch_forks(forget_all);
  return making;
}

void forget_in_child(std::atomic<void*>& place) {
  watch_forks(forget_all);
  std::lock_guard const lock(adding);
  auto const all = to_forget.all();
  if (std::find(all.begin(), all.end(), &place) == all.end()) to_forget.add(&place);
}

void not_the_scope_s_owner() noexcept {
  os::end_with_line("filch: a scope was synced by a fiber that does not own it, or inside a stay\n");
}

void child_can_t_go_on() noexcept {
  os::end_with_line(
      "filch: a child of fork() waits for a task that runs in its parent; call fork() outside of joins\n");
}

void no_cxx_exception() noexcept {
  os::end_with_line(
      "filch: an exception that is not C++'s left a task (of another language, or pthread_exit); catch it in the "
      "task\n");
}

void no_default_pool(std::exception const& why) noexcept {
  bool const explains_itself = dynamic_cast<setup_error const*>(&why) != nullptr;
  std::fprintf(stderr, "%s%s\n", explains_itself ? "" : "filch: the default pool can't be made: ", why.what());
  // Another thread may hold another stream while it reads, and never give it back.
  if (ftrylockfile(stdout) == 0) std::fflush(stdout);
  std::_Exit(2);
}

}  // namespace filch::runtime

namespace filch::inline FILCH_ABI::detail {

std::exception_ptr caught_exception() noexcept {
  std::exception_ptr caught = std::current_exception();
  if (!caught) runtime::no_cxx_exception();
  return caught;
}

void drop_caught_exception() noexcept { static_cast<void>(caught_exception()); }

}  // namespace filch::inline FILCH_ABI::detail

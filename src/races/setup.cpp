// Begins the checks before the first constructor of the program, reads its settings, and ends them. It knows the
// threads that are not checked. The dynamic linker and libc call it.
#include "races/setup.hpp"

#include <filch/detail/task_cancelled.hpp>

#include <link.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/single_threaded.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>

#include "os/linux/fatal.hpp"
#include "races/checker.hpp"
#include "races/finding.hpp"
#include "races/report.hpp"

namespace filch::inline FILCH_ABI {
setup_error::~setup_error() = default;
task_cancelled::~task_cancelled() = default;
}  // namespace filch::inline FILCH_ABI

/// A function of the compiler's runtime only.
extern "C" [[gnu::weak]] void* __tsan_create_fiber(unsigned flags);

namespace filch::races {
namespace {

/// Where that runtime is linked statically, nothing calls set_up().
[[gnu::constructor(101)]] void look_for_other_runtime() noexcept { refuse_other_runtime(); }

constinit call_stack calls_of_main;
constinit bool is_set_up = false;
// The wrappers of locks are linked where something of the library is.
[[maybe_unused]] auto* const volatile wrapped = &pthread_once;

/// The program's own mmap is watched.
void* system_map(std::size_t bytes) noexcept {
  long const at =
      syscall(SYS_mmap, nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == -1) os::end_with_line("filch: races: no address space is left for the tables\n");
  return reinterpret_cast<void*>(at);
}

/// The part of the thread's variables that lies around its control block: all of those of objects that the program
/// was started with.
void find_thread_locals() noexcept {
  constexpr address k_most = address{1} << 20;
  now.thread_high = reinterpret_cast<address>(__builtin_thread_pointer()) + 2048;
  now.thread_low = now.thread_high;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void*) {
        auto const begin = reinterpret_cast<address>(info->dlpi_tls_data);
        if (begin != 0 && now.thread_high - begin < k_most) now.thread_low = std::min(now.thread_low, begin);
        return 0;
      },
      nullptr);
}

}  // namespace

void* map_table(std::size_t bytes) noexcept { return system_map(bytes); }
void unmap_table(void* at, std::size_t bytes) noexcept { syscall(SYS_munmap, at, bytes); }

std::byte* map_stack(std::size_t bytes, std::size_t guard) noexcept {
  auto* const low = static_cast<std::byte*>(system_map(bytes + guard));
  if (mprotect(low, guard, PROT_NONE) != 0) os::end_with_line("filch: races: a stack can't be protected\n");
  return low + guard;
}

void refuse_other_runtime() noexcept {
  if (&__tsan_create_fiber == nullptr) return;
  os::end_with_line(
      "filch: races: the program is linked with -fsanitize=thread, and so with another runtime: compile with it "
      "only\n");
}

void set_up() noexcept {
  if (is_set_up) return;
  is_set_up = true;
  make_tables();
  calls_of_main.reserve();
  me.calls = &calls_of_main;
  char const* const atomics = std::getenv("FILCH_RACES_ATOMICS");
  now.reports_atomics = atomics != nullptr && std::string_view(atomics) == "1";
  __libc_single_threaded = 0;  // else libstdc++ counts references without atomics
  report_at_exit();
  watch_foreign_calls();
}

void begin_checking() noexcept {
  set_up();
  if (me.calls == nullptr) {
    auto* const calls = static_cast<call_stack*>(map_table(sizeof(call_stack)));
    calls->reserve();
    me.calls = calls;
  }
  find_thread_locals();
  me.checks = true;
  now.locks = 0;
  end_section();
}

void end_checking() noexcept {
  me.checks = false;
  if (me.calls == &calls_of_main) return;
  me.calls->release();
  unmap_table(me.calls, sizeof(call_stack));
  me.calls = nullptr;
}

unsigned workers_of(pool_options const& asked) {
  constexpr unsigned k_most = 1024;
  if (asked.workers > k_most)
    throw setup_error("filch: pool_options::workers: expected a whole number from 1 to 1024");
  if (asked.workers != 0) return asked.workers;
  if (char const* const text = std::getenv("FILCH_NUM_THREADS")) {
    std::string_view const all(text);
    unsigned value = 0;
    auto const [end, error] = std::from_chars(all.data(), all.data() + all.size(), value);
    if (error != std::errc{} || end != all.data() + all.size() || value == 0 || value > k_most) {
      throw setup_error("filch: FILCH_NUM_THREADS=" + std::string(all) + ": expected a whole number from 1 to 1024");
    }
    return value;
  }
  return std::clamp(std::thread::hardware_concurrency(), 1u, k_most);
}

}  // namespace filch::races

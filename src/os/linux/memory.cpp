// Address space and pages: reserves stacks with a guard below, gives unused pages back to the kernel, and counts page
// faults. Used by worker_space and by the pool of fiber stacks.
#include "os/linux/memory.hpp"

#include "os/linux/fatal.hpp"

#if defined(FILCH_WITH_VALGRIND)
#include <valgrind/valgrind.h>
#endif

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

#if !defined(__GLIBC__)
#error "Filch needs glibc: it reads the bounds of threads' stacks, and switches stacks"
#endif

namespace filch::os {

std::size_t page_size() noexcept {
  // No guard, which would stay shut in a child that is forked during another thread's first call.
  static constinit std::atomic<std::size_t> kept{0};
  // relaxed: each thread that finds 0 asks, and stores the same.
  std::size_t bytes = kept.load(std::memory_order_relaxed);
  if (bytes == 0) [[unlikely]] {
    bytes = static_cast<std::size_t>(getpagesize());
    kept.store(bytes, std::memory_order_relaxed);
  }
  return bytes;
}

std::uint64_t page_faults() noexcept {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return static_cast<std::uint64_t>(used.ru_minflt);
}

namespace {

bool count_page_faults(std::uint64_t& count) noexcept {
  rusage used{};
  if (getrusage(RUSAGE_THREAD, &used) != 0) return false;
  count = static_cast<std::uint64_t>(used.ru_minflt) + static_cast<std::uint64_t>(used.ru_majflt);
  return true;
}

/// Some systems that run Linux programs leave the counts at zero.
bool are_page_faults_counted() noexcept {
  std::size_t const bytes = page_size();
  void* const p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) return false;
  std::uint64_t before = 0;
  std::uint64_t after = 0;
  bool is_asked = count_page_faults(before);
  *static_cast<char volatile*>(p) = 1;
  is_asked = is_asked && count_page_faults(after);
  munmap(p, bytes);
  return is_asked && after != before;
}

}  // namespace

std::uint64_t own_page_faults() noexcept {
  enum knowledge { unknown, counted, not_counted };
  static constinit std::atomic<knowledge> known{unknown};
  static constinit std::atomic<std::uint64_t> calls{1};
  // relaxed: several threads may learn the same.
  knowledge now = known.load(std::memory_order_relaxed);
  if (now == unknown) [[unlikely]] {
    now = are_page_faults_counted() ? counted : not_counted;
    known.store(now, std::memory_order_relaxed);
  }
  std::uint64_t count = 0;
  if (now == counted && count_page_faults(count)) return count;
  return calls.fetch_add(1, std::memory_order_relaxed) | std::uint64_t{1} << 63;
}

bool pages_in_memory(std::byte* from, std::size_t pages, unsigned char* are) noexcept {
  int const error = errno;
  bool const is_known = mincore(from, pages * page_size(), are) == 0;
  errno = error;
  return is_known;
}

[[gnu::noinline]] __attribute__((no_sanitize("address", "thread"))) bool looks_blank(std::byte const* page) noexcept {
  constexpr std::size_t k_words_between = 65;
  auto const* const words = reinterpret_cast<std::uint64_t const volatile*>(page);
  std::uint64_t any = 0;
  for (std::size_t i = 0; i < 4096 / sizeof *words; i += k_words_between) any |= words[i];
  return any == 0;
}

namespace {

/// After mlockall(MCL_FUTURE) the system locks new maps, and would fill all of a map as soon as it may be written.
/// This makes it lock pages as they are touched. If it can't do that, they are not locked.
void do_not_fill(std::byte* p, std::size_t bytes) noexcept {
#if defined(FILCH_WITH_VALGRIND)
  if (RUNNING_ON_VALGRIND != 0) return;  // it would report that the first page can't be read
#endif
  int const error = errno;
  bool const is_locked = msync(p, page_size(), MS_ASYNC | MS_INVALIDATE) != 0 && errno == EBUSY;
#if defined(MLOCK_ONFAULT)
  if (is_locked && mlock2(p, bytes, MLOCK_ONFAULT) != 0) munlock(p, bytes);
#else
  if (is_locked) munlock(p, bytes);
#endif
  errno = error;
}

std::byte* reserve(std::size_t bytes) noexcept {
  void* const p = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) return nullptr;
  do_not_fill(static_cast<std::byte*>(p), bytes);
  return static_cast<std::byte*>(p);
}

/// Aligned to its size, a power of two.
std::byte* reserve_aligned(std::size_t bytes) noexcept {
  std::byte* const p = reserve(2 * bytes);
  if (!p) return nullptr;
  std::size_t const past = reinterpret_cast<std::uintptr_t>(p) % bytes;
  std::size_t const before = past ? bytes - past : 0;
  if (before) munmap(p, before);
  munmap(p + before + bytes, bytes - before);
  return p + before;
}

}  // namespace

bool can_reserve(std::size_t bytes) noexcept {
  std::byte* const p = reserve(bytes);
  if (p) munmap(p, bytes);
  return p != nullptr;
}

reservation::reservation(std::size_t bytes) noexcept {
  std::size_t const page = page_size();
  std::size_t const rounded = (bytes + page - 1) / page * page;
  std::size_t const whole = k_guard + rounded + page;
  if (rounded < bytes || whole < rounded) return;
  start_ = guard_ = reserve(whole);
  if (!start_) return;
  whole_ = whole;
  if (mprotect(guard_ + k_guard, rounded, PROT_READ | PROT_WRITE) != 0) return;
  low_ = guard_ + k_guard;
  bytes_ = rounded;
}

reservation::reservation(std::size_t bytes, std::size_t lower_bytes) noexcept {
  std::size_t const page = page_size();
  std::size_t const rounded = (bytes + page - 1) / page * page;
  std::size_t const lower = (lower_bytes + page - 1) / page * page;
  constexpr std::size_t k_most = std::size_t{1} << 46;
  if (rounded < bytes || rounded > k_most || lower > k_most) {
    errno = ENOMEM;
    return;
  }
  std::size_t const whole = whole_bytes_for(bytes, lower_bytes);
  start_ = reserve_aligned(whole);
  if (!start_) return;
  whole_ = whole;
  guard_ = start_ + lower;
  std::byte* const low = start_ + whole - rounded;
  if (mprotect(start_, lower, PROT_READ | PROT_WRITE) != 0 || mprotect(low, rounded, PROT_READ | PROT_WRITE) != 0) {
    return;
  }
  low_ = low;
  bytes_ = rounded;
}

std::size_t reservation::whole_bytes_for(std::size_t bytes, std::size_t lower_bytes) noexcept {
  std::size_t const page = page_size();
  return std::bit_ceil((bytes + page - 1) / page * page + k_guard + (lower_bytes + page - 1) / page * page);
}

reservation::reservation(reservation&& other) noexcept { *this = std::move(other); }

reservation& reservation::operator=(reservation&& other) noexcept {
  std::swap(start_, other.start_);
  std::swap(whole_, other.whole_);
  std::swap(guard_, other.guard_);
  std::swap(low_, other.low_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

reservation::~reservation() {
  if (start_) munmap(start_, whole_);
}

bool reservation::drop_pages(std::byte* from, std::byte* end) noexcept {
#if !defined(MADV_DONTNEED_LOCKED)
  constexpr int MADV_DONTNEED_LOCKED = 24;  // Linux 5.18
#endif
  auto const bytes = static_cast<std::size_t>(end - from);
  int const error = errno;
  // The second one is for locked pages.
  bool const is_done = madvise(from, bytes, MADV_DONTNEED) == 0 || madvise(from, bytes, MADV_DONTNEED_LOCKED) == 0;
  errno = error;
  return is_done;
}

namespace {

[[noreturn]] void stack_without_pages() noexcept {
  end_with_line(
      "filch: mmap removed the pages of a stack and failed to map new ones; use FILCH_STACK_GIVE_BACK=madvise\n");
}

}  // namespace

bool reservation::replace_pages(std::byte* from, std::byte* end) noexcept {
  auto const bytes = static_cast<std::size_t>(end - from);
  // Not writable yet: see do_not_fill.
  if (mmap(from, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) != MAP_FAILED) {
    do_not_fill(from, bytes);
    if (mprotect(from, bytes, PROT_READ | PROT_WRITE) != 0) {
      stack_without_pages();
    }
    madvise(from, bytes, MADV_NOHUGEPAGE);
    return true;
  }
  // Some kernels take the old map away before they fail. The next map of the process would then lie in the middle of
  // a stack.
  unsigned char in_memory = 0;
  if (mincore(from, page_size(), &in_memory) == 0) return false;
  stack_without_pages();
}

std::size_t reservation::written_bytes() const noexcept {
  constexpr std::uint64_t k_own_page = std::uint64_t{1} << 56;  // in memory, and not the zeros that all share
  std::array<std::uint64_t, 1024> entries{};
  std::size_t const page = page_size();
  std::size_t pages = 0;
  int const map = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  if (map < 0) return 0;
  for (std::byte* p = low_; p < high();) {
    std::size_t const all = std::min<std::size_t>(entries.size(), static_cast<std::size_t>(high() - p) / page);
    auto const at = static_cast<off_t>(reinterpret_cast<std::uintptr_t>(p) / page * sizeof entries[0]);
    if (pread(map, entries.data(), all * sizeof entries[0], at) <= 0) break;
    for (std::size_t i = 0; i < all; ++i) pages += (entries[i] & k_own_page) != 0;
    p += all * page;
  }
  close(map);
  return pages * page;
}

void reservation::use_small_pages() const noexcept { madvise(low_, bytes_, MADV_NOHUGEPAGE); }

bool reservation::guards(void const* address) const noexcept {
  auto const* const p = static_cast<std::byte const*>(address);
  return low_ && p >= guard_ && p < low_;
}

bool reservation::guards_above(void const* address) const noexcept {
  auto const* const p = static_cast<std::byte const*>(address);
  return low_ && p >= high() && p < start_ + whole_;
}

char const* describe_errno(int error) noexcept {
#if __GLIBC_PREREQ(2, 32)
  char const* const text = strerrordesc_np(error);
  return text ? text : "unknown error";
#else
  // strerror may allocate or lock, so the errors of these calls are listed here.
  switch (error) {
    case EAGAIN: return "Resource temporarily unavailable";
    case EINVAL: return "Invalid argument";
    case ENOMEM: return "Cannot allocate memory";
    case EPERM: return "Operation not permitted";
    default: return "unknown error";
  }
#endif
}

}  // namespace filch::os

// malloc, free and their family, mmap and munmap, in place of libc's. The program calls them, instrumented or not.
// New memory gets no history. Protocol: protocol.md.
#include "races/heap.hpp"

#include <malloc.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>

#include "races/libc.hpp"
#include "races/setup.hpp"
#include "races/words.hpp"

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void __libc_free(void*);
}

namespace filch::races {
namespace {

/// Live allocations of threads whose calls are kept, by address. A full table keeps no more.
class allocations {
 public:
  void add(allocation const& made) noexcept {
    std::lock_guard const lock(lock_);
    if (places_ == nullptr) places_ = static_cast<allocation*>(map_table(k_places * sizeof(allocation)));
    if (count_ == k_most) return;
    std::size_t i = place_of(made.begin);
    while (places_[i].begin != 0 && places_[i].begin != made.begin) i = (i + 1) % k_places;
    if (places_[i].begin == 0) ++count_;
    places_[i] = made;
  }
  /// Returns its bytes, or 0 if it is not known.
  std::size_t remove(address begin) noexcept {
    std::lock_guard const lock(lock_);
    if (places_ == nullptr) return 0;
    std::size_t i = place_of(begin);
    while (places_[i].begin != begin) {
      if (places_[i].begin == 0) return 0;
      i = (i + 1) % k_places;
    }
    std::size_t const bytes = places_[i].bytes;
    --count_;
    // Moves those behind it up, unless that would be before their place.
    for (std::size_t k = (i + 1) % k_places; places_[k].begin != 0; k = (k + 1) % k_places) {
      std::size_t const home = place_of(places_[k].begin);
      if ((k - home) % k_places < (k - i) % k_places) continue;
      places_[i] = places_[k];
      i = k;
    }
    places_[i].begin = 0;
    return bytes;
  }
  allocation around(address a) noexcept {
    std::lock_guard const lock(lock_);
    for (std::size_t i = 0; places_ != nullptr && i != k_places; ++i) {
      if (a - places_[i].begin < places_[i].bytes) return places_[i];
    }
    return {};
  }

 private:
  static constexpr std::size_t k_places = std::size_t{1} << 20;
  static constexpr std::size_t k_most = k_places / 2;
  static std::size_t place_of(address a) noexcept { return (a >> 5) % k_places; }
  short_lock lock_;
  allocation* places_ = nullptr;
  std::size_t count_ = 0;
};
constinit allocations all;

void note(void* p, std::size_t bytes, address pc) noexcept {
  if (p == nullptr || me.calls == nullptr) return;
  auto const begin = reinterpret_cast<address>(p);
  allocation made{begin, bytes, me.calls, me.calls->current(), pc, {}};
  std::uint32_t depth = me.calls->depth();
  for (address& caller : made.callers) {
    if (depth == 0) break;
    caller = me.calls->at(depth--).pc;
  }
  all.add(made);
  if (!me.checks) return;
  forget(begin, begin + bytes);
  if (now.has_local) mark_local(begin, begin + bytes);
}

}  // namespace

void* allocate(std::size_t bytes, std::size_t alignment, address pc) noexcept {
  void* const p = alignment == 0 ? __libc_malloc(bytes) : __libc_memalign(alignment, bytes);
  note(p, bytes, pc);
  return p;
}

void release(void* p, address pc) noexcept {
  if (p != nullptr) {
    auto const begin = reinterpret_cast<address>(p);
    std::size_t bytes = all.remove(begin);
    if (me.checks) {
      if (bytes == 0) bytes = malloc_usable_size(p);  // it was not kept
      forget_locks(begin, begin + bytes);
      if (now.dropped_last) {
        forget(begin, begin + bytes);
      } else {
        check_slow_range(begin, bytes, access_kind::free, pc);
      }
    }
  }
  __libc_free(p);
}

allocation allocation_of(address a) noexcept { return all.around(a); }

}  // namespace filch::races

using namespace filch::races;

FILCH_WRAPPER void* malloc(std::size_t bytes) { return allocate(bytes, 0, FILCH_WRAPPER_PC); }
FILCH_WRAPPER void free(void* p) { release(p, FILCH_WRAPPER_PC); }
FILCH_WRAPPER void cfree(void* p) { release(p, FILCH_WRAPPER_PC); }
FILCH_WRAPPER void* calloc(std::size_t n, std::size_t each) {
  void* const p = __libc_calloc(n, each);
  note(p, n * each, FILCH_WRAPPER_PC);
  return p;
}
// Always a new block: where memory grew in place, its history would have to be kept in part.
FILCH_WRAPPER void* realloc(void* p, std::size_t bytes) {
  if (p == nullptr) return allocate(bytes, 0, FILCH_WRAPPER_PC);
  if (bytes == 0) {
    release(p, FILCH_WRAPPER_PC);
    return nullptr;
  }
  std::size_t const old = malloc_usable_size(p);
  void* const made = allocate(bytes, 0, FILCH_WRAPPER_PC);
  if (made == nullptr) return nullptr;
  std::size_t const kept = old < bytes ? old : bytes;
  check_range(made, bytes, access_kind::write, FILCH_WRAPPER_PC);
  {
    off_the_record const here;  // release() looks at the old block as a whole
    copy(made, p, kept, 0);
  }
  release(p, FILCH_WRAPPER_PC);
  return made;
}
FILCH_WRAPPER void* reallocarray(void* p, std::size_t n, std::size_t each) {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(n, each, &bytes)) {
    errno = ENOMEM;
    return nullptr;
  }
  return realloc(p, bytes);
}
FILCH_WRAPPER void* memalign(std::size_t alignment, std::size_t bytes) {
  return allocate(bytes, alignment, FILCH_WRAPPER_PC);
}
FILCH_WRAPPER void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  return allocate(bytes, alignment, FILCH_WRAPPER_PC);
}
FILCH_WRAPPER void* valloc(std::size_t bytes) { return allocate(bytes, 4096, FILCH_WRAPPER_PC); }
FILCH_WRAPPER int posix_memalign(void** to, std::size_t alignment, std::size_t bytes) {
  if (alignment < sizeof(void*) || (alignment & (alignment - 1)) != 0) return EINVAL;
  void* const p = allocate(bytes, alignment, FILCH_WRAPPER_PC);
  if (p == nullptr) return ENOMEM;
  *to = p;
  return 0;
}

namespace {
void forget_pages(void* at, std::size_t bytes) noexcept {
  auto const begin = reinterpret_cast<address>(at);
  if (me.checks && begin != ~address{0}) forget(begin, begin + bytes);
}
}  // namespace

FILCH_WRAPPER void* mmap(void* at, std::size_t bytes, int rights, int flags, int file, off_t offset) {
  refuse_other_runtime();
  static auto const real = reinterpret_cast<void* (*)(void*, std::size_t, int, int, int, off_t)>(original("mmap"));
  void* const p = real(at, bytes, rights, flags, file, offset);
  forget_pages(p, bytes);
  return p;
}
FILCH_WRAPPER int munmap(void* at, std::size_t bytes) {
  static auto const real = reinterpret_cast<int (*)(void*, std::size_t)>(original("munmap"));
  check_range(at, 1, access_kind::free, FILCH_WRAPPER_PC);
  forget_pages(at, bytes);
  return real(at, bytes);
}

// operator new and delete, over heap.cpp. The program calls them;
// operators of its own take their place.
#include <cstdlib>
#include <new>

#include "races/heap.hpp"
#include "races/libc.hpp"

namespace {

using filch::races::address;

void* made(std::size_t bytes, std::size_t alignment, address pc) {
  if (bytes == 0) bytes = 1;
  while (true) {
    if (void* const p = filch::races::allocate(bytes, alignment, pc)) return p;
    std::new_handler const handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}
void* made_or_null(std::size_t bytes, std::size_t alignment, address pc) noexcept {
  try {
    return made(bytes, alignment, pc);
  } catch (...) {
    return nullptr;
  }
}

}  // namespace

#define FILCH_NEW __attribute__((visibility("default"), weak))
#define FILCH_OPERATORS(name)                                                                                        \
  FILCH_NEW void* operator new name(std::size_t n) { return made(n, 0, FILCH_WRAPPER_PC); }                          \
  FILCH_NEW void* operator new name(std::size_t n, std::align_val_t a) {                                             \
    return made(n, static_cast<std::size_t>(a), FILCH_WRAPPER_PC);                                                   \
  }                                                                                                                  \
  FILCH_NEW void* operator new name(std::size_t n, std::nothrow_t const&) noexcept {                                 \
    return made_or_null(n, 0, FILCH_WRAPPER_PC);                                                                     \
  }                                                                                                                  \
  FILCH_NEW void* operator new name(std::size_t n, std::align_val_t a, std::nothrow_t const&) noexcept {             \
    return made_or_null(n, static_cast<std::size_t>(a), FILCH_WRAPPER_PC);                                           \
  }                                                                                                                  \
  FILCH_NEW void operator delete name(void* p) noexcept { filch::races::release(p, FILCH_WRAPPER_PC); }              \
  FILCH_NEW void operator delete name(void* p, std::size_t) noexcept { filch::races::release(p, FILCH_WRAPPER_PC); } \
  FILCH_NEW void operator delete name(void* p, std::align_val_t) noexcept {                                          \
    filch::races::release(p, FILCH_WRAPPER_PC);                                                                      \
  }                                                                                                                  \
  FILCH_NEW void operator delete name(void* p, std::size_t, std::align_val_t) noexcept {                             \
    filch::races::release(p, FILCH_WRAPPER_PC);                                                                      \
  }                                                                                                                  \
  FILCH_NEW void operator delete name(void* p, std::nothrow_t const&) noexcept {                                     \
    filch::races::release(p, FILCH_WRAPPER_PC);                                                                      \
  }                                                                                                                  \
  FILCH_NEW void operator delete name(void* p, std::align_val_t, std::nothrow_t const&) noexcept {                   \
    filch::races::release(p, FILCH_WRAPPER_PC);                                                                      \
  }

FILCH_OPERATORS()
FILCH_OPERATORS([])

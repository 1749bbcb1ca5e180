// libc's functions on memory and strings, which programs and uninstrumented libraries call. Compiled with
// -fno-builtin: else compilers would make calls of these out of their bodies.
#include <dlfcn.h>

#include "races/heap.hpp"
#include "races/libc.hpp"

#include <cstddef>

extern "C" {
// libc's names for its own fast versions. The last argument is a bound.
void* __memcpy_chk(void*, void const*, std::size_t, std::size_t);
void* __memmove_chk(void*, void const*, std::size_t, std::size_t);
void* __memset_chk(void*, int, std::size_t, std::size_t);
}

namespace filch::races {
namespace {

// Through words that the loader fills: calls through the program's table of linkage would be counted as the
// program's.
constinit auto* volatile real_copy = __memcpy_chk;
constinit auto* volatile real_move = __memmove_chk;
constinit auto* volatile real_fill = __memset_chk;

}  // namespace

void* original(char const* name) noexcept {
  off_the_record const here;
  return dlsym(RTLD_NEXT, name);
}

void* copy(void* to, void const* from, std::size_t n, address pc) noexcept {
  check_range(from, n, access_kind::read, pc);
  check_range(to, n, access_kind::write, pc);
  return real_copy(to, from, n, n);
}
void* move(void* to, void const* from, std::size_t n, address pc) noexcept {
  check_range(from, n, access_kind::read, pc);
  check_range(to, n, access_kind::write, pc);
  return real_move(to, from, n, n);
}
void* fill(void* to, int value, std::size_t n, address pc) noexcept {
  check_range(to, n, access_kind::write, pc);
  return real_fill(to, value, n, n);
}

namespace {

std::size_t length(char const* s, std::size_t most = ~std::size_t{0}) noexcept {
  std::size_t n = 0;
  while (n != most && s[n] != 0) ++n;
  return n;
}
std::size_t with_end(std::size_t length, std::size_t most) noexcept { return length < most ? length + 1 : most; }

/// Compares up to n bytes, and to the end of the strings if they are strings.
int compared(unsigned char const* a, unsigned char const* b, std::size_t n, bool are_strings, address pc) noexcept {
  std::size_t i = 0;
  while (i != n && a[i] == b[i] && !(are_strings && a[i] == 0)) ++i;
  std::size_t const looked_at = are_strings && i != n ? i + 1 : are_strings ? i : n;
  check_range(a, looked_at, access_kind::read, pc);
  check_range(b, looked_at, access_kind::read, pc);
  return i == n ? 0 : int{a[i]} - int{b[i]};
}

char* append(char* to, char const* from, std::size_t most, address pc) noexcept {
  std::size_t const old = length(to);
  std::size_t const n = length(from, most);
  check_range(to, old + 1, access_kind::read, pc);
  check_range(from, with_end(n, most), access_kind::read, pc);
  check_range(to + old, n + 1, access_kind::write, pc);
  real_copy(to + old, from, n, n);
  to[old + n] = 0;
  return to;
}

char* duplicate(char const* s, std::size_t most, address pc) noexcept {
  std::size_t const n = length(s, most);
  check_range(s, with_end(n, most), access_kind::read, pc);
  auto* const made = static_cast<char*>(allocate(n + 1, 0, pc));
  if (made == nullptr) return nullptr;
  check_range(made, n + 1, access_kind::write, pc);
  real_copy(made, s, n, n);
  made[n] = 0;
  return made;
}

unsigned char const* bytes(void const* p) noexcept { return static_cast<unsigned char const*>(p); }

}  // namespace
}  // namespace filch::races

using namespace filch::races;

FILCH_WRAPPER void* memcpy(void* to, void const* from, std::size_t n) { return copy(to, from, n, FILCH_WRAPPER_PC); }
FILCH_WRAPPER void* memmove(void* to, void const* from, std::size_t n) { return move(to, from, n, FILCH_WRAPPER_PC); }
FILCH_WRAPPER void* memset(void* to, int value, std::size_t n) { return fill(to, value, n, FILCH_WRAPPER_PC); }
FILCH_WRAPPER void* mempcpy(void* to, void const* from, std::size_t n) {
  return static_cast<char*>(copy(to, from, n, FILCH_WRAPPER_PC)) + n;
}
FILCH_WRAPPER void bzero(void* to, std::size_t n) { fill(to, 0, n, FILCH_WRAPPER_PC); }
FILCH_WRAPPER int memcmp(void const* a, void const* b, std::size_t n) {
  return compared(bytes(a), bytes(b), n, false, FILCH_WRAPPER_PC);
}
FILCH_WRAPPER int bcmp(void const* a, void const* b, std::size_t n) {
  return compared(bytes(a), bytes(b), n, false, FILCH_WRAPPER_PC);
}
FILCH_WRAPPER void* memchr(void const* s, int c, std::size_t n) {
  std::size_t i = 0;
  while (i != n && bytes(s)[i] != static_cast<unsigned char>(c)) ++i;
  check_range(s, with_end(i, n), access_kind::read, FILCH_WRAPPER_PC);
  return i == n ? nullptr : const_cast<unsigned char*>(bytes(s) + i);
}
FILCH_WRAPPER std::size_t strlen(char const* s) {
  std::size_t const n = length(s);
  check_range(s, n + 1, access_kind::read, FILCH_WRAPPER_PC);
  return n;
}
FILCH_WRAPPER std::size_t strnlen(char const* s, std::size_t most) {
  std::size_t const n = length(s, most);
  check_range(s, with_end(n, most), access_kind::read, FILCH_WRAPPER_PC);
  return n;
}
FILCH_WRAPPER int strcmp(char const* a, char const* b) {
  return compared(bytes(a), bytes(b), ~std::size_t{0}, true, FILCH_WRAPPER_PC);
}
FILCH_WRAPPER int strncmp(char const* a, char const* b, std::size_t n) {
  return compared(bytes(a), bytes(b), n, true, FILCH_WRAPPER_PC);
}
FILCH_WRAPPER char* strchr(char const* s, int c) {
  std::size_t i = 0;
  while (s[i] != static_cast<char>(c) && s[i] != 0) ++i;
  check_range(s, i + 1, access_kind::read, FILCH_WRAPPER_PC);
  return s[i] == static_cast<char>(c) ? const_cast<char*>(s + i) : nullptr;
}
FILCH_WRAPPER char* strrchr(char const* s, int c) {
  std::size_t const n = length(s);
  check_range(s, n + 1, access_kind::read, FILCH_WRAPPER_PC);
  for (std::size_t i = n + 1; i-- != 0;) {
    if (s[i] == static_cast<char>(c)) return const_cast<char*>(s + i);
  }
  return nullptr;
}
FILCH_WRAPPER char* strcpy(char* to, char const* from) {
  return static_cast<char*>(copy(to, from, length(from) + 1, FILCH_WRAPPER_PC));
}
FILCH_WRAPPER char* stpcpy(char* to, char const* from) {
  std::size_t const n = length(from);
  return static_cast<char*>(copy(to, from, n + 1, FILCH_WRAPPER_PC)) + n;
}
FILCH_WRAPPER char* strncpy(char* to, char const* from, std::size_t most) {
  std::size_t const n = length(from, most);
  check_range(from, with_end(n, most), access_kind::read, FILCH_WRAPPER_PC);
  check_range(to, most, access_kind::write, FILCH_WRAPPER_PC);
  __memcpy_chk(to, from, n, n);
  __memset_chk(to + n, 0, most - n, most - n);
  return to;
}
FILCH_WRAPPER char* strcat(char* to, char const* from) { return append(to, from, ~std::size_t{0}, FILCH_WRAPPER_PC); }
FILCH_WRAPPER char* strncat(char* to, char const* from, std::size_t most) {
  return append(to, from, most, FILCH_WRAPPER_PC);
}
FILCH_WRAPPER char* strdup(char const* s) { return duplicate(s, ~std::size_t{0}, FILCH_WRAPPER_PC); }
FILCH_WRAPPER char* strndup(char const* s, std::size_t most) { return duplicate(s, most, FILCH_WRAPPER_PC); }
FILCH_WRAPPER char* strstr(char const* s, char const* part) {
  std::size_t const n = length(s);
  std::size_t const of_part = length(part);
  check_range(s, n + 1, access_kind::read, FILCH_WRAPPER_PC);
  check_range(part, of_part + 1, access_kind::read, FILCH_WRAPPER_PC);
  for (std::size_t i = 0; i + of_part <= n; ++i) {
    std::size_t k = 0;
    while (k != of_part && s[i + k] == part[k]) ++k;
    if (k == of_part) return const_cast<char*>(s + i);
  }
  return nullptr;
}

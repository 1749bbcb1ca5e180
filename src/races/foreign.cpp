// Calls from this program into other object files. Their code is not instrumented, unless it is part of the C++
// runtime that touches no memory of the program: so calls in tasks are counted. The program's entries of the linkage
// table are pointed at small functions, which count and jump on.
#include <cxxabi.h>
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "races/finding.hpp"
#include "races/off_the_record.hpp"

namespace filch::races {
namespace {

/// Functions that touch no memory of their caller's, or only what it hands them for that call alone.
bool is_harmless(std::string_view name) noexcept {
  for (std::string_view const begin : {"__tsan_",         "__cxa_",          "_Unwind_",
                                       "__gxx_",          "__stack_chk",     "_ZSt17__throw_",
                                       "_ZSt20__throw_",  "_ZSt9terminate",  "_ZNSt15__exception_ptr",
                                       "_ZNSt9exception", "_ZNSt6chrono",    "_ZSt17current_exception",
                                       "_ZSt17rethrow_",  "_ZSt18uncaught",  "_ZSt19__throw_",
                                       "_ZSt21__glibcxx", "__assert",        "clock_",
                                       "sched_",          "pthread_",        "atexit",
                                       "on_exit",         "__libc_malloc",   "__libc_calloc",
                                       "__libc_free",     "__libc_memalign", "malloc_usable_size",
                                       "mprotect",        "syscall",         "dlsym",
                                       "_ZSt24__throw_",  "_ZSt25__throw_",  "_ZSt16__throw_"}) {
    if (name.starts_with(begin)) return true;
  }
  for (std::string_view const exact :
       {"abort", "exit", "_exit", "getpid", "getenv", "sin",    "cos",      "tan",  "exp",
        "log",   "pow",  "sqrt",  "fmod",   "floor",  "ceil",   "sinf",     "cosf", "expf",
        "logf",  "powf", "sqrtf", "hypot",  "atan2",  "usleep", "nanosleep"}) {
    if (name == exact) return true;
  }
  return false;
}

/// Is it one of those that compilers call in place of instructions, as __popcountdi2? They compute, or unwind.
bool is_compilers(void const* function) noexcept {
  Dl_info info{};
  if (dladdr(function, &info) == 0 || info.dli_fname == nullptr) return false;
  return std::string_view(info.dli_fname).find("/libgcc_s.so") != std::string_view::npos;
}

#if defined(__x86_64__)
constexpr std::size_t k_most = 4096;

struct watched {
  std::uint64_t calls;
  void* target;
  char const* name;
  void** entry;
};
/// Code and words lie side by side: the code finds its words by their distance.
struct page {
  unsigned char code[k_most][32];
  watched of[k_most];
};
page* pages = nullptr;
std::size_t count = 0;

/// cmp byte fs:[checks], 0; je over; inc calls; over: jmp target
void write_code(unsigned char* at, watched& w) noexcept {
  auto const put = [&at](std::initializer_list<unsigned char> bytes) {
    for (unsigned char const b : bytes) *at++ = b;
  };
  auto const put_word = [&at](std::int64_t value) {
    auto const word = static_cast<std::int32_t>(value);
    std::memcpy(at, &word, sizeof(word));
    at += sizeof(word);
  };
  auto* flag = reinterpret_cast<char*>(&me.checks);
  asm("" : "+r"(flag));  // the linker knows only some ways to take such an address
  put({0x64, 0x80, 0x3c, 0x25});
  put_word(flag - static_cast<char*>(__builtin_thread_pointer()));
  put({0, 0x74, 7, 0x48, 0xff, 0x05});
  put_word(reinterpret_cast<unsigned char*>(&w.calls) - (at + 4));
  put({0xff, 0x25});
  put_word(reinterpret_cast<unsigned char*>(&w.target) - (at + 4));
}

struct linkage {
  ElfW(Rela) const* entries = nullptr;
  std::size_t bytes = 0;
  ElfW(Sym) const* symbols = nullptr;
  char const* names = nullptr;
};

linkage linkage_of(dl_phdr_info const& info) noexcept {
  linkage found;
  for (unsigned i = 0; i < info.dlpi_phnum; ++i) {
    if (info.dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    auto const* d = reinterpret_cast<ElfW(Dyn) const*>(info.dlpi_addr + info.dlpi_phdr[i].p_vaddr);
    for (; d->d_tag != DT_NULL; ++d) {
      if (d->d_tag == DT_JMPREL) found.entries = reinterpret_cast<ElfW(Rela) const*>(d->d_un.d_ptr);
      if (d->d_tag == DT_PLTRELSZ) found.bytes = d->d_un.d_val;
      if (d->d_tag == DT_SYMTAB) found.symbols = reinterpret_cast<ElfW(Sym) const*>(d->d_un.d_ptr);
      if (d->d_tag == DT_STRTAB) found.names = reinterpret_cast<char const*>(d->d_un.d_ptr);
    }
  }
  return found;
}

int watch_program(dl_phdr_info* info, std::size_t, void*) {
  linkage const all = linkage_of(*info);
  auto const size = static_cast<address>(sysconf(_SC_PAGESIZE));
  for (std::size_t i = 0; all.entries != nullptr && i < all.bytes / sizeof(ElfW(Rela)) && count != k_most; ++i) {
    auto const& entry = all.entries[i];
    if (ELF64_R_TYPE(entry.r_info) != R_X86_64_JUMP_SLOT) continue;
    auto const& symbol = all.symbols[ELF64_R_SYM(entry.r_info)];
    char const* const name = all.names + symbol.st_name;
    if (symbol.st_shndx != SHN_UNDEF || is_harmless(name)) continue;
    void* const target = dlsym(RTLD_DEFAULT, name);
    if (target == nullptr || is_compilers(target)) continue;
    auto* const slot = reinterpret_cast<void**>(info->dlpi_addr + entry.r_offset);
    void* const begin = reinterpret_cast<void*>(reinterpret_cast<address>(slot) & ~(size - 1));
    if (mprotect(begin, size, PROT_READ | PROT_WRITE) != 0) continue;
    pages->of[count] = {0, target, name, slot};
    write_code(pages->code[count], pages->of[count]);
    ++count;
  }
  return 1;  // the first one is the program
}

void start_watching() noexcept {
  pages = static_cast<page*>(map_table(sizeof(page)));
  dl_iterate_phdr(watch_program, nullptr);
  if (mprotect(pages->code, sizeof(pages->code), PROT_READ | PROT_EXEC) != 0) return;
  for (std::size_t i = 0; i != count; ++i) *pages->of[i].entry = pages->code[i];
}
#endif

}  // namespace

#if defined(__x86_64__)
static_assert(sizeof(page::code) % 4096 == 0);

void watch_foreign_calls() noexcept {
  off_the_record const here;
  start_watching();
}

foreign_calls foreign_calls_so_far() {
  foreign_calls all{0, {}};
  for (std::size_t i = 0; i != count; ++i) {
    watched const& w = pages->of[i];
    if (w.calls == 0) continue;
    all.calls += w.calls;
    int status = 0;
    char* const plain = abi::__cxa_demangle(w.name, nullptr, nullptr, &status);
    std::string name = status == 0 ? plain : w.name;
    std::free(plain);
    all.functions.push_back(name.substr(0, name.find('(')));
  }
  std::sort(all.functions.begin(), all.functions.end());
  all.functions.erase(std::unique(all.functions.begin(), all.functions.end()), all.functions.end());
  return all;
}
#endif

}  // namespace filch::races

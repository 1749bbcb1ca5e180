// Memory and libc's functions with and without races.
#include <filch/filch.hpp>

#include <sys/mman.h>
#include <cstring>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "checked.hpp"

// Not an unnamed namespace: variables there that are only written would vanish.
namespace cases {

/// So that a value is computed.
template <class Value> [[gnu::always_inline]] inline void use(Value x) { asm volatile("" ::"g"(x)); }
template <class Fn> void twice(Fn f) { filch::join(f, f); }

// The heap.

void reused_heap_memory() {
  twice([] { use(*std::make_unique<long>(3)); });
  twice([] {
    auto* const p = static_cast<char*>(std::malloc(100));
    std::memset(p, 1, 100);
    std::free(p);
  });
}
void realloc_in_a_branch() {
  twice([] {
    auto* p = static_cast<int*>(std::malloc(4 * sizeof(int)));
    p[0] = 1;
    p = static_cast<int*>(std::realloc(p, 4000 * sizeof(int)));
    p[3999] = p[0];
    std::free(p);
  });
}
void freed_beside_a_use() {
  auto* const p = static_cast<int*>(std::malloc(sizeof(int)));
  *p = 3;
  filch::join([p] { use(*p); },        // race free
              [p] { std::free(p); });  // race free
}
void moved_by_realloc_beside_a_use() {
  auto* p = static_cast<int*>(std::malloc(8 * sizeof(int)));
  p[0] = 3;
  int* const old = p;
  filch::join([old] { use(old[0]); },                                                  // race realloc
              [&p] { p = static_cast<int*>(std::realloc(p, 80000 * sizeof(int))); });  // race realloc
  std::free(p);
}
void vectors_of_branches() {
  twice([] {
    std::vector<int> v;
    for (int i = 0; i < 100; ++i) v.push_back(i);
    use(v.back());
  });
}
void one_vector() {
  std::vector<int> v;
  v.reserve(8);
  filch::join([&v] { v[0] = 1; },   // race element
              [&v] { v[0] = 2; });  // race element
}
void pages() {
  twice([] {
    void* const p = mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *static_cast<int*>(p) = 1;
    munmap(p, 8192);
  });
}
void arrays_of_variable_length(int n) {
  for (int i = 1; i < n; ++i) {
    filch::join(
        [i] {
          auto* const own = static_cast<int*>(__builtin_alloca(static_cast<std::size_t>(i) * sizeof(int)));
          own[i - 1] = i;
          use(own[i - 1]);
        },
        [i] {
          auto* const own = static_cast<int*>(__builtin_alloca(static_cast<std::size_t>(2 * i) * sizeof(int)));
          own[2 * i - 1] = i;
          use(own[2 * i - 1]);
        });
  }
}
void variable_length() { arrays_of_variable_length(20); }
void shared_pointers() {
  auto p = std::make_shared<std::string>("a string that is long enough for the heap");
  filch::scope([&p](auto& s) {
    for (int i = 0; i < 4; ++i) s.spawn([p] { use((*p)[3]); });
    p.reset();
  });
}
void strings_of_branches() {
  twice([] {
    std::string s = "some text that is not short";
    s += s;
    use(static_cast<long>(s.find("short")));
  });
}
void one_list() {
  std::list<int> all;
  auto const add = [&all](int i) { all.push_back(i); };  // race list
  filch::join([&] { add(1); }, [&] { add(2); });
}

// Bytes.

char text[64];
void neighbouring_bytes() {
  filch::join([] { text[0] = 'a'; }, [] { text[1] = 'b'; });
}
void same_byte() {
  filch::join([] { text[5] = 'a'; },   // race byte
              [] { text[5] = 'b'; });  // race byte
}
void byte_in_a_word() {
  alignas(8) char bytes[8] = {};
  auto* const word = reinterpret_cast<long*>(bytes);
  filch::join([word] { *word = 1; },        // race byte in a word
              [&bytes] { bytes[6] = 2; });  // race byte in a word
  use(*word);
}
struct [[gnu::packed]] unaligned {
  char c;
  long x;
  char d;
};
void unaligned_neighbours() {
  unaligned u{};
  filch::join([&u] { u.x = 1; }, [&u] { u.c = u.d = 2; });
  use(u.x + u.c);
}
void unaligned_race() {
  unaligned u{};
  filch::join([&u] { u.x = 1; },   // race unaligned
              [&u] { u.x = 2; });  // race unaligned
  use(u.x);
}
void copied_ranges() {
  std::vector<char> from(100, 'x'), to(200);
  filch::join([&] { std::memcpy(to.data(), from.data(), 100); },
              [&] { std::memmove(to.data() + 100, from.data(), 100); });
  filch::join([&] { std::memset(to.data(), 0, 50); }, [&] { std::memset(to.data() + 50, 0, 50); });
}
std::size_t volatile length = 60;
void overlapping_ranges() {
  std::vector<char> from(100, 'x'), to(200);
  filch::join([&] { std::memcpy(to.data(), from.data(), length); },  // race ranges
              [&] { std::memset(to.data() + 59, 0, length); });      // race ranges
}
void constant_copies() {
  char from[24] = {}, to[24];
  filch::join([&] { std::memcpy(to, from, 24); },  // race constant copy
              [&] { to[20] = 1; });                // race constant copy
  use(to[3]);
}
void string_functions() {
  static char words[64] = "seven";
  filch::join([] { use(static_cast<long>(std::strlen(words))); },  // race strlen
              [] { words[2] = 'x'; });                             // race strlen
  static char others[64] = "eight";
  filch::join([] { use(std::strcmp(others, "eighty")); },  // race strcmp
              [] { std::strcpy(others, "nine"); });        // race strcmp
  static char last[64] = "ten";
  filch::join([] { use(std::strchr(last, 'n') - last); }, [] { last[10] = 'x'; });
}
struct large {
  long values[20];
};
large a, b;
void assigned_structs() {
  filch::join([] { a = b; },             // race struct
              [] { a.values[7] = 3; });  // race struct
}

// Made once.

int initial(int x) {
  use(x);
  return x + 1;
}
int& a_static() {
  static int value = initial(3);
  return value;
}
void static_variable() {
  twice([] { use(a_static()); });
}
std::once_flag flag;
int made_once = 0;
void call_once() {
  twice([] {
    std::call_once(flag, [] { made_once = 1; });
    use(made_once);
  });
}
void written_static() {
  filch::join([] { a_static() = 1; },   // race static
              [] { a_static() = 2; });  // race static
}
thread_local int of_the_thread = 0;
void thread_local_variable() {
  filch::join([] { of_the_thread = 1; }, [] { of_the_thread = 2; });
}

// worker_local.

void sums_of_workers() {
  filch::worker_local<long> sum;
  filch::for_index(0, 50, [&sum](int i) { sum.local() += i; });
  use(sum.combine(std::plus<>()));
}
void vectors_of_workers() {
  filch::worker_local<std::vector<int>> found;
  filch::for_index(0, 50, [&found](int i) {
    auto& mine = found.local();
    mine.push_back(i);
  });
  std::size_t n = 0;
  found.for_each([&n](auto& v) { n += v.size(); });
  use(static_cast<long>(n));
}
int beside_locals = 0;
void shared_beside_a_local() {
  filch::worker_local<int> mine;
  filch::for_index(0, 10, [&mine](int) {
    ++mine.local();
    ++beside_locals;  // race beside a local
  });
}
void combined_too_early() {
  filch::worker_local<int> mine;
  filch::join([&mine] { mine.local() += 1; },                       // race combine
              [&mine] { mine.for_each([](int& x) { use(x); }); });  // race combine
}

void all() {
  for (auto* const run : {reused_heap_memory,
                          realloc_in_a_branch,
                          freed_beside_a_use,
                          moved_by_realloc_beside_a_use,
                          vectors_of_branches,
                          one_vector,
                          pages,
                          variable_length,
                          shared_pointers,
                          strings_of_branches,
                          one_list,
                          neighbouring_bytes,
                          same_byte,
                          byte_in_a_word,
                          unaligned_neighbours,
                          unaligned_race,
                          copied_ranges,
                          overlapping_ranges,
                          constant_copies,
                          string_functions,
                          assigned_structs,
                          static_variable,
                          call_once,
                          written_static,
                          thread_local_variable,
                          sums_of_workers,
                          vectors_of_workers,
                          shared_beside_a_local,
                          combined_too_early}) {
    run();
  }
}

}  // namespace cases

int main(int count, char** arguments) {
  return checked::main_of(count, arguments, __FILE__, [](std::string const&) { cases::all(); });
}

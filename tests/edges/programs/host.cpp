// host LIBRARY ROUNDS: loads it, uses it in a thread, and unloads it, so often. It does not use Filch itself.
#include <dlfcn.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>

int main(int argc, char** argv) {
  int const rounds = argc > 2 ? std::atoi(argv[2]) : 0;
  for (int i = 0; i < rounds; ++i) {
    void* const library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      std::puts(dlerror());
      return 1;
    }
    auto* const at_first = reinterpret_cast<long (*)()>(dlsym(library, "guest_at_first"));
    auto* const in_pool = reinterpret_cast<long (*)(long)>(dlsym(library, "guest_in_pool"));
    auto* const touch = reinterpret_cast<void (*)()>(dlsym(library, "guest_touch"));
    std::atomic<bool> touched{false};
    std::atomic<bool> unloaded{false};
    std::thread user([&] {
      touch();
      touched = true;
      while (!unloaded) std::this_thread::yield();
    });
    while (!touched) std::this_thread::yield();
    if (at_first() != 110) std::puts("wrong at first");
    std::thread([&] {
      if (i % 2 == 0 && in_pool(15) != 610) std::puts("wrong in the pool");
    }).join();
    if (dlclose(library) != 0) std::puts(dlerror());
    unloaded = true;
    user.join();
    raise(SIGURG);  // without any effect
  }
  std::puts("done");
}

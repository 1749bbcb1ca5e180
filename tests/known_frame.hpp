// A frame that backtraces look for.
#pragma once

namespace filch_test {

[[gnu::noinline]] inline void known_frame(void (*f)(void*), void* argument) {
  f(argument);
  asm volatile("" ::: "memory");  // its frame is there until f has returned
}
/// Calls f in known_frame(), through a pointer: of a function that is called with constants LLVM makes a copy, which
/// has another address.
template <class F> void in_known_frame(F f) {
  auto (*const volatile call)(void (*)(void*), void*)->void = &known_frame;
  call([](void* p) { (*static_cast<F*>(p))(); }, &f);
}

}  // namespace filch_test

/* Compiled without unwind tables: whoever walks a stack can't see past it. */
void call_blindly(void (*f)(void*), void* argument) {
  f(argument);
  __asm__ volatile("" ::: "memory"); /* no tail call */
}

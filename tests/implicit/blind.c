/* Compiled without unwind tables, so that no walk of the stack gets past this function. */
void call_blindly(void (*f)(void*), void* argument) {
  f(argument);
  __asm__ volatile("" ::: "memory"); /* no tail call */
}

// A function that is compiled without unwind tables.
#pragma once

extern "C" void call_blindly(void (*f)(void*), void* argument);

// A function compiled without unwind information.
#pragma once

extern "C" void call_blindly(void (*f)(void*), void* argument);

// The assembly of each processor that calls a function on another stack: <processor>/call_on_stack.S, or
// generic/call_on_stack.cpp. Called by src/runtime/stack.cpp.
#pragma once

/// Calls call(argument) with `top` as the end of the stack, and comes back.
extern "C" void filch_call_on_stack(void* top, void (*call)(void*), void* argument);

// void filch_call_on_stack(void* top, void (*call)(void*), void* argument)
//
// Calls call(argument) with the stack pointer at `top` (16-byte aligned), and returns to the caller's stack.
//
//      the caller's stack                 the other stack
//      +--------------------+             +--------------------+  <- top
//      | saved x30          |             | call's frame       |
//      | saved x29          | <- x29      |                    |
//      +--------------------+             +--------------------+
//
// Unwinders find the caller through x29, so a backtrace passes from one stack to the other. The name `__morestack` at the
// call is for gdb: only in a function of that name it accepts a caller on a stack below its callee's. The name is local
// to this file. `call` must not throw.
        .text
        .globl  filch_call_on_stack
        .hidden filch_call_on_stack
        .type   filch_call_on_stack, %function
        .p2align 4
filch_call_on_stack:
        .cfi_startproc
        hint    #34                     // bti c
        stp     x29, x30, [sp, #-16]!
        .cfi_def_cfa_offset 16
        .cfi_offset x29, -16
        .cfi_offset x30, -8
        mov     x29, sp
        .cfi_def_cfa_register x29
        mov     sp, x0
        mov     x0, x2
        .type   __morestack, %function
__morestack:
        blr     x1
        mov     sp, x29
        .cfi_def_cfa_register sp
        ldp     x29, x30, [sp], #16
        .cfi_restore x29
        .cfi_restore x30
        .cfi_def_cfa_offset 0
        ret
        .cfi_endproc
        .size   __morestack, . - __morestack
        .size   filch_call_on_stack, . - filch_call_on_stack
        .section .note.GNU-stack, "", %progbits

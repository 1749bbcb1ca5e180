// void filch_call_on_stack(void* top, void (*call)(void*), void* argument)
//
// Calls call(argument) with the stack pointer at `top` (16-byte aligned), and returns to the caller's stack.
//
//      the caller's stack                 the other stack
//      +--------------------+             +--------------------+  <- top
//      | return address     |             | return address     |  into this function
//      | saved rbp          | <- rbp      | call's frame       |
//      +--------------------+             +--------------------+
//
// Unwinders find the caller through rbp, so a backtrace passes from one stack to the other. The name `__morestack` at the
// call is for gdb: only in a function of that name it accepts a caller on a stack below its callee's. The name is local
// to this file. `call` must not throw.
        .text
        .globl  filch_call_on_stack
        .hidden filch_call_on_stack
        .type   filch_call_on_stack, @function
        .p2align 4
filch_call_on_stack:
        .cfi_startproc
        endbr64
        pushq   %rbp
        .cfi_def_cfa_offset 16
        .cfi_offset %rbp, -16
        movq    %rsp, %rbp
        .cfi_def_cfa_register %rbp
        movq    %rdi, %rsp
        movq    %rdx, %rdi
        .type   __morestack, @function
__morestack:
        call    *%rsi
        movq    %rbp, %rsp
        popq    %rbp
        .cfi_def_cfa %rsp, 8
        ret
        .cfi_endproc
        .size   __morestack, . - __morestack
        .size   filch_call_on_stack, . - filch_call_on_stack
        .section .note.GNU-stack, "", @progbits

// void filch_switch_stack(void** from, void* to, void** base)
//
// Leaves the stack one is on, as *from, and goes on where `to` was left. Both look the same from here:
//
//      to, *from -> r15 r14 r13 r12 rbx rbp | return address | the caller's frame
//
// so the call-frame information is right on both sides of the change, at each instruction. `base` is the record at the
// base of the stack that it goes to, the way back for unwinders:
//
//      base -> rbp | return address | rsp after the return
//
// The first two are a frame's, as those find it who follow frame pointers alone.
// Floating-point control words are not part of a stack.
#include "arch/x86_64/preserved_registers.inc"

        .text
        .globl  filch_switch_stack
        .hidden filch_switch_stack
        .type   filch_switch_stack, @function
        .p2align 4
filch_switch_stack:
        .cfi_startproc
        endbr64
        movq    (%rsp), %rax
        leaq    8(%rsp), %rcx
        movq    %rbp, (%rdx)
        movq    %rax, 8(%rdx)
        movq    %rcx, 16(%rdx)
        PUSH_PRESERVED_REGISTERS
        movq    %rsp, (%rdi)
        movq    %rsi, %rsp
        POP_PRESERVED_REGISTERS
        ret
        .cfi_endproc
        .size   filch_switch_stack, . - filch_switch_stack

// The first return address on a new stack: calls r12(r13), which does not return. rbp is the stack's base record, so its
// caller is, for unwinders, whoever switched here last. That is on another stack: filch::implicit's own walk, which
// knows no expression that ends so, ends here. As in call_on_stack.S, the name at the call is for gdb.
        .globl  filch_stack_begins
        .hidden filch_stack_begins
        .type   filch_stack_begins, @function
        .p2align 4
        .cfi_startproc
        .cfi_escape 0x0f, 0x05, 0x76, 0x10, 0x06, 0x23, 0x00  // cfa: *(rbp + 16) + 0
        .cfi_offset %rip, -8
        PRESERVED_REGISTERS_ARE_PUSHED
        nop                     // unwinders look up the address before this one
filch_stack_begins:
        endbr64
        movq    %r13, %rdi
        .type   __morestack, @function
__morestack:
        call    *%r12
        ud2
        .cfi_endproc
        .size   __morestack, . - __morestack
        .size   filch_stack_begins, . - filch_stack_begins
        .section .note.GNU-stack, "", @progbits

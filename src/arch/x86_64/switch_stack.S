// void filch_switch_stack(void** from, void* to, void** base)
//
// Leaves the current stack, saves its stack pointer in *from, and continues where the stack `to` was left. A stack that
// was left looks like this:
//
//      to, *from -> r15 r14 r13 r12 rbx rbp | return address | the caller's frame
//
// The two stacks look the same, so the call-frame information is right before and after the change of rsp. `base` is the
// record at the base of the stack `to`, from which unwinders continue with the stack that was left:
//
//      base -> rbp | return address | rsp after the return
//
// The first two words are as in a frame, for unwinders that follow frame pointers only. Floating-point control words
// are not saved.

#include "saved_registers.inc"

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
        PUSH_PRESERVED
        movq    %rsp, (%rdi)
        movq    %rsi, %rsp
        POP_PRESERVED
        ret
        .cfi_endproc
        .size   filch_switch_stack, . - filch_switch_stack

// The first return address on a new stack: calls r12(r13), which does not return.
//
//      rbp -> the stack's base record
//      rsp -> the base of the stack
//
// For unwinders the caller is the code that switched here last, on another stack: its registers lie where
// filch_switch_stack pushed them. The walk of filch::implicit must not leave the stack. It does not know this expression
// for the cfa, so it ends here. The name at the call is for gdb, as in call_on_stack.S.
        .globl  filch_stack_begins
        .hidden filch_stack_begins
        .type   filch_stack_begins, @function
        .p2align 4
        .cfi_startproc
        .cfi_escape 0x0f, 0x05, 0x76, 0x10, 0x06, 0x23, 0x00  // cfa: *(rbp + 16) + 0
        .cfi_offset %rip, -8
        PRESERVED_ARE_PUSHED
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

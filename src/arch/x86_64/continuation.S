// Landing pads run by hand, and the return barrier: see src/schedulers/implicit/protocol.md.
//
// A state (implicit_state, in src/schedulers/implicit/worker.hpp):
//   0 rbx   8 rbp   16 r12   24 r13   32 r14   40 r15   48 rsp   56 rip
//   64 rcx  72 rdx  80 rsi   88 rdi   96 r8   104 r9   112 r10  120 the offering code's rsp
// A pad (join_frame): the same up to rip, then 64 selector
#include "arch/x86_64/preserved_registers.inc"

        .text

// Call-frame information where rsp is the frame's: the cfa of filch_implicit_run_pad is *(state + 120) + 104.
        .macro  STATE_FINDS_CFA breg
        .cfi_escape 0x0f, 0x06, \breg, 0xf8, 0x00, 0x06, 0x23, 0x68
        .endm

// void filch_implicit_run_pad(state*, pad const*, exception*): goes to the landing pad as an unwinder would. It comes
// back through filch_implicit_offered. Signals are blocked: the stack below the pad's rsp is in use. Valgrind takes the
// higher rsp for the end of the frames below it, so it is told afterwards, by a request of its own (MAKE_MEM_DEFINED;
// elsewhere it does nothing), that they are still there:
//
//      offering rsp -> request, address, bytes, 3 unused | r15 r14 r13 r12 rbx rbp | return address
        .globl  filch_implicit_run_pad
        .hidden filch_implicit_run_pad
        .type   filch_implicit_run_pad, @function
        .p2align 4
filch_implicit_run_pad:
        .cfi_startproc
        endbr64
        PUSH_PRESERVED_REGISTERS
        subq    $48, %rsp
        .cfi_adjust_cfa_offset 48
        movq    $0x4d430002, (%rsp)
        movq    %rsp, 8(%rsp)
        movq    48(%rsi), %rcx
        subq    %rsp, %rcx
        movq    %rcx, 16(%rsp)
        movq    %rsp, 120(%rdi)
        movq    filch_implicit_offering@gottpoff(%rip), %rcx
        movq    %rdi, %fs:(%rcx)
        movq    %rdx, %rax
        movq    %rsi, %r11
        movq    64(%r11), %rdx
        movq    (%r11), %rbx
        movq    8(%r11), %rbp
        movq    16(%r11), %r12
        movq    24(%r11), %r13
        movq    32(%r11), %r14
        movq    40(%r11), %r15
        movq    48(%r11), %rcx
        movq    56(%r11), %r11
        movq    %rcx, %rsp
        STATE_FINDS_CFA 0x75    // rdi
        jmp     *%r11
        .cfi_endproc
        .size   filch_implicit_run_pad, . - filch_implicit_run_pad

// Jumped to from a landing pad: rax the state, r11 where to go on. Returns for filch_implicit_run_pad, whose frame it
// takes up.
        .globl  filch_implicit_offered
        .type   filch_implicit_offered, @function
        .p2align 4
filch_implicit_offered:
        .cfi_startproc
        STATE_FINDS_CFA 0x70    // rax
        PRESERVED_REGISTERS_ARE_PUSHED
        endbr64
        movq    %rbx, (%rax)
        movq    %rbp, 8(%rax)
        movq    %r12, 16(%rax)
        movq    %r13, 24(%rax)
        movq    %r14, 32(%rax)
        movq    %r15, 40(%rax)
        movq    %rsp, 48(%rax)
        movq    %r11, 56(%rax)
        movq    %rcx, 64(%rax)
        movq    %rdx, 72(%rax)
        movq    %rsi, 80(%rax)
        movq    %rdi, 88(%rax)
        movq    %r8, 96(%rax)
        movq    %r9, 104(%rax)
        movq    %r10, 112(%rax)
        movq    120(%rax), %rsp
        .cfi_def_cfa %rsp, 104
        movq    %rsp, %rax
        xorl    %edx, %edx
        rolq    $3, %rdi        // Valgrind's request: rax its words, rdx its answer
        rolq    $13, %rdi
        rolq    $61, %rdi
        rolq    $51, %rdi
        xchgq   %rbx, %rbx
        movq    filch_implicit_offering@gottpoff(%rip), %rcx
        movq    $0, %fs:(%rcx)
        addq    $48, %rsp
        .cfi_adjust_cfa_offset -48
        POP_PRESERVED_REGISTERS
        ret
        .cfi_endproc
        .size   filch_implicit_offered, . - filch_implicit_offered

// void filch_implicit_registers(frame_registers*): rbx rbp r12 r13 r14 r15 rsp rip of the caller, after the call.
        .globl  filch_implicit_registers
        .hidden filch_implicit_registers
        .type   filch_implicit_registers, @function
        .p2align 4
filch_implicit_registers:
        .cfi_startproc
        endbr64
        movq    %rbx, (%rdi)
        movq    %rbp, 8(%rdi)
        movq    %r12, 16(%rdi)
        movq    %r13, 24(%rdi)
        movq    %r14, 32(%rdi)
        movq    %r15, 40(%rdi)
        leaq    8(%rsp), %rax
        movq    %rax, 48(%rdi)
        movq    (%rsp), %rax
        movq    %rax, 56(%rdi)
        ret
        .cfi_endproc
        .size   filch_implicit_registers, . - filch_implicit_registers

        .macro  GO_ON           // rax: the state. To the landing pad, on the frame's stack
        movq    (%rax), %rbx
        movq    8(%rax), %rbp
        movq    16(%rax), %r12
        movq    24(%rax), %r13
        movq    32(%rax), %r14
        movq    40(%rax), %r15
        movq    64(%rax), %rcx
        movq    72(%rax), %rdx
        movq    80(%rax), %rsi
        movq    88(%rax), %rdi
        movq    96(%rax), %r8
        movq    104(%rax), %r9
        movq    112(%rax), %r10
        jmp     *56(%rax)
        .endm

// The return barrier: f of an offered frame returns here, on the frame's stack, and what it throws ends here. One for
// each size of stacks, 2^bits, since their headers lie at a multiple of the size.
//
// Unwinders find the return address that a barrier took away by its place, in the records of the stack: a signal
// handler may move the barrier to a newer frame while an unwinder that it has interrupted is on its way past the old
// one. rip is
//
//      base = cfa >> bits << bits; p = base->known_end
//      do { if (--p <= base) return 0; } while (p->return_slot != cfa - 8)
//      return p->hidden_return
        .set    RECORD_LOW, 384 % 256   // bytes of a record
        .set    RECORD_HIGH, 384 >> 8
        .set    SLOT_LOW, 264 % 256     // of return_slot in it
        .set    SLOT_HIGH, 264 >> 8
        .set    HIDDEN_LOW, 344 % 256   // of hidden_return
        .set    HIDDEN_HIGH, 344 >> 8

        .macro  HIDDEN_RETURN_BY_CFA bits
        .cfi_escape 0x16, 0x10, 49                            // rip is the value of an expression of so many bytes
        .cfi_escape 0x12, 0x08, \bits, 0x25, 0x08, \bits, 0x24 // cfa base
        .cfi_escape 0x23, 72, 0x06                            // cfa p
        .cfi_escape 0x0a, RECORD_LOW, RECORD_HIGH, 0x1c    // 1: cfa p
        .cfi_escape 0x14, 0x08, \bits, 0x25, 0x08, \bits, 0x24 // cfa p base
        .cfi_escape 0x14, 0x2a, 0x28, 21, 0                   // base >= p: to 2
        .cfi_escape 0x14, 0x38, 0x1c, 0x14                    // cfa p cfa-8 p
        .cfi_escape 0x0a, SLOT_LOW, SLOT_HIGH, 0x22, 0x06
        .cfi_escape 0x2e, 0x28, 0xe3, 0xff                    // unequal: to 1
        .cfi_escape 0x0a, HIDDEN_LOW, HIDDEN_HIGH, 0x22, 0x06
        .cfi_escape 0x2f, 2, 0                                // to the end
        .cfi_escape 0x13, 0x30                                // 2: cfa 0
        .endm

// Each exception table is a whole one, for unwinders and tools that read it before they call the personality. Its one
// call site is all of the barrier; the personality reads where the landing pad is.
        .macro  EXCEPTION_TABLE bits
        .pushsection .gcc_except_table, "a", @progbits
.Ltable\bits:
        .byte   0xff            // landing pads are counted from where the function begins
        .byte   0xff            // there are no types
        .byte   0x03            // a call site's numbers have four bytes
        .byte   13              // bytes of all call sites
        .long   0, .Lends\bits - .Lbegins\bits
        .long   .Lthrew\bits - .Lbegins\bits
        .byte   0               // action: a cleanup
        .popsection
        .endm

        .macro  RETURN_BARRIER bits
.Lbegins\bits:
        .cfi_startproc
        .cfi_personality 0x9b, DW.ref.filch_implicit_personality
        .cfi_lsda 0x1b, .Ltable\bits
        .cfi_def_cfa %rsp, 0
        HIDDEN_RETURN_BY_CFA \bits
        nop                     // unwinders look up the address before this one
.Lreturned\bits:
        subq    $112, %rsp
        .cfi_def_cfa_offset 112
        movq    %rsp, %rcx
        shrq    $\bits, %rcx
        shlq    $\bits, %rcx
        movq    64(%rcx), %rcx
        movq    %rcx, 104(%rsp)
        .cfi_remember_state
        .cfi_offset %rip, -8    // the header's is another one before this goes on
        movq    %rax, (%rsp)
        movq    %rdx, 8(%rsp)
        movq    %xmm0, 16(%rsp)
        movq    %rbx, 24(%rsp)
        movq    %rbp, 32(%rsp)
        movq    %r12, 40(%rsp)
        movq    %r13, 48(%rsp)
        movq    %r14, 56(%rsp)
        movq    %r15, 64(%rsp)
        movq    %rsp, %rdi
        movl    $\bits, %esi
        call    filch_implicit_child_returned
        testq   %rax, %rax
        jz      .Lback\bits
        addq    $112, %rsp
        .cfi_def_cfa_offset 0
        GO_ON
        .cfi_def_cfa_offset 112
.Lback\bits:                    // nobody took the offer
        movq    (%rsp), %rax
        movq    8(%rsp), %rdx
        movq    16(%rsp), %xmm0
        addq    $112, %rsp
        .cfi_def_cfa_offset 0
        jmp     *-8(%rsp)       // what lies so near below the stack pointer stays
        .cfi_restore_state
        .cfi_def_cfa_offset 0
.Lthrew\bits:                   // rax: the exception
        subq    $48, %rsp
        .cfi_def_cfa_offset 48
        movq    %rax, %rdi
        movq    %rsp, %rsi
        movl    $\bits, %edx
        call    filch_implicit_child_threw
        addq    $48, %rsp
        .cfi_def_cfa_offset 0
        GO_ON
        .cfi_endproc
.Lends\bits:
        .pushsection .data.rel.ro, "aw"
        .quad   .Lreturned\bits
        .popsection
        EXCEPTION_TABLE \bits
        .endm

        .pushsection .data.rel.ro, "aw"
        .p2align 3
        .globl  filch_implicit_barriers
        .hidden filch_implicit_barriers
filch_implicit_barriers:
        .popsection
        .globl  filch_implicit_barriers_begin
        .hidden filch_implicit_barriers_begin
filch_implicit_barriers_begin:
        .altmacro
        .set    bits, 16
        .rept   32
        RETURN_BARRIER %bits
        .set    bits, bits + 1
        .endr
        .noaltmacro

// The same for a frame on a thread's own stack, outside all pools.
        .globl  filch_implicit_barrier_outside
        .hidden filch_implicit_barrier_outside
        .type   filch_implicit_barrier_outside, @function
        .p2align 4
        .cfi_startproc
        .cfi_undefined %rip
        nop
filch_implicit_barrier_outside:
        call    filch_implicit_returned_outside
        .cfi_def_cfa %rsp, 0
        .cfi_escape 0x16, 0x10, 0x03, 0x70, 0x38, 0x06  // rip: where it goes on, *(rax + 56)
        GO_ON
        .cfi_endproc
        .size   filch_implicit_barrier_outside, . - filch_implicit_barrier_outside
        .globl  filch_implicit_barriers_end
        .hidden filch_implicit_barriers_end
filch_implicit_barriers_end:

        .section .data.rel.local.DW.ref.filch_implicit_personality, "awG", @progbits, DW.ref.filch_implicit_personality, comdat
        .p2align 3
        .weak   DW.ref.filch_implicit_personality
        .hidden DW.ref.filch_implicit_personality
        .type   DW.ref.filch_implicit_personality, @object
        .size   DW.ref.filch_implicit_personality, 8
DW.ref.filch_implicit_personality:
        .quad   filch_implicit_personality
        .section .note.GNU-stack, "", @progbits

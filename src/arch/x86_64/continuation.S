// The assembly of filch::implicit: running a landing pad, reading the caller's registers, and the return barrier.
// src/schedulers/implicit/protocol.md argues why they are right.
//
// The state of a join frame that continues at its landing pad (implicit_state, in src/schedulers/implicit):
//
//      0 rbx   8 rbp   16 r12   24 r13   32 r14   40 r15   48 rsp   56 rip
//      64 rcx  72 rdx  80 rsi   88 rdi   96 r8    104 r9   112 r10  120 offering_rsp
//
// A pad (join_frame): the same up to rip, then 64 selector.

#include "saved_registers.inc"

        .text

// Call-frame information while rsp is the join frame's. The cfa is that of filch_implicit_run_pad: *(state + 120) + 104.
// `breg` is the DWARF operation for the register that holds the state.
        .macro  STATE_FINDS_CFA breg
        .cfi_escape 0x0f, 0x06, \breg, 0xf8, 0x00, 0x06, 0x23, 0x68
        .endm

// void filch_implicit_run_pad(state*, pad const*, exception*)
//
// Enters the landing pad as an unwinder would: rax is the exception, rdx the selector, and the preserved registers and
// rsp are those of the join frame. The pad jumps to filch_implicit_offered, which returns for this function. Meanwhile
// the stack below the pad's rsp is in use, so the caller blocks signals.
//
//      state.offering_rsp -> +0   a request to Valgrind: its code
//                            +8   the address, which is this rsp
//                            +16  the number of bytes
//                            +24  24 unused bytes
//                            +48  r15 r14 r13 r12 rbx rbp
//                            +96  return address
//                            +104 the caller's frame  <- cfa
//
// Valgrind takes the pad's higher rsp for the end of the frames below it. The request (MAKE_MEM_DEFINED) tells it
// afterwards that they still exist. Without Valgrind the request does nothing.
        .globl  filch_implicit_run_pad
        .hidden filch_implicit_run_pad
        .type   filch_implicit_run_pad, @function
        .p2align 4
filch_implicit_run_pad:
        .cfi_startproc
        endbr64
        PUSH_PRESERVED
        subq    $48, %rsp
        .cfi_adjust_cfa_offset 48
        movq    $0x4d430002, (%rsp)
        movq    %rsp, 8(%rsp)
        movq    48(%rsi), %rcx          // pad.rsp
        subq    %rsp, %rcx
        movq    %rcx, 16(%rsp)
        movq    %rsp, 120(%rdi)         // state.offering_rsp
        movq    filch_implicit_offering@gottpoff(%rip), %rcx
        movq    %rdi, %fs:(%rcx)        // read by the statement on the pad
        movq    %rdx, %rax
        movq    %rsi, %r11
        movq    64(%r11), %rdx          // pad.selector
        LOAD_PRESERVED r11
        movq    48(%r11), %rcx          // pad.rsp
        movq    56(%r11), %r11          // pad.rip
        movq    %rcx, %rsp
        STATE_FINDS_CFA 0x75            // rdi
        jmp     *%r11
        .cfi_endproc
        .size   filch_implicit_run_pad, . - filch_implicit_run_pad

// The statement on a landing pad (implicit_offering) jumps here: rax is the state, r11 the address where the frame
// continues. Saves the registers of the pad, then returns for filch_implicit_run_pad, whose frame is drawn above.
        .globl  filch_implicit_offered
        .type   filch_implicit_offered, @function
        .p2align 4
filch_implicit_offered:
        .cfi_startproc
        STATE_FINDS_CFA 0x70            // rax
        PRESERVED_ARE_PUSHED
        endbr64
        STORE_PRESERVED rax
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
        movq    %rsp, %rax              // Valgrind's request: rax points to its words, rdx gets the answer
        xorl    %edx, %edx
        rolq    $3, %rdi
        rolq    $13, %rdi
        rolq    $61, %rdi
        rolq    $51, %rdi
        xchgq   %rbx, %rbx
        movq    filch_implicit_offering@gottpoff(%rip), %rcx
        movq    $0, %fs:(%rcx)
        addq    $48, %rsp
        .cfi_adjust_cfa_offset -48
        POP_PRESERVED
        ret
        .cfi_endproc
        .size   filch_implicit_offered, . - filch_implicit_offered

// void filch_implicit_registers(frame_registers*)
//
// Writes the caller's registers, as they are after this call: the preserved ones, 48 rsp, 56 rip.
//
//      rsp -> return address
//      +8     the caller's frame
        .globl  filch_implicit_registers
        .hidden filch_implicit_registers
        .type   filch_implicit_registers, @function
        .p2align 4
filch_implicit_registers:
        .cfi_startproc
        endbr64
        STORE_PRESERVED rdi
        leaq    8(%rsp), %rax
        movq    %rax, 48(%rdi)
        movq    (%rsp), %rax
        movq    %rax, 56(%rdi)
        ret
        .cfi_endproc
        .size   filch_implicit_registers, . - filch_implicit_registers

// Continues the frame whose state is in rax, on its own stack. rsp is the frame's, below the arguments that were pushed
// for f. From here on the frame is unwound as what it continues as: rip is *(rax + 56).
        .macro  CONTINUE_AT_PAD
        .cfi_def_cfa %rsp, 0
        .cfi_escape 0x16, 0x10, 0x03, 0x70, 0x38, 0x06
        LOAD_PRESERVED rax
        movq    64(%rax), %rcx
        movq    72(%rax), %rdx
        movq    80(%rax), %rsi
        movq    88(%rax), %rdi
        movq    96(%rax), %r8
        movq    104(%rax), %r9
        movq    112(%rax), %r10
        movq    48(%rax), %rsp          // without the arguments
        jmp     *56(%rax)
        .endm

// The return barrier: code at the address that stands in place of an offered frame's return address. f returns here, on
// the frame's stack, and an exception of f ends here. There is one barrier for each size of stacks, 2^bits: a stack's
// header lies at a multiple of its size.
//
// The barrier's frame (implicit_returned), while it calls filch_implicit_child_returned:
//
//      rsp -> 0 rax   8 rdx   16 xmm0                      f's result
//             24 rbx  32 rbp  40 r12  48 r13  56 r14  64 r15
//             72 32 unused bytes
//             104 the return address that the barrier hides
//             112 the join frame  <- cfa
//
// Unwinders cannot read the hidden return address in its place. They find it in the records of the stack, by that
// place: an interrupt may move the barrier to a newer frame while an unwinder that it interrupts is on its way past the
// old one. So the call-frame information computes rip:
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
        .cfi_escape 0x16, 0x10, 49                            // rip is the value of an expression of 49 bytes
        .cfi_escape 0x12, 0x08, \bits, 0x25, 0x08, \bits, 0x24 // cfa base
        .cfi_escape 0x23, 72, 0x06                            // cfa p
        .cfi_escape 0x0a, RECORD_LOW, RECORD_HIGH, 0x1c       // 1: cfa p
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
        shlq    $\bits, %rcx    // the stack's header
        movq    64(%rcx), %rcx  // its hidden_return
        movq    %rcx, 104(%rsp)
        .cfi_remember_state
        .cfi_offset %rip, -8    // from here on: the call changes the header
        movq    %rax, (%rsp)
        movq    %rdx, 8(%rsp)
        movq    %xmm0, 16(%rsp)
        STORE_PRESERVED rsp, 24
        movq    %rsp, %rdi
        movl    $\bits, %esi
        call    filch_implicit_child_returned
        testq   %rax, %rax
        jz      .Lback\bits
        addq    $112, %rsp
        CONTINUE_AT_PAD
        .cfi_def_cfa_offset 112
        .cfi_offset %rip, -8
.Lback\bits:                    // no thief took the offer: to f's caller
        movq    (%rsp), %rax
        movq    8(%rsp), %rdx
        movq    16(%rsp), %xmm0
        addq    $112, %rsp
        .cfi_def_cfa_offset 0
        jmp     *-8(%rsp)       // within the 128 bytes below rsp that signals leave alone
        .cfi_restore_state
        .cfi_def_cfa_offset 0
.Lthrew\bits:                   // entered by the unwinder: rax is the exception
        subq    $48, %rsp
        .cfi_def_cfa_offset 48
        movq    %rax, %rdi
        movq    %rsp, %rsi
        movl    $\bits, %edx
        call    filch_implicit_child_threw
        addq    $48, %rsp
        CONTINUE_AT_PAD
        .cfi_endproc
.Lends\bits:
        .pushsection .data.rel.ro, "aw"
        .quad   .Lreturned\bits
        .popsection
        EXCEPTION_TABLE \bits
        .endm

// The addresses of the barriers, for stacks of 2^16 to 2^47 bytes.
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

// The return barrier of a frame outside all pools, on a thread's own stack. Its join always continues at the pad.
//
//      rsp -> the join frame
        .globl  filch_implicit_barrier_outside
        .hidden filch_implicit_barrier_outside
        .type   filch_implicit_barrier_outside, @function
        .p2align 4
        .cfi_startproc
        .cfi_undefined %rip
        nop                     // unwinders look up the address before this one
filch_implicit_barrier_outside:
        call    filch_implicit_returned_outside
        CONTINUE_AT_PAD
        .cfi_endproc
        .size   filch_implicit_barrier_outside, . - filch_implicit_barrier_outside
        .globl  filch_implicit_barriers_end
        .hidden filch_implicit_barriers_end
filch_implicit_barriers_end:

// The personality, as an address that call-frame information may refer to: compilers make the same word for their own.
        .section .data.rel.local.DW.ref.filch_implicit_personality, "awG", @progbits, DW.ref.filch_implicit_personality, comdat
        .p2align 3
        .weak   DW.ref.filch_implicit_personality
        .hidden DW.ref.filch_implicit_personality
        .type   DW.ref.filch_implicit_personality, @object
        .size   DW.ref.filch_implicit_personality, 8
DW.ref.filch_implicit_personality:
        .quad   filch_implicit_personality
        .section .note.GNU-stack, "", @progbits

// For tools/inspect-landing-pads --self-test: landing pads as compilers make them, and ones that break a rule each.

        // A function that calls f, with a landing pad that catches a continuation, and what lies on the way.
        .macro  PAD name, way
        .text
        .type   \name, @function
\name:
        .cfi_startproc
        .cfi_personality 0x9b, personality
        .cfi_lsda 0x1b, .Ltable_\name
.Lbegin_\name:
        pushq   %rbx
        .cfi_def_cfa_offset 16
.Lcall_\name:
        call    f@PLT
.Lreturned_\name:
        popq    %rbx
        .cfi_def_cfa_offset 8
        ret
        .cfi_def_cfa_offset 16
.Lend_\name:
        call    abort@PLT               // allowed: it does not return into the landing pad
.Lpad_\name:
        endbr64
        movq    %rdx, %rsi
        je      .Lother_\name
        \way
        movq    filch_implicit_offering@gottpoff(%rip), %rax
        movq    %fs:(%rax), %rax
        testq   %rax, %rax
        je      2f
        leaq    2f(%rip), %r11
        jmp     *filch_implicit_offered@GOTPCREL(%rip)
2:      call    g@PLT                   // allowed: the frame goes on
        jmp     .Lpad_\name
.Lother_\name:                          // allowed: leads to no offer
        pushq   %rax
        jmp     .Lend_\name
        .cfi_endproc
        .size   \name, . - \name

        .section .gcc_except_table, "a", @progbits
        .p2align 2
.Ltable_\name:
        .byte   0xff, 0x9b              // landing pads from the function's start; types: indirect, relative, four bytes
        .uleb128 .Ltypes_\name - .Lafter_types_\name
.Lafter_types_\name:
        .byte   0x01                    // unsigned LEB128
        .uleb128 .Lactions_\name - .Lcalls_\name
.Lcalls_\name:
        .uleb128 .Lcall_\name - .Lbegin_\name, .Lreturned_\name - .Lcall_\name, .Lpad_\name - .Lbegin_\name, 1
.Lactions_\name:
        .byte   1, 0
        .p2align 2
        .long   DW.ref._ZTIN5filch2v06detail12continuationE - .
.Ltypes_\name:
        .endm

        PAD     good_nothing
        PAD     good_frame, "movq %rsi, 8(%rsp); movq %rsi, -8(%rbp); leaq -8(%rsp), %rdi"
        PAD     good_jump, "jmp 1f; pushq %rax; 1: nop"
        PAD     good_handler, "jne 1f; call __cxa_begin_catch@PLT; pushq %rax; 1: nop"
        PAD     bad_handler, "call __cxa_begin_catch@PLT"
        PAD     bad_push, "pushq %rsi"
        PAD     bad_pop, "popq %rsi"
        PAD     bad_call, "call g@PLT"
        PAD     bad_indirect_call, "call *%rsi"
        PAD     bad_subtraction, "subq $8, %rsp"
        PAD     bad_address, "leaq -64(%rbp), %rsp"
        PAD     bad_alignment, "andq $-32, %rsp"
        PAD     bad_store, "movq %rsi, -8(%rsp)"
        PAD     bad_vector_store, "movups %xmm0, -24(%rsp)"
        PAD     bad_branch, "jne 1f; pushq %rsi; 1: nop"
        PAD     bad_end, "ud2"

        .data
        .p2align 3
DW.ref._ZTIN5filch2v06detail12continuationE:
        .quad   0
personality:
        .quad   0
        .section .note.GNU-stack, "", @progbits

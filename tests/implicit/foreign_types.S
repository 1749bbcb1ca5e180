// A frame as of a language that is not C++: the types in its exception table are names.
// void filch_test_call_as_other_language(void (*call)(void*), void* argument)
        .text
        .globl  filch_test_call_as_other_language
        .type   filch_test_call_as_other_language, @function
filch_test_call_as_other_language:
        .cfi_startproc
        .cfi_personality 0x9b, .Lreference
        .cfi_lsda 0x1b, .Ltable
        endbr64
        subq    $8, %rsp
        .cfi_def_cfa_offset 16
        movq    %rdi, %rax
        movq    %rsi, %rdi
.Lbegin:
        call    *%rax
.Lend:
        addq    $8, %rsp
        .cfi_def_cfa_offset 8
        ret
        .cfi_def_cfa_offset 16
.Lpad:  ud2                             // nothing is thrown
        .cfi_endproc
        .size   filch_test_call_as_other_language, . - filch_test_call_as_other_language
.Lpersonality:
        ud2

        .section .gcc_except_table, "a", @progbits
        .p2align 2
.Ltable:
        .byte   0xff                    // landing pads are counted from where the function begins
        .byte   0x1b                    // types: relative, four bytes
        .uleb128 .Ltypes - .Lafter
.Lafter:
        .byte   0x01                    // a call site's numbers are LEB128
        .uleb128 .Lactions - .Lcalls
.Lcalls:
        .uleb128 .Lbegin - filch_test_call_as_other_language
        .uleb128 .Lend - .Lbegin
        .uleb128 .Lpad - filch_test_call_as_other_language
        .uleb128 1
.Lactions:
        .byte   1, 0
        .p2align 2
        .long   .Lname - .
.Ltypes:
        .section .rodata
.Lname: .string "NSException, and more than two words of it"
        .section .data.rel.local, "aw"
        .p2align 3
.Lreference:
        .quad   .Lpersonality
        .section .note.GNU-stack, "", @progbits

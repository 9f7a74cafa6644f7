// dlsym for the whole process. What we do not replace is answered by the real one, reached by a jump:
// it resolves RTLD_NEXT and RTLD_DEFAULT against its caller, which must stay the program's.
    .text
    .balign 16
    .globl dlsym
    .type dlsym, @function
dlsym:
    .cfi_startproc
    endbr64
    push %rdi
    .cfi_adjust_cfa_offset 8
    push %rsi
    .cfi_adjust_cfa_offset 8
    sub $8, %rsp
    .cfi_adjust_cfa_offset 8
    cmpq $0, barracuda_real_dlsym(%rip)
    jne .Lfound
    call barracuda_find_real_dlsym
.Lfound:
    mov 16(%rsp), %rdi
    lea 8(%rsp), %rsi
    call barracuda_replace_symbol
    add $8, %rsp
    .cfi_adjust_cfa_offset -8
    pop %rsi
    .cfi_adjust_cfa_offset -8
    pop %rdi
    .cfi_adjust_cfa_offset -8
    test %rax, %rax
    jne .Lreplaced
    jmp *barracuda_real_dlsym(%rip)
.Lreplaced:
    ret
    .cfi_endproc
    .size dlsym, . - dlsym

    .hidden barracuda_real_dlsym
    .hidden barracuda_find_real_dlsym
    .hidden barracuda_replace_symbol
    .section .note.GNU-stack, "", @progbits

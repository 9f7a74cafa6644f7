// A trampoline for each exported name: it jumps through its slot, which starts at a stub that asks
// barracuda_resolve_export(index) and remembers the answer. The index is the slot's place in the array,
// library by library (exports.h), in the order of the tables. A name of libcudart carries the version
// node of its library: @@ the newest, which is also who asks for no version.
    .macro RUNTIME_TRAMPOLINE name, first, last, version, node
    .if (\first <= \version) && (\version <= \last)
    TRAMPOLINE barracuda_\version\()_\name
    .symver barracuda_\version\()_\name, \name\()\node, remove
    .endif
    .endm

    .macro TRAMPOLINE name
    .pushsection .data.rel.barracuda_exports, "aw", @progbits
    .balign 8
.Lslot_\name:
    .quad .Lstub_\name
    .popsection

    .pushsection .data.rel.ro.barracuda_export_addresses, "aw", @progbits
    .balign 8
    .quad .Lentry_\name
    .quad .Lstub_\name
    .popsection

    .text
    .balign 16
    .globl \name
    .type \name, @function
\name:
.Lentry_\name:
    .cfi_startproc
    endbr64
    jmp *.Lslot_\name(%rip)
    .cfi_endproc
    .size \name, . - \name
.Lstub_\name:
    .cfi_startproc
    endbr64
    lea .Lslot_\name(%rip), %r11
    jmp .Lresolve
    .cfi_endproc
    .endm

    .section .data.rel.barracuda_exports, "aw", @progbits
    .balign 8
    .globl barracuda_export_slots
    .hidden barracuda_export_slots
barracuda_export_slots:

// Pairs: the trampoline, its stub.
    .section .data.rel.ro.barracuda_export_addresses, "aw", @progbits
    .balign 8
    .globl barracuda_export_addresses
    .hidden barracuda_export_addresses
barracuda_export_addresses:

    .text
    .hidden barracuda_resolve_export
// In: r11 = the slot. Every register that may hold an argument survives, and rax, which counts the
// vector registers of a variadic call. The return address is on the stack, so 9 pushes align it.
    .balign 16
.Lresolve:
    .cfi_startproc
    push %rdi
    .cfi_adjust_cfa_offset 8
    push %rsi
    .cfi_adjust_cfa_offset 8
    push %rdx
    .cfi_adjust_cfa_offset 8
    push %rcx
    .cfi_adjust_cfa_offset 8
    push %r8
    .cfi_adjust_cfa_offset 8
    push %r9
    .cfi_adjust_cfa_offset 8
    push %rax
    .cfi_adjust_cfa_offset 8
    push %r10
    .cfi_adjust_cfa_offset 8
    push %r11
    .cfi_adjust_cfa_offset 8
    sub $128, %rsp
    .cfi_adjust_cfa_offset 128
    movaps %xmm0, (%rsp)
    movaps %xmm1, 16(%rsp)
    movaps %xmm2, 32(%rsp)
    movaps %xmm3, 48(%rsp)
    movaps %xmm4, 64(%rsp)
    movaps %xmm5, 80(%rsp)
    movaps %xmm6, 96(%rsp)
    movaps %xmm7, 112(%rsp)
    lea barracuda_export_slots(%rip), %rax
    mov %r11, %rdi
    sub %rax, %rdi
    shr $3, %rdi
    call barracuda_resolve_export
    movaps (%rsp), %xmm0
    movaps 16(%rsp), %xmm1
    movaps 32(%rsp), %xmm2
    movaps 48(%rsp), %xmm3
    movaps 64(%rsp), %xmm4
    movaps 80(%rsp), %xmm5
    movaps 96(%rsp), %xmm6
    movaps 112(%rsp), %xmm7
    add $128, %rsp
    .cfi_adjust_cfa_offset -128
    pop %r11
    .cfi_adjust_cfa_offset -8
    mov %rax, (%r11)
    mov %rax, %r11
    pop %r10
    .cfi_adjust_cfa_offset -8
    pop %rax
    .cfi_adjust_cfa_offset -8
    pop %r9
    .cfi_adjust_cfa_offset -8
    pop %r8
    .cfi_adjust_cfa_offset -8
    pop %rcx
    .cfi_adjust_cfa_offset -8
    pop %rdx
    .cfi_adjust_cfa_offset -8
    pop %rsi
    .cfi_adjust_cfa_offset -8
    pop %rdi
    .cfi_adjust_cfa_offset -8
    jmp *%r11
    .cfi_endproc

#define FUNCTION(x, first, last, ...) RUNTIME_TRAMPOLINE x, first, last, 13, "@@libcudart.so.13";
#include "emulator/libcudart.def"
#define FUNCTION(x, first, last, ...) RUNTIME_TRAMPOLINE x, first, last, 12, "@libcudart.so.12";
#include "emulator/libcudart.def"
#define FUNCTION(x, first, last, ...) RUNTIME_TRAMPOLINE x, first, last, 11, "@libcudart.so.11.0";
#include "emulator/libcudart.def"
#define FUNCTION(x, ...) TRAMPOLINE x;
#include "emulator/libcuda.def"

    .section .note.GNU-stack, "", @progbits

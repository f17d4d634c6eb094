/* One function per way of unwinding; 16 bytes each, one row each. See tests/unit/unwind/test_unwinder.c. */
    .text
    .macro function name
    .balign 16
    .globl \name
    .type \name, @function
\name:
    .cfi_startproc
    .endm
    .macro end name
    .fill 16, 1, 0x90
    .cfi_endproc
    .size \name, . - \name
    .endm

    function outermost
    .cfi_undefined rip
    end outermost

    function plain /* 32 bytes of frame, nothing kept */
    .cfi_def_cfa_offset 32
    end plain

    function framed /* push rbp; mov rbp, rsp */
    .cfi_def_cfa rbp, 16
    .cfi_offset rbp, -16
    end framed

    function saver /* keeps rbx where its caller's callers want it */
    .cfi_def_cfa_offset 24
    .cfi_offset rbx, -16
    end saver

    function by_rbx
    .cfi_def_cfa rbx, 16
    end by_rbx

    function huge /* more than a rule has room for */
    .cfi_def_cfa_offset 0x100000
    end huge

    function realigned /* CFA = [rbp - 8], rbp at [rbp] */
    .cfi_escape 0x0f, 3, 0x76, 0x78, 0x06
    .cfi_escape 0x10, 6, 2, 0x76, 0
    end realigned

    function realigned_by /* CFA = [rbx - 8] */
    .cfi_escape 0x0f, 3, 0x73, 0x78, 0x06
    end realigned_by

    function bad
    .cfi_escape 0x3f
    end bad

    function backward
    .cfi_def_cfa_offset 0
    end backward

    .balign 16
    .globl nothing
    .type nothing, @function
nothing:
    .fill 16, 1, 0x90
    .size nothing, . - nothing

    function above /* right behind it, and with a table */
    .cfi_def_cfa_offset 32
    end above

    nop /* what signal handlers return to, as musl has it: without a table */
    .globl restorer
    .type restorer, @function
restorer:
    mov $15, %rax
    syscall
    .size restorer, . - restorer

    .section .plt.got, "ax", @progbits /* linkage stubs, as lld writes them: without a table */
    .globl stub
    .type stub, @function
stub:
    .fill 32, 1, 0x90
    .size stub, . - stub

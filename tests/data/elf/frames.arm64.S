/* The same for arm64; return addresses signed. */
    .text
    .macro function name
    .balign 16
    .globl \name
    .type \name, %function
\name:
    .cfi_startproc
    .endm
    .macro end name
    nop
    nop
    nop
    nop
    .cfi_endproc
    .size \name, . - \name
    .endm

    function outermost
    .cfi_undefined x30
    end outermost

    function leaf /* the return address is still in x30 */
    end leaf

    function plain
    .cfi_negate_ra_state
    .cfi_def_cfa_offset 32
    .cfi_offset x29, -32
    .cfi_offset x30, -24
    end plain

    function resolver /* as glibc has it: what the linkage stub pushed is not counted */
    .cfi_offset x30, 8
    end resolver

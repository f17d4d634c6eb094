/* The same for riscv64. */
    .text
    .option norelax
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
    .cfi_undefined ra
    end outermost

    function leaf /* the return address is still in ra */
    end leaf

    function plain
    .cfi_def_cfa_offset 32
    .cfi_offset s0, -16
    .cfi_offset ra, -8
    end plain

    function saver /* as libgcc's __riscv_save_0: called through t0, before its caller has saved ra */
    .cfi_return_column t0
    end saver

    function interrupted /* as the vDSO's __vdso_rt_sigreturn: it says no more than that it is one */
    .cfi_signal_frame
    end interrupted

    .balign 16
    .globl nothing
    .type nothing, %function
nothing: /* no table at all */
    nop
    nop
    nop
    nop
    .size nothing, . - nothing

// Mapping symbols ($x, $d) stand where code and data change; they are not functions.
        .text
        .globl  first
        .type   first, %function
first:  mov     w0, #1
        ret
        .word   1, 2            // $d
        .size   first, . - first
        .globl  second
        .type   second, %function
second: mov     w0, #2          // $x
        ret
        .word   3

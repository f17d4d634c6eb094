# Symbols of every kind, at addresses that the tests know. Each function is 16 bytes.
        .macro  code bytes=16
        .skip   \bytes, 0x90
        .endm
        .macro  sized name, bytes=16
        .type   \name, @function
        .size   \name, \bytes
        .endm

        .text
        .globl  first
        sized   first
first:  code

# One address, four names: global beats weak beats local, whatever their order.
        .weak   weak_name
        sized   weak_name
        sized   local_name
        .globl  __global_name
        sized   __global_name
        .globl  _global_name
        sized   _global_name
local_name:
weak_name:
__global_name:
_global_name:
        code

# A name without a size at the start of one that has: the sized one stays. A label inside: it goes.
        .globl  sizeless_alias
        .type   sizeless_alias, @function
        sized   sized_local, 32
sizeless_alias:
sized_local:
        code
        .globl  label_inside
label_inside:
        code

# A function inside another: the innermost, then the outer one again.
        .globl  outer
        sized   outer, 48
        .globl  inner
        sized   inner
outer:  code
inner:  code
        code

# No sizes at all: up to the next symbol …
        .globl  bare
        .type   bare, @function
bare:   code
label:  code
# … and a hole behind one that has a size, which is nobody's.
        .globl  before_hole
        sized   before_hole
before_hole:
        code
        code

# Versions are cut off (of two global names the longest stays).
        .globl  old
        sized   old
        .symver old, versioned@VERSION_1
old:
        code
        .globl  new
        sized   new
        .symver new, versioned@@VERSION_2
new:
        code

# Two at one address, of different length: the longer one is not lost.
        .globl  head
        sized   head
        sized   whole, 32
head:
whole:
        code
        code

# The last of its section has no size: it ends with the section.
        .globl  last
        .type   last, @function
last:   code

        .section other, "ax", @progbits
        code
        .globl  in_other
        sized   in_other
in_other:
        code

# Not code.
        .data
        .globl  datum
        .type   datum, @object
        .size   datum, 8
datum:  .quad 0
        .globl  data_label
data_label:
        .quad 0

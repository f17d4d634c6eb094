/*
 * The stubs by which a module calls others' functions, `.plt`, `.plt.sec` and `.plt.got`: code that no symbol covers.
 * A stub jumps through a slot of the GOT; the relocation that fills this slot has the function's name. So each stub is
 * read for the slot that it loads, whatever the linker's way to lay stubs out, and is called `name@plt`:
 *
 *     x86-64   [endbr64] … jmp *slot(%rip)           ff 25 rel32
 *              [endbr64] push $n; jmp .plt           68 imm32: the n-th of .rela.plt (its jump is in .plt.sec)
 *     arm64    [bti c] adrp x16, page; ldr x17, [x16, #offset]; …
 *
 * What belongs to no slot, the first stub, which asks the dynamic linker, is called `.plt` after its section.
 */
#ifndef SYMBOL_PLT_H
#define SYMBOL_PLT_H

#include "symbol/functions.h"

/* From the file itself, not its debug file, which has no code. `named` are the module's functions, for slots that a
 * function of the module's own fills (ifuncs); `exported`, where it is not NULL, are those of the file's .dynsym, whose
 * names are not read a second time then. 0; -ENOENT: there are no stubs; -errno. */
int plt_load(struct elf *elf, const struct functions *named, const struct functions *exported,
             struct functions *ret);

#endif

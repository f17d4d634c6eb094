/*
 * reckon/unwind.h: finds the addresses of a sample's frames in its registers and stack bytes.
 *
 * This is for programs without frame pointers. Their samples carry the user's registers
 * (RK_SAMPLE_REGS_USER) and the topmost bytes of the stack (RK_SAMPLE_STACK_USER). The tables that compilers
 * write for exceptions (call frame information: .eh_frame, .debug_frame) say where each caller's address
 * lies in them.
 *
 *     struct rk_unwind_status status = RK_INIT(status);
 *     uint64_t pcs[256];
 *     rk_unwinder_open(NULL, &unwinder, &e);
 *     … for each record r:  rk_image_feed(image, r);
 *     … for a sample s:     n = rk_unwinder_sample(unwinder, image, &s, pcs, 256, &status);
 *     rk_unwinder_free(unwinder);
 *
 * The addresses are ready to be looked up by rk_image_find(), and then named by reckon/symbol.h. pcs[0] is
 * where the thread was. Each other one lies inside a call: it is the return address − 1, since the call may
 * be the function's last instruction. Two kinds are exact: what a signal interrupted, and return addresses
 * without a call, where signal handlers and makecontext(3) return to.
 *
 * The unwinder reads a module's tables when the first stack passes through it, and searches them in place.
 * It keeps what it found for an address in a cache of fixed size. Once it knows all modules of a stack, a
 * call allocates nothing and makes no system call. It tries an unreadable module once. Where no table covers
 * an address, it follows the frame pointer as long as that leads up the stack and back into code.
 *
 * An unwinder belongs to one image, the first that it is used with, and to one thread at a time. For several
 * threads open several unwinders. They only read the image, and may share it while nobody feeds it.
 */
#ifndef RECKON_UNWIND_H
#define RECKON_UNWIND_H

#include <reckon/error.h>
#include <reckon/image.h>
#include <reckon/record.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rk_unwinder;

/* The machine of a recording, by ELF's numbers: each has registers of its own. */
enum rk_machine {
    RK_MACHINE_HERE = 0, /* the one that this library was built for */
    RK_MACHINE_X86_64 = 62,
    RK_MACHINE_AARCH64 = 183,
    RK_MACHINE_RISCV64 = 243,
};

struct rk_unwinder_options {
    uint32_t size;
    uint32_t machine;     /* enum rk_machine: that of the recording */
    const char *root;     /* where modules' paths are looked up; NULL: "/" */
    uint32_t cache_slots; /* addresses remembered, 16 bytes each; 0: 65536. Rounded up to a power of two */
    uint32_t reserved;
};

/* Returns 0, -EOPNOTSUPP for an unknown machine, or another -errno. */
RK_API int rk_unwinder_open(const struct rk_unwinder_options *options, struct rk_unwinder **ret,
                            struct rk_error *e);
RK_API struct rk_unwinder *rk_unwinder_free(struct rk_unwinder *unwinder);

/* Returns the registers to ask for in rk_set_options.regs_user: all general ones of the machine. 0 if it is
 * unknown. */
RK_API uint64_t rk_unwinder_registers(uint32_t machine);

/* How a stack ended. */
enum rk_unwind_end {
    /* It reached the thread's first function: a table says that it has no caller, a caller's address is 0,
     * or the program begins there and the frame pointer is 0. */
    RK_UNWIND_WHOLE,
    RK_UNWIND_CUT,    /* the dump ends before the stack does: ask for more bytes (stack_user) */
    RK_UNWIND_FULL,   /* `max` frames were found and there are more */
    RK_UNWIND_BROKEN, /* the next frame was not found: see `reason` */
};

/* Why it broke. rk_unwind_reason_text() says it in words. */
enum rk_unwind_reason {
    RK_UNWIND_FINE,         /* it did not */
    RK_UNWIND_NO_REGISTERS, /* the sample has none: taken of a kernel thread, or not asked for */
    RK_UNWIND_NO_STACK,     /* the sample has no stack bytes */
    RK_UNWIND_32_BIT,       /* a 32-bit program */
    RK_UNWIND_NO_MAPPING,   /* the address is in no known mapping */
    RK_UNWIND_ANONYMOUS,    /* code without a file, and its frame pointer leads nowhere */
    RK_UNWIND_NO_FILE,      /* the module's file is gone or unreadable */
    RK_UNWIND_CHANGED,      /* its build-id is not the one that ran */
    RK_UNWIND_BAD_FILE,     /* it is no ELF file, or damaged, or of another machine */
    RK_UNWIND_NO_CFI,       /* no table covers the address, and the frame pointer leads nowhere */
    RK_UNWIND_BAD_CFI,      /* the table is damaged there, or contradicts itself */
    RK_UNWIND_NO_VALUE,     /* the frame depends on a register whose value is not known there */
    RK_UNWIND_ELSEWHERE,    /* what is needed lies outside of the stack: another stack, or garbage */
    RK_UNWIND_BACKWARD,     /* the caller's frame would lie below its callee's */
    RK_UNWIND_BUDGET,       /* reading its tables takes more than the budget of a module: RECKON_BUDGET */
};
RK_API const char *rk_unwind_reason_text(uint32_t reason);

/* How far a stack was followed. */
struct rk_unwind_status {
    uint32_t size;     /* set by the caller */
    uint32_t end;      /* enum rk_unwind_end */
    uint32_t reason;   /* enum rk_unwind_reason; FINE unless BROKEN */
    uint32_t guessed;  /* frames found by frame pointer for want of a table */
    uint32_t module;   /* where it ended: the last frame's module, or RK_NO_MODULE … */
    uint32_t reserved; /* … */
    uint64_t offset;   /* … and offset in it, as in rk_place */
};

/*
 * Hot. Finds the frames of a sample's user stack, innermost first. Returns how many, at most `max`; 0 if the
 * sample has no registers; -EINVAL for another image than before; -ENOMEM. *status says how the stack ended;
 * it may be NULL.
 */
RK_API int rk_unwinder_sample(struct rk_unwinder *unwinder, const struct rk_image *image,
                              const struct rk_sample *sample, uint64_t *pcs, size_t max,
                              struct rk_unwind_status *status);

#ifdef __cplusplus
}
#endif
#endif

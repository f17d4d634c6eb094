/*
 * reckon/unwind.h: a sample's registers and stack bytes → the addresses of its frames.
 *
 * For programs that keep no frame pointers: samples carry the user's registers (RK_SAMPLE_REGS_USER) and the
 * topmost bytes of the stack (RK_SAMPLE_STACK_USER), and the tables that compilers write for exceptions (call
 * frame information: .eh_frame, .debug_frame) say where in them each caller's address lies.
 *
 *     struct rk_unwind_status status = {.size = sizeof status};
 *     uint64_t pcs[256];
 *     rk_unwinder_open(NULL, &unwinder, &e);
 *     … for each record r:  rk_image_feed(image, r);
 *     … for a sample s:     n = rk_unwinder_sample(unwinder, image, &s, pcs, 256, &status);
 *     rk_unwinder_free(unwinder);
 *
 * Addresses come as they are to be looked up: pcs[0] is where the thread was, each other one lies inside its
 * call (return address − 1, since the call may have been the function's last instruction), except that which
 * a signal interrupted, which is exact again, and return addresses that nobody called from: where handlers return to,
 * and what makecontext(3) leaves. No names: see rk_image_find() and reckon/symbol.h.
 *
 * A module's tables are read, by read(2) into memory of the unwinder's, when the first stack passes through it,
 * and searched in place. What was found for an address is kept in a cache of fixed size; when all modules
 * of a stack have been met, a call allocates nothing and makes no system call. A module that can't be read is tried
 * once. Where a module has no table for an address, its frame pointer is followed as long as it leads up the
 * stack and back into code.
 *
 * An unwinder belongs to one image, the first that it is used with, and to one thread at a time. To unwind in several
 * threads, give each its own: the image is only read, and may be shared as long as nobody feeds it.
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

/* Whose registers samples carry: the kernel's numbers of them differ. By ELF's numbers. */
enum rk_machine {
    RK_MACHINE_HERE = 0, /* as this library was built */
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

/* 0, -EOPNOTSUPP: a machine that is not known here, or -errno. */
RK_API int rk_unwinder_open(const struct rk_unwinder_options *options, struct rk_unwinder **ret,
                            struct rk_error *e);
RK_API struct rk_unwinder *rk_unwinder_free(struct rk_unwinder *unwinder);

/* The registers to ask for (rk_set_options.regs_user), by the kernel's numbers, for a machine: all general ones.
 * 0 for one that is not known. */
RK_API uint64_t rk_unwinder_registers(uint32_t machine);

/* How a stack ended. */
enum rk_unwind_end {
    RK_UNWIND_WHOLE, /* the thread's first function was reached: a table says that it has no caller, or a caller's
                         address is 0, or it is where the program begins and its frame pointer is 0 */
    RK_UNWIND_CUT,    /* the dump ends before the stack does: ask for more bytes (stack_user) */
    RK_UNWIND_FULL,   /* `max` frames were found and there are more */
    RK_UNWIND_BROKEN, /* the next frame can't be found: `reason` */
};

/* Why it broke. rk_unwind_reason_text() says it in words. */
enum rk_unwind_reason {
    RK_UNWIND_FINE,         /* it did not */
    RK_UNWIND_NO_REGISTERS, /* the sample has none: taken of a kernel thread, or not asked for */
    RK_UNWIND_NO_STACK,     /* the sample has no stack bytes */
    RK_UNWIND_32_BIT,       /* a 32-bit program */
    RK_UNWIND_NO_MAPPING,   /* the address is in no known mapping */
    RK_UNWIND_ANONYMOUS,    /* code without a file, and its frame pointer leads nowhere */
    RK_UNWIND_NO_FILE,      /* the module's file is gone or can't be read */
    RK_UNWIND_CHANGED,      /* its build-id is not the one that ran */
    RK_UNWIND_BAD_FILE,     /* it is no ELF file, or damaged, or of another machine */
    RK_UNWIND_NO_CFI,       /* no table covers the address, and the frame pointer leads nowhere */
    RK_UNWIND_BAD_CFI,      /* the table is damaged there, or says what can't be */
    RK_UNWIND_NO_VALUE,     /* the frame depends on a register whose value is not known there */
    RK_UNWIND_ELSEWHERE,    /* what is needed lies outside of the stack: another stack, or garbage */
    RK_UNWIND_BACKWARD,     /* the caller's frame would lie below its callee's */
};
RK_API const char *rk_unwind_reason_text(uint32_t reason);

/* What became of a stack. */
struct rk_unwind_status {
    uint32_t size;     /* set by the caller */
    uint32_t end;      /* enum rk_unwind_end */
    uint32_t reason;   /* enum rk_unwind_reason; FINE unless BROKEN */
    uint32_t guessed;  /* frames found by frame pointer for want of a table */
    uint32_t module;   /* where it ended: the last frame's module, or RK_NO_MODULE … */
    uint32_t reserved; /* … */
    uint64_t offset;   /* … and offset in it, as in rk_place */
};

/* The frames of a sample's user stack, innermost first: their number, at most `max`; 0 where the sample has no
 * registers; *status (may be NULL) says how it ended. -errno: -EINVAL another image than before, -ENOMEM. Hot. */
RK_API int rk_unwinder_sample(struct rk_unwinder *unwinder, const struct rk_image *image,
                              const struct rk_sample *sample, uint64_t *pcs, size_t max,
                              struct rk_unwind_status *status);

#ifdef __cplusplus
}
#endif
#endif

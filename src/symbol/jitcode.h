/*
 * Where code that was made at run time lay, and when: jitdump files (jitdump.h) by address and time. A recording tells of
 * a file when a process maps it; from then on an address of that process may be a place in it.
 *
 *     processes   pid → files, one for each mapping of a jit-PID.dump
 *     pages       (file, address / 4096) → loads that touch the page, in the order of time
 *
 * Times of the file are of a clock of its maker's, mostly CLOCK_MONOTONIC; the recording may have another. The header's time
 * is that of the file's beginning, and right before or behind it the first page is mapped, which the recording has by its own
 * clock: so the two are compared. A file that was mapped before the recording began has no such record; both clocks are then
 * taken for one, as they are but for some milliseconds.
 */
#ifndef SYMBOL_JITCODE_H
#define SYMBOL_JITCODE_H

#include <reckon/image.h>

struct jitcode;

/* Takes in that a process mapped a file, by a record of that time (0: it was there before). `number`: the image's of the
 * module. *ret is made if it is NULL, with files below `root` (NULL: "/"). 0; -ENOMEM. A file that can't be read is
 * none. */
int jitcode_mapping(struct jitcode **ret, const char *root, int32_t pid, uint64_t time,
                    const struct rk_module *module, uint32_t number);

/* A number that changes where what lies at addresses of the process may be other code than before: `time` is a sample's. */
uint32_t jitcode_generation(struct jitcode *code, int32_t pid, uint64_t time);

/* Addresses in such code become places in the file. */
void jitcode_place(struct jitcode *code, int32_t pid, uint64_t time, const uint64_t *addresses, size_t n,
                   struct rk_place *places);

struct jitcode *jitcode_free(struct jitcode *code);

#endif

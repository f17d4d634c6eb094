/*
 * CPU lists as the kernel and people write them: "0-3,8".
 */
#ifndef HOST_LIST_H
#define HOST_LIST_H

#include <stddef.h>
#include <stdint.h>

#define CPU_MAX 16384 /* twice what any kernel is built for; numbers beyond are refused */

/*
 * Numbers and ranges separated by commas, white space around each; ascending or not, repeated or not. The
 * result ascends without repeats and has at least one number; the caller frees it. 0, -EINVAL (not such a
 * list), -ERANGE (a number ≥ CPU_MAX) with *ret_position at the byte (may be NULL), or -ENOMEM.
 */
int cpu_list_parse(const char *text, int32_t **ret, size_t *ret_n, size_t *ret_position);

/* The same as text, "0-3,8", cut with "…" where it does not fit in `size` bytes. Returns `buffer`. */
char *cpu_list_print(const int32_t *cpus, size_t n, char *buffer, size_t size);

#endif

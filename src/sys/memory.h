/*
 * Memory straight from the kernel: pages that nobody has touched yet.
 */
#ifndef SYS_MEMORY_H
#define SYS_MEMORY_H

#include <stddef.h>

/* n bytes, a multiple of the page's size, zeroed when first touched; NULL: out of memory. */
void *sys_memory_new(size_t n);
void sys_memory_free(void *memory, size_t n);

#endif

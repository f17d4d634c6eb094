/*
 * Whose file may speak for a process: anyone can write to /tmp.
 */
#ifndef SYMBOL_OWNER_H
#define SYMBOL_OWNER_H

#include <stdbool.h>
#include <stdint.h>

/* Root, this user, or the process's own user. */
bool owner_is_trusted(int root, int32_t pid, uint32_t owner);

#endif

/*
 * Names in directories: what stands there, making, renaming, removing. Paths are the caller's, relative to its
 * working directory. Thin, -errno.
 */
#ifndef SYS_ENTRY_H
#define SYS_ENTRY_H

#include <stdbool.h>
#include <stdint.h>

struct sys_entry {
    bool regular, link; /* link: a symbolic one, which is not followed */
    uint32_t owner;
};

/* lstat(2). -ENOENT: there is none. */
int sys_entry_look(const char *path, struct sys_entry *ret);

/* A new file for reading and writing, mode 0600, close-on-exec; no link is followed and nothing that is there is
 * opened: a descriptor, -EEXIST, or -errno. */
int sys_entry_make(const char *path);

/* rename(2): `to` is replaced. */
int sys_entry_rename(const char *from, const char *to);

/* unlink(2). */
int sys_entry_remove(const char *path);

/* The effective user. */
uint32_t sys_user(void);

#endif

/*
 * Libraries that are loaded when they are needed, and not before.
 */
#ifndef SYS_LIBRARY_H
#define SYS_LIBRARY_H

/* dlopen(3), its names kept to itself; NULL: it is not there. It stays loaded. */
void *sys_library(const char *name);

/* The address of a function of it, to be cast; NULL: it has none of that name. */
void *sys_library_function(void *library, const char *name);

/* Keeps the library or program that has `address` from being unloaded. 0, or -ENOENT: not known to the loader. */
int sys_library_pin(const void *address);

#endif

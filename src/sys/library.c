#include "sys/library.h"

#include <dlfcn.h>
#include <errno.h>

void *sys_library(const char *name)
{
    return dlopen(name, RTLD_NOW | RTLD_LOCAL);
}

void *sys_library_function(void *library, const char *name)
{
    return dlsym(library, name);
}

int sys_library_pin(const void *address)
{
    Dl_info info;

    return dladdr(address, &info) && dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE) ? 0
                                                                                                    : -ENOENT;
}

#include "sys/library.h"

#include <dlfcn.h>

void *sys_library(const char *name)
{
    return dlopen(name, RTLD_NOW | RTLD_LOCAL);
}

void *sys_library_function(void *library, const char *name)
{
    return dlsym(library, name);
}

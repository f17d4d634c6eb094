#include "sys/memory.h"

#include <sys/mman.h>

void *sys_memory_new(size_t n)
{
    void *at = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return at == MAP_FAILED ? NULL : at;
}

void sys_memory_free(void *memory, size_t n)
{
    if (memory)
        munmap(memory, n);
}

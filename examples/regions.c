/*
 * Named regions: nothing is measured unless the environment asks for it.
 *
 *     ./regions
 *     RECKON_REGIONS=task-clock,page-faults ./regions
 *     RECKON_REGIONS=default RECKON_REGIONS_OUTPUT=regions.json ./regions
 */
#include <reckon/region.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGE 4096

static unsigned fill(size_t pages)
{
    RK_REGION("fill");
    unsigned char *memory = malloc(pages * PAGE);
    unsigned sum = 0;

    if (!memory)
        return 0;
    memset(memory, 1, pages * PAGE); /* each page is touched for the first time here */
    for (size_t i = 0; i < pages; i++)
        sum += memory[i * PAGE];
    free(memory);
    return sum;
}

static unsigned spin(unsigned rounds)
{
    RK_REGION("spin");
    volatile unsigned n = 0;

    while (n < rounds)
        n = n + 1;
    return n;
}

static unsigned tree(unsigned depth)
{
    RK_REGION("tree"); /* inside itself: counted at its outermost place */
    return depth == 0 ? 1 : tree(depth - 1) + tree(depth - 1);
}

int main(void)
{
    struct rk_region *all = rk_region_named("all"); /* what has no block of its own */
    unsigned sum = 0;

    rk_region_begin(all);
    for (int i = 0; i < 3; i++) {
        RK_REGION("round");
        sum += fill(1000) + spin(1000000);
    }
    sum += tree(8);
    rk_region_end(all);
    printf("%u, and regions are %s\n", sum, rk_region_armed() ? "counted" : "off");
    return 0;
}

#include "stream/runs.h"

#include <errno.h>

int runs_push(struct runs *runs, uint64_t time, uint64_t where)
{
    if ((runs->items.n == runs->items.room && vector_reserve(&runs->items, 1) < 0) ||
        (runs->starts.n == runs->starts.room && vector_reserve(&runs->starts, 1) < 0))
        return -ENOMEM;

    struct run_key *items = runs->items.items;
    size_t n = runs->items.n++;
    if (n == 0) {
        runs->starts.items[runs->starts.n++] = 0;
    } else if (items[n - 1].time > time) {
        size_t start = runs->starts.items[runs->starts.n - 1];
        size_t near = n - start > RUNS_NEAR ? n - RUNS_NEAR : start;
        if (near > start && items[near].time > time) {
            runs->starts.items[runs->starts.n++] = n;
        } else {
            for (; n > near && items[n - 1].time > time; n--)
                items[n] = items[n - 1];
        }
    }
    items[n] = (struct run_key){time, where};
    return 0;
}

/* [a, b) and [b, c) of `from`, each sorted, become [a, c) of `to`; on a tie the left one goes first. */
static void merge(const struct run_key *from, size_t a, size_t b, size_t c, struct run_key *to)
{
    size_t left = a, right = b, out = a;

    while (left < b && right < c)
        to[out++] = from[right].time < from[left].time ? from[right++] : from[left++];
    memcpy(to + out, from + left, (b - left) * sizeof *to);
    memcpy(to + out + (b - left), from + right, (c - right) * sizeof *to);
}

int runs_sort(struct runs *runs)
{
    size_t n = runs->items.n;

    if (runs->starts.n < 2)
        return 0;
    if (runs->spare_room < n) {
        /* As much as the items have room for, since the two change places. */
        struct run_key *spare = malloc(runs->items.room * sizeof *spare);
        if (!spare)
            return -ENOMEM;
        free(runs->spare);
        runs->spare = spare;
        runs->spare_room = runs->items.room;
    }
    while (runs->starts.n > 1) {
        size_t *starts = runs->starts.items, count = runs->starts.n, kept = 0;

        for (size_t i = 0; i < count; i += 2) {
            size_t middle = i + 1 < count ? starts[i + 1] : n;
            size_t end = i + 2 < count ? starts[i + 2] : n;
            merge(runs->items.items, starts[i], middle, end, runs->spare);
            starts[kept++] = starts[i];
        }
        runs->starts.n = kept;

        struct run_key *items = runs->items.items;
        size_t room = runs->items.room;
        runs->items.items = runs->spare;
        runs->items.room = runs->spare_room;
        runs->spare = items;
        runs->spare_room = room;
    }
    return 0;
}

size_t runs_until(const struct runs *runs, uint64_t time)
{
    size_t low = 0, high = runs->items.n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (runs->items.items[middle].time <= time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void runs_drop(struct runs *runs, size_t n)
{
    runs->items.n -= n;
    runs->starts.n = runs->items.n > 0; /* sorted: what is left is one run, from 0 */
    if (runs->items.n)
        memmove(runs->items.items, runs->items.items + n, runs->items.n * sizeof *runs->items.items);
}

void runs_free(struct runs *runs)
{
    vector_free(&runs->items);
    vector_free(&runs->starts);
    free(runs->spare);
    runs->spare = NULL;
    runs->spare_room = 0;
}

/*
 * tests/live/perf_script.h: samples as `perf script` tells them, and as a stream does.
 */
#ifndef PERF_SCRIPT_H
#define PERF_SCRIPT_H

#include "session.h"

struct sight {
    uint64_t time, ip;
    int64_t tid;
};

struct sights {
    struct sight *at;
    size_t n, room;
};

static inline void sights_add(struct sights *s, struct sight one)
{
    if (s->n == s->room)
        s->at = realloc(s->at, (s->room = s->room ? s->room * 2 : 1024) * sizeof *s->at);
    CHECK(s->at);
    s->at[s->n++] = one;
}

static inline struct sights perf_sights(const char *path)
{
    char command[256], line[4096];
    struct sights s = {0};
    snprintf(command, sizeof command, "perf script --ns -G -F tid,time,ip -i %s 2>perf.err", path);
    FILE *p = popen(command, "r");
    CHECK(p);
    while (fgets(line, sizeof line, p)) {
        struct sight one;
        uint64_t seconds, ns;
        if (sscanf(line, " %" SCNd64 " %" SCNu64 ".%9" SCNu64 ": %" SCNx64, &one.tid, &seconds, &ns,
                   &one.ip) != 4)
            FAIL("perf script says: %s", line);
        one.time = seconds * 1000000000 + ns;
        sights_add(&s, one);
    }
    int status = pclose(p);
    if (status != 0) {
        FILE *f = fopen("perf.err", "r");
        while (f && fgets(line, sizeof line, f))
            fputs(line, stdout);
        FAIL("perf script on %s: status %#x", path, (unsigned)status);
    }
    return s;
}

static inline struct sights own_sights(const char *path, struct rk_stream_info *ret_info)
{
    struct rk_error e = {.size = sizeof e};
    struct sights s = {0};
    struct rk_stream *st;
    const struct rk_record *r;
    uint64_t last = 0;
    int rc;

    OK(rk_stream_file(path, &st, &e));
    while ((rc = rk_stream_next(st, &r)) == 1) {
        struct rk_sample one = {.size = sizeof one};
        if (rk_stream_sample(st, r, &one) == 0) {
            CHECK(one.time >= last);
            last = one.time;
            sights_add(&s, (struct sight){one.time, one.ip, one.tid});
        }
        rk_stream_release(st);
    }
    if (rc < 0)
        rk_stream_explain(st, &e);
    OK(rc);
    if (ret_info) {
        *ret_info = (struct rk_stream_info){.size = sizeof *ret_info};
        rk_stream_info(st, ret_info);
    }
    rk_stream_free(st);
    return s;
}

static inline int by_all(const void *a, const void *b)
{
    const struct sight *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    if (x->tid != y->tid)
        return x->tid < y->tid ? -1 : 1;
    return x->ip < y->ip ? -1 : x->ip > y->ip;
}

/* Both see the same samples: how many. */
static inline size_t same_sights(const char *path, struct rk_stream_info *ret_info)
{
    struct sights perfs = perf_sights(path), own = own_sights(path, ret_info);
    EQUAL(own.n, perfs.n);
    if (own.n) {
        qsort(perfs.at, perfs.n, sizeof *perfs.at, by_all);
        qsort(own.at, own.n, sizeof *own.at, by_all);
    }
    for (size_t i = 0; i < own.n; i++) {
        EQUAL(own.at[i].time, perfs.at[i].time);
        EQUAL(own.at[i].tid, perfs.at[i].tid);
        EQUAL(own.at[i].ip, perfs.at[i].ip);
    }
    size_t n = own.n;
    free(perfs.at);
    free(own.at);
    return n;
}

#endif

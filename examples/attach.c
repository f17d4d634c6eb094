/*
 * Watches a process that runs already: which of its threads use the CPU, and how much.
 *
 *     attach PID [SECONDS]     by default one second; ends earlier if the process does
 */
#include <reckon/reckon.h>

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define THREADS 1024

static struct thread {
    int32_t tid;
    uint64_t ns;
} threads[THREADS];
static size_t threads_n;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void add(int32_t tid, uint64_t ns)
{
    size_t i = 0;
    while (i < threads_n && threads[i].tid != tid)
        i++;
    if (i == threads_n && threads_n < THREADS)
        threads[threads_n++].tid = tid;
    if (i < threads_n)
        threads[i].ns += ns;
}

/* Takes all records that are due, but for damaged ones. Returns 0, or -errno. */
static int take(struct rk_stream *stream, struct rk_image *image)
{
    struct rk_sample sample = {.size = sizeof sample};
    const struct rk_record *record;
    unsigned n = 0;
    int rc;

    while ((rc = rk_stream_next(stream, &record)) == 1 || rc == -EBADMSG) {
        if (rc == 1) {
            rk_image_feed(image, record); /* new threads, new names */
            if (rk_stream_sample(stream, record, &sample) == 0)
                add(sample.tid, sample.period);
        }
        if (++n % 256 == 0)
            rk_stream_release(stream);
    }
    rk_stream_release(stream);
    return rc;
}

int main(int argc, char **argv)
{
    struct rk_set_options options = {
        .size = sizeof options, .frequency = 1000, .records = RK_RECORDS_TASKS, .ring_bytes = 64 << 10};
    struct rk_error e = {.size = sizeof e};
    struct rk_host *host = NULL;
    struct rk_events *events = NULL;
    struct rk_target *target = NULL;
    struct rk_set *set = NULL;
    struct rk_stream *stream = NULL;
    struct rk_image *image = NULL;
    int status = 1, rc = 0;

    if (argc < 2) {
        fprintf(stderr, "usage: attach PID [SECONDS]\n");
        return 2;
    }
    int32_t pid = (int32_t)atoi(argv[1]);
    double end = now() + (argc > 2 ? atof(argv[2]) : 1);

    if (rk_host_open(NULL, &host, &e) < 0 || rk_events_parse(host, "cpu-clock", &events, &e) < 0 ||
        rk_target_process(pid, &target, &e) < 0 ||
        rk_set_open(host, events, target, &options, &set, &e) < 0 || rk_stream_live(set, &stream, &e) < 0 ||
        rk_image_open(&image, &e) < 0)
        goto out;
    rk_image_feed_process(image, NULL, pid);
    rk_set_enable(set);

    /* Until the time is up or the process has ended; its descriptor is -ENOSYS on old kernels, which poll ignores. */
    struct pollfd fds[2] = {{.fd = rk_stream_fd(stream), .events = POLLIN},
                            {.fd = rk_target_fd(target), .events = POLLIN}};
    for (double left; rc == 0 && (left = end - now()) > 0 && !fds[1].revents;) {
        poll(fds, 2, left > 0.1 ? 100 : (int)(left * 1000) + 1);
        rc = take(stream, image);
    }
    rk_set_disable(set);
    rk_stream_drain(stream);
    if (rc == 0)
        rc = take(stream, image);
    if (rc < 0) {
        rk_stream_explain(stream, &e);
        goto out;
    }

    struct rk_loss loss = {.size = sizeof loss};
    rk_stream_loss(stream, RK_NO_EVENT, &loss);
    printf("%8s %-16s %12s\n", "thread", "name", "CPU ms");
    for (size_t i = 0; i < threads_n; i++)
        printf("%8d %-16s %12.1f\n", threads[i].tid, rk_image_comm(image, pid, threads[i].tid),
               (double)threads[i].ns / 1e6);
    printf("%" PRIu64 " samples, %" PRIu64 " lost\n", loss.kept, loss.lost);
    status = 0;
out:
    if (status)
        fprintf(stderr, "%s\n%s\n", e.what, e.remedy);
    rk_image_free(image);
    rk_stream_free(stream);
    rk_set_free(set);
    rk_target_free(target);
    rk_events_free(events);
    rk_host_free(host);
    return status;
}

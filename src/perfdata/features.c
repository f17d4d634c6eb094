/*
 * What stands behind the data, or in a pipe after it: collected in memory, since it is little; each feature's bytes as
 * format.h has them.
 */
#include "perfdata/writing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef perfdata_bytes bytes_t;

/* The bytes of a feature, made if need be; NULL: out of memory. */
static bytes_t *feature_bytes(struct perfdata_writer *w, unsigned bit)
{
    size_t i = 0;

    while (i < w->features.n && w->features.items[i].bit < bit)
        i++;
    if (i < w->features.n && w->features.items[i].bit == bit)
        return &w->features.items[i].bytes;
    if (!vector_push(&w->features))
        return NULL;
    struct writing_feature *at = &w->features.items[i];
    memmove(at + 1, at, (w->features.n - 1 - i) * sizeof *at);
    *at = (struct writing_feature){.bit = bit};
    return &at->bytes;
}

int writing_feature(struct perfdata_writer *w, unsigned bit, bytes_t *fresh, int r)
{
    bytes_t *at = r == 0 ? feature_bytes(w, bit) : NULL;

    if (!at) {
        vector_free(fresh);
        return r < 0 ? r : -ENOMEM;
    }
    vector_free(at);
    *at = *fresh;
    return 0;
}

int perfdata_writer_text(struct perfdata_writer *w, unsigned bit, const char *text)
{
    bytes_t fresh = {0};

    return bit < FEATURE_MAX ? writing_feature(w, bit, &fresh, bytes_text(&fresh, text)) : -EINVAL;
}

int perfdata_writer_list(struct perfdata_writer *w, unsigned bit, const char *const *texts, size_t n)
{
    bytes_t fresh = {0};

    if (bit >= FEATURE_MAX || n > UINT32_MAX)
        return -EINVAL;
    int r = bytes_u32(&fresh, (uint32_t)n);
    for (size_t i = 0; r == 0 && i < n; i++)
        r = bytes_text(&fresh, texts[i]);
    return writing_feature(w, bit, &fresh, r);
}

int perfdata_writer_feature(struct perfdata_writer *w, unsigned bit, perfdata_bytes *bytes)
{
    if (bit < FEATURE_MAX)
        return writing_feature(w, bit, bytes, 0);
    vector_free(bytes);
    return -EINVAL;
}

int perfdata_writer_cpus(struct perfdata_writer *w, uint32_t available, uint32_t online)
{
    bytes_t fresh = {0};
    uint32_t both[] = {available, online};

    return writing_feature(w, FEATURE_NRCPUS, &fresh, bytes_put(&fresh, both, sizeof both));
}

int perfdata_writer_times(struct perfdata_writer *w, uint64_t first, uint64_t last)
{
    bytes_t fresh = {0};
    uint64_t both[] = {first, last};

    return writing_feature(w, FEATURE_SAMPLE_TIME, &fresh, bytes_put(&fresh, both, sizeof both));
}

int perfdata_writer_build_id(struct perfdata_writer *w, int32_t pid, uint16_t misc, const void *id,
                             size_t id_bytes, const char *path)
{
    struct {
        struct perf_header header;
        int32_t pid;
        unsigned char id[20], bytes, reserved[3];
    } record = {.pid = pid, .bytes = (unsigned char)id_bytes};
    size_t n = strlen(path), padded = (n + 1 + BYTES_TEXT_ALIGN - 1) / BYTES_TEXT_ALIGN * BYTES_TEXT_ALIGN;

    if (id_bytes == 0 || id_bytes > sizeof record.id || sizeof record + padded > UINT16_MAX)
        return -EINVAL;
    memcpy(record.id, id, id_bytes);
    record.header = (struct perf_header){PERFDATA_BUILD_ID, misc | PERFDATA_MISC_BUILD_ID_SIZE,
                                         (uint16_t)(sizeof record + padded)};
    bytes_t *to = feature_bytes(w, FEATURE_BUILD_ID);
    if (!to || vector_reserve(to, sizeof record + padded) < 0)
        return -ENOMEM;
    bytes_put(to, &record, sizeof record);
    bytes_put(to, path, n);
    return bytes_put(to, NULL, padded - n);
}

int perfdata_writer_ledger(struct perfdata_writer *w, const char *key, const char *value)
{
    static const char first[] = PERFDATA_LEDGER_1 "\n";
    size_t key_n = strlen(key), value_n = strlen(value);

    if (!key_n || strpbrk(key, " \n") || strchr(value, '\n'))
        return -EINVAL;
    bytes_t *to = feature_bytes(w, FEATURE_LEDGER);
    if (!to || vector_reserve(to, sizeof first + key_n + value_n + 2) < 0)
        return -ENOMEM;
    if (!to->n)
        bytes_put(to, first, sizeof first - 1);
    bytes_put(to, key, key_n);
    bytes_put(to, " ", 1);
    bytes_put(to, value, value_n);
    return bytes_put(to, "\n", 1);
}

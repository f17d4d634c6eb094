/*
 * A perf.data file or pipe: all of its events, features and records. What the reader says of itself must
 * stand together: record sizes, offsets that ascend, memory bounded by the input.
 */
#include "fuzz.h"
#include "mutate_perfdata.h"

#include "perfdata/reader.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void use_info(const struct perfdata_reader *reader)
{
    const struct perfdata_build_id *ids = NULL;
    struct perfdata_info info;
    uint64_t done;

    perfdata_reader_info(reader, &info);
    const char *texts[] = {info.host, info.kernel, info.architecture, info.tool, info.command, info.ledger};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        fuzz_touch_text(texts[i]);
    size_t n = perfdata_reader_build_ids(reader, &ids);
    for (size_t i = 0; i < n; i++) {
        HOLDS(ids[i].bytes <= sizeof ids[i].id);
        fuzz_touch_text(ids[i].path);
    }
    for (size_t i = 0; i < perfdata_reader_events(reader); i++) {
        const struct perfdata_event *event = perfdata_reader_event(reader, i);
        fuzz_touch_text(event->name);
        fuzz_touch(event->ids, event->ids_n * 8);
    }
    perfdata_reader_bytes(reader, &done);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct rk_error e = {.size = sizeof e};
    struct perfdata_reader *reader = NULL;
    const struct perf_header *record;
    uint64_t offset, before = 0, unpacked = 0;
    int fd = memfd_create("fuzz", MFD_CLOEXEC), rc;

    HOLDS(fd >= 0 && write(fd, data, size) == (ssize_t)size && lseek(fd, 0, SEEK_SET) == 0);
    rc = perfdata_reader_open_fd(fd, "input", &reader, &e);
    if (rc < 0) {
        HOLDS(e.code == rc && e.what[0] && !reader);
    } else {
        use_info(reader);
        while ((rc = perfdata_reader_next(reader, &record, &offset)) == 1) {
            HOLDS(record->size >= 8 && (uintptr_t)record % 8 == 0);
            if (!perfdata_reader_again(reader)) { /* packed: the offset of the record around it */
                HOLDS(offset < size);
                if (++unpacked > (UINT64_C(1) << 20)) { /* little may unpack to much */
                    rc = 0;
                    break;
                }
            } else {
                HOLDS(offset >= before && offset + record->size <= size);
                before = offset + record->size;
            }
            fuzz_touch(record, record->size);
        }
        struct rk_error why = {.size = sizeof why};
        HOLDS(rc == 0 || (perfdata_reader_explain(reader, &why) == 0 && why.code == rc && why.what[0]));
        perfdata_reader_cut(reader);
        use_info(reader);
        HOLDS(perfdata_reader_close(reader) == NULL);
    }
    close(fd);
    return 0;
}

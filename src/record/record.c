/*
 * The records that are not samples: names of types, and the few that naming and loss need. The kernel's
 * struct stands above each decoder; the trailer behind it is layout.c's.
 */
#include "base/cursor.h"
#include "base/error.h"
#include "record/layout.h"

#include <reckon/record.h>

#include <errno.h>

const char *rk_record_type_name(uint32_t type)
{
    static const char *const names[] = {
        [RK_RECORD_MMAP] = "MMAP",
        [RK_RECORD_LOST] = "LOST",
        [RK_RECORD_COMM] = "COMM",
        [RK_RECORD_EXIT] = "EXIT",
        [RK_RECORD_THROTTLE] = "THROTTLE",
        [RK_RECORD_UNTHROTTLE] = "UNTHROTTLE",
        [RK_RECORD_FORK] = "FORK",
        [RK_RECORD_READ] = "READ",
        [RK_RECORD_SAMPLE] = "SAMPLE",
        [RK_RECORD_MMAP2] = "MMAP2",
        [RK_RECORD_AUX] = "AUX",
        [RK_RECORD_ITRACE_START] = "ITRACE_START",
        [RK_RECORD_LOST_SAMPLES] = "LOST_SAMPLES",
        [RK_RECORD_SWITCH] = "SWITCH",
        [RK_RECORD_SWITCH_CPU_WIDE] = "SWITCH_CPU_WIDE",
        [RK_RECORD_NAMESPACES] = "NAMESPACES",
        [RK_RECORD_KSYMBOL] = "KSYMBOL",
        [RK_RECORD_BPF_EVENT] = "BPF_EVENT",
        [RK_RECORD_CGROUP] = "CGROUP",
        [RK_RECORD_TEXT_POKE] = "TEXT_POKE",
        [RK_RECORD_AUX_OUTPUT_HW_ID] = "AUX_OUTPUT_HW_ID",
        [RK_RECORD_CALLCHAIN_DEFERRED] = "CALLCHAIN_DEFERRED",
    };
    /* What perf adds to its files, from 64 on: perfdata/format.h has their numbers. */
    static const char *const added[] = {
        "HEADER_ATTR",
        "HEADER_EVENT_TYPE",
        "HEADER_TRACING_DATA",
        "HEADER_BUILD_ID",
        "FINISHED_ROUND",
        "ID_INDEX",
        "AUXTRACE_INFO",
        "AUXTRACE",
        "AUXTRACE_ERROR",
        "THREAD_MAP",
        "CPU_MAP",
        "STAT_CONFIG",
        "STAT",
        "STAT_ROUND",
        "EVENT_UPDATE",
        "TIME_CONV",
        "HEADER_FEATURE",
        "COMPRESSED",
        "FINISHED_INIT",
        "COMPRESSED2",
        "BPF_METADATA",
        "SCHEDSTAT_CPU",
        "SCHEDSTAT_DOMAIN",
    };
    const char *name = type < sizeof names / sizeof *names ? names[type] : NULL;
    if (type >= RECORD_TYPE_USER && type - RECORD_TYPE_USER < sizeof added / sizeof *added)
        name = added[type - RECORD_TYPE_USER];
    return name ? name : "UNKNOWN";
}

/* A cursor behind the header. */
static struct cursor body(const struct rk_record *record)
{
    struct cursor c = record ? cursor_of(record->data, record->bytes) : cursor_of(NULL, 0);

    cursor_u64(&c);
    return c;
}

bool mapping_has_build_id(const struct rk_record *record, uint8_t least)
{
    struct cursor c = cursor_of(record->data, record->bytes);

    if (record->type != RK_RECORD_MMAP2 || !(record->misc & RK_MISC_BUILD_ID))
        return false;
    cursor_bytes(&c, MAPPING_BUILD_ID_AT);
    uint8_t n = cursor_u8(&c);
    const unsigned char *pad = cursor_bytes(&c, 3);
    return pad && n >= least && n <= 20 && !pad[0] && !pad[1] && !pad[2];
}

/*
 * MMAP:  u32 pid, tid; u64 addr, len, pgoff; char filename[];
 * MMAP2: u32 pid, tid; u64 addr, len, pgoff;                                   3.16
 *        either u32 maj, min; u64 ino, ino_generation;
 *        or, with MISC_MMAP_BUILD_ID, u8 size, pad[3], build_id[20];           5.12
 *        u32 prot, flags; char filename[];
 * Where the bit stands and what follows can't be a build-id, it is the former: layout.h has why.
 */
int rk_record_mapping(const struct rk_record *record, struct rk_mapping *ret)
{
    struct cursor c = body(record);
    struct rk_mapping m = {0};

    if (!record || (record->type != RK_RECORD_MMAP && record->type != RK_RECORD_MMAP2))
        return -EINVAL;
    m.pid = cursor_i32(&c);
    m.tid = cursor_i32(&c);
    m.start = cursor_u64(&c);
    m.length = cursor_u64(&c);
    m.file_offset = cursor_u64(&c);
    if (record->type == RK_RECORD_MMAP2) {
        if (mapping_has_build_id(record, 1)) {
            m.build_id_bytes = cursor_u8(&c);
            cursor_bytes(&c, 3);
            m.build_id = cursor_bytes(&c, 20);
        } else {
            m.major = cursor_u32(&c);
            m.minor = cursor_u32(&c);
            m.inode = cursor_u64(&c);
            m.inode_generation = cursor_u64(&c);
        }
        m.protection = cursor_u32(&c);
        m.flags = cursor_u32(&c);
    }
    m.path = cursor_text(&c);
    return c.bad ? -EBADMSG : result_give(ret, &m, sizeof m);
}

/* FORK, EXIT: u32 pid, ppid, tid, ptid; u64 time; */
int rk_record_task(const struct rk_record *record, struct rk_task *ret)
{
    struct cursor c = body(record);
    struct rk_task t = {0};

    if (!record || (record->type != RK_RECORD_FORK && record->type != RK_RECORD_EXIT))
        return -EINVAL;
    t.pid = cursor_i32(&c);
    t.parent_pid = cursor_i32(&c);
    t.tid = cursor_i32(&c);
    t.parent_tid = cursor_i32(&c);
    t.time = cursor_u64(&c);
    return c.bad ? -EBADMSG : result_give(ret, &t, sizeof t);
}

/* COMM: u32 pid, tid; char comm[]; */
int rk_record_comm(const struct rk_record *record, struct rk_comm *ret)
{
    struct cursor c = body(record);
    struct rk_comm comm = {0};

    if (!record || record->type != RK_RECORD_COMM)
        return -EINVAL;
    comm.pid = cursor_i32(&c);
    comm.tid = cursor_i32(&c);
    comm.name = cursor_text(&c);
    return c.bad ? -EBADMSG : result_give(ret, &comm, sizeof comm);
}

/* LOST: u64 id, lost;   LOST_SAMPLES: u64 lost;   4.2 */
int rk_record_lost(const struct rk_record *record, struct rk_lost *ret)
{
    struct cursor c = body(record);
    struct rk_lost lost = {0};

    if (!record || (record->type != RK_RECORD_LOST && record->type != RK_RECORD_LOST_SAMPLES))
        return -EINVAL;
    if (record->type == RK_RECORD_LOST)
        lost.id = cursor_u64(&c);
    lost.count = cursor_u64(&c);
    return c.bad ? -EBADMSG : result_give(ret, &lost, sizeof lost);
}

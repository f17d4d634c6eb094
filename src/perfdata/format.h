/*
 * The perf.data file, as Linux's tools/perf/Documentation/perf.data-file-format.txt describes it:
 *
 *     file:  header (104) | ids | attrs + where their ids are | data: records | feature table | features
 *     pipe:  header (16)  | records, with HEADER_ATTR, HEADER_FEATURE … among them
 *
 * The feature table has one section per bit that is set in header.features, in the order of bits. Right behind it,
 * before the features' bytes, stands what is reckon's own, unless there is none:
 *
 *     { u64 magic, n; { u64 bit, offset, size; } [n]; }
 *
 * Names are made when all else is written. Their entry stands in that table from the beginning, with the size 0, and their
 * bytes at the end of the file: the entry is written last, in one piece.
 *
 * Our own features have no bit in the header: of an unknown one perf skips the section when it reads, but perf inject, which writes
 * the header anew, looks it up past the end of its table and dies. A tool that goes by the offsets never sees them.
 */
#ifndef PERFDATA_FORMAT_H
#define PERFDATA_FORMAT_H

#include "base/abi.h"

#define PERFDATA_MAGIC UINT64_C(0x32454c4946524550)         /* "PERFILE2" */
#define PERFDATA_MAGIC_SWAPPED UINT64_C(0x50455246494c4532) /* from a machine of the other byte order */
#define PERFDATA_MAGIC_1 UINT64_C(0x454c494646524550)       /* "PERFFILE", before 2012 */

struct perfdata_section {
    uint64_t offset, size;
};

struct perfdata_header {
    uint64_t magic;
    uint64_t size;      /* 104; 16 in pipe mode, which has no more than these two fields */
    uint64_t attr_size; /* of an attr and the section behind it that says where its ids are */
    struct perfdata_section attrs, data, event_types;
    uint64_t features[4];
};
_Static_assert(sizeof(struct perfdata_header) == 104, "perf_file_header");

#define PERFDATA_PIPE_HEADER 16u

/* Records that the tool adds to the kernel's. */
enum {
    PERFDATA_ATTR = 64,
    PERFDATA_EVENT_TYPE = 65,
    PERFDATA_TRACING_DATA = 66, /* a u32 length, that many bytes behind it, rounded up to 8 */
    PERFDATA_BUILD_ID = 67,
    PERFDATA_FINISHED_ROUND = 68, /* no later record is older than any before the round before it */
    PERFDATA_ID_INDEX = 69,
    PERFDATA_AUXTRACE_INFO = 70,
    PERFDATA_AUXTRACE = 71, /* a u64 length, that many bytes behind it */
    PERFDATA_AUXTRACE_ERROR = 72,
    PERFDATA_THREAD_MAP = 73,
    PERFDATA_CPU_MAP = 74,
    PERFDATA_STAT_CONFIG = 75,
    PERFDATA_STAT = 76,
    PERFDATA_STAT_ROUND = 77,
    PERFDATA_EVENT_UPDATE = 78,
    PERFDATA_TIME_CONV = 79,
    PERFDATA_FEATURE = 80,
    PERFDATA_COMPRESSED = 81,
    PERFDATA_FINISHED_INIT = 82,
    PERFDATA_COMPRESSED2 = 83,
};

/* header.features */
enum {
    FEATURE_TRACING_DATA = 1,
    FEATURE_BUILD_ID = 2,
    FEATURE_HOSTNAME = 3,
    FEATURE_OSRELEASE = 4,
    FEATURE_VERSION = 5,
    FEATURE_ARCH = 6,
    FEATURE_NRCPUS = 7,
    FEATURE_CPUDESC = 8,
    FEATURE_CPUID = 9,
    FEATURE_TOTAL_MEM = 10,
    FEATURE_CMDLINE = 11,
    FEATURE_EVENT_DESC = 12,
    FEATURE_CPU_TOPOLOGY = 13,
    FEATURE_NUMA_TOPOLOGY = 14,
    FEATURE_PMU_MAPPINGS = 16,
    FEATURE_GROUP_DESC = 17,
    FEATURE_SAMPLE_TIME = 21,
    FEATURE_CLOCKID = 23,
    FEATURE_COMPRESSED = 27,
    FEATURE_CLOCK_DATA = 29, /* u32 version 1, clockid; u64 ns since 1970, and of that clock at the time */
    FEATURE_OWN = 128,       /* from here on reckon's own */
    FEATURE_NAMES = 129,     /* of the addresses that were hit: symbol/stored.h has its form */
    FEATURE_LEDGER = 255,    /* the first recordings had this one in the header */
    FEATURE_MAX = 256,
};

#define PERFDATA_OWN_MAGIC UINT64_C(0x314e574f4b434552) /* "RECKOWN1" */
struct perfdata_own {
    uint64_t bit;
    struct perfdata_section section;
};

/* A build-id's header.misc: the byte behind its 20 says how many of them count. */
#define PERFDATA_MISC_BUILD_ID_SIZE (1u << 15)

/* The ledger's first line. More lines "key value" follow; a reader skips keys that it does not know. */
#define PERFDATA_LEDGER_1 "reckon-ledger 1"

#endif

/*
 * reckon/reckon.h: count and sample what programs do to the machine.
 *
 * 1. Count a region of your own code, five lines:                               reckon/set.h
 *
 *        struct rk_set *set;  struct rk_value v[2];
 *        rk_set_self("instructions,page-faults", &set, NULL);
 *        rk_set_enable(set);  work();  rk_set_disable(set);
 *        rk_set_total(set, v, 2);
 *        rk_set_free(set);
 *
 *    Or mark it, and count when the environment asks for it: RK_REGION("parse");    reckon/region.h
 *
 * 2. Count or sample anything else: say what (event.h), on whom (target.h), open it (set.h), read
 *    counts, or records as they come (stream.h), or record a file (capture.h).
 *
 * 3. Make sense of it: metrics (metric.h), repeated measurements compared (stats.h), mappings (image.h),
 *    stacks (unwind.h), names (symbol.h), profiles (profile.h), files for other tools (export.h). When
 *    something can't be measured: explain.h and doctor.h.
 *
 * Rules that hold everywhere:
 *   - 0 or a positive number is success, -errno is failure; results are untouched on failure.
 *   - Structs that begin with `size` want it set to their sizeof by the caller, in options and in results
 *     alike. What an older library does not know in an options struct must be zero, else -E2BIG.
 *   - Handles are opaque, freed by their _close or _free, which take NULL and return NULL.
 *   - NULL where a handle, a text or a result is wanted and the header does not allow it: -EINVAL; counts give
 *     0, texts "". Not in hot calls, where it is undefined: rk_set_enable, _disable, _read, _total,
 *     rk_value_scale, rk_stream_next, _release, _sample, rk_image_find, rk_unwinder_sample, rk_record_…, rk_sample_read.
 *   - One handle, one thread at a time; distinct handles are independent.
 *   - The library never prints, exits, installs signal handlers, or changes the caller's affinity; only regions write
 *     a report, where the environment asks for one.
 *   - Until 1.0 the ABI may change; the soname says so.
 */
#ifndef RECKON_RECKON_H
#define RECKON_RECKON_H

#include <reckon/capture.h>
#include <reckon/doctor.h>
#include <reckon/error.h>
#include <reckon/event.h>
#include <reckon/explain.h>
#include <reckon/export.h>
#include <reckon/host.h>
#include <reckon/image.h>
#include <reckon/list.h>
#include <reckon/metric.h>
#include <reckon/module.h>
#include <reckon/profile.h>
#include <reckon/record.h>
#include <reckon/region.h>
#include <reckon/rows.h>
#include <reckon/set.h>
#include <reckon/sink.h>
#include <reckon/stats.h>
#include <reckon/stream.h>
#include <reckon/symbol.h>
#include <reckon/target.h>
#include <reckon/unwind.h>

#endif

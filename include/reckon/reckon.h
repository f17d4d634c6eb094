/*
 * reckon/reckon.h: counts and samples what programs do to the machine.
 *
 * 1. Count a region of your own code in five lines:                             reckon/set.h
 *
 *        struct rk_set *set = NULL;  struct rk_value v;
 *        rk_set_self("instructions,page-faults", &set, NULL);
 *        rk_set_enable(set);  work();  rk_set_disable(set);
 *        if (rk_set_value(set, "instructions", &v) == 0) printf("%" PRIu64 "\n", v.value);
 *        rk_set_free(set);
 *
 *    Or name the region, and let the environment say what to count: RK_REGION("parse");    reckon/region.h
 *
 * 2. Count or sample anything else. Say what (event.h) and whom (target.h), and open it (set.h). Then read
 *    counts, read records one by one (stream.h), or record to a file (capture.h). Samples of your own go to
 *    a file by recording.h.
 *
 * 3. Evaluate it: metrics (metric.h), repeated measurements compared (stats.h), mappings (image.h), stacks
 *    (unwind.h), names (symbol.h), profiles (profile.h), files for other tools (export.h). If something is
 *    not measured, explain.h and doctor.h say why.
 *
 * These rules hold everywhere; docs/api.md has all of them:
 *   - A function returns 0 or a positive number on success and -errno on failure. Results are untouched on
 *     failure.
 *   - A struct that begins with `size` needs it set by the caller, in options and in results alike: RK_INIT
 *     does it. Options that a library does not know must be zero, else it returns -E2BIG.
 *   - Handles are opaque. _free releases a handle, takes NULL and returns NULL.
 *   - A NULL that the header does not allow gives -EINVAL; a count of NULL is 0, a text "". Calls whose
 *     comment says "Hot" don't check.
 *   - Use a handle from one thread at a time. Distinct handles are independent.
 *   - The library never prints, never exits, installs no signal handler and leaves the caller's affinity
 *     alone. Only regions write a report, if the environment asks for one.
 *   - Until 1.0 the ABI may change. The soname changes with it.
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
#include <reckon/names.h>
#include <reckon/profile.h>
#include <reckon/record.h>
#include <reckon/recording.h>
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

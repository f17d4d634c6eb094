/*
 * Probes: an event wherever a function is entered, or left.
 *
 *     kprobe:vfs_read  kprobe:vfs_read+0x10  kprobe:0xffffffff81234560      kretprobe: the same, at its return
 *     uprobe:/bin/bash:readline  uprobe:/bin/bash:readline+4  uprobe:/bin/bash:0x4245c0      uretprobe:
 *
 * The kernel gets a text by pointer (rk_event.probe → attr.config1): the function, or the path, and a number
 * (config2): the offset in the function, the address where there is no function, the offset in the file. A symbol of a
 * file is resolved here, so that the canonical form of a uprobe has the offset.
 */
#include "base/error.h"
#include "event/number.h"
#include "event/parse.h"
#include "event/place.h"

#include <errno.h>
#include <inttypes.h>

struct kind {
    const char *prefix, *pmu;
    bool returns, user;
};

static const struct kind *kind_of(const char *at)
{
    static const struct kind kinds[] = {
        {"kprobe:", "kprobe", false, false},
        {"kretprobe:", "kprobe", true, false},
        {"uprobe:", "uprobe", false, true},
        {"uretprobe:", "uprobe", true, true},
    };

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strncmp(at, kinds[i].prefix, strlen(kinds[i].prefix)) == 0)
            return &kinds[i];
    return NULL;
}

/* Type and config from sysfs. */
static int ask_pmu(struct parser *p, const struct kind *kind, struct rk_event *event)
{
    const struct pmu_format *format = NULL;
    int rc;
    struct host_pmu *pmu = host_pmu_find(p->host, kind->pmu, &rc);

    if (!pmu)
        return parse_refuse(
            p, p->at, rc, RK_CAUSE_NO_PMU,
            kind->user ? "use a kernel built with CONFIG_UPROBE_EVENTS=y (4.17 or later)"
                       : "use a kernel built with CONFIG_KPROBE_EVENTS=y (4.17 or later)",
            "%s: this kernel has no %ss: there is no such PMU in /sys/bus/event_source/devices", kind->pmu,
            kind->pmu);
    rc = host_pmu_type(p->host, pmu, &event->type);
    if (rc < 0)
        return parse_unreadable(p, p->at, pmu, "type", rc);
    if (kind->returns) {
        rc = host_pmu_format(p->host, pmu, "retprobe", 8, &format);
        if (rc < 0)
            return parse_unreadable(p, p->at, pmu, "retprobe", rc);
        event->config = format->mask & -format->mask;
    }
    event->pmu = kind->pmu;
    return 0;
}

static int in_kernel(struct parser *p, const struct kind *kind, const char *at, struct event_item *item,
                     const char **ret_end)
{
    struct part part;
    int rc = part_take(p, at, "a function of the kernel, or an address", "/", &part);

    if (rc < 0)
        return rc;
    uint64_t offset, address;
    size_t n = part_offset(&part, &offset);
    if (number_parse(part.text, n, &address) == 0) {
        item->event.config2 = address + offset;
        item->body = parse_text(p, "%s%#" PRIx64, kind->prefix, item->event.config2);
    } else {
        char *function = parse_text(p, "%.*s", (int)n, part.text);
        char *whole = !function ? NULL
                      : offset || strchr(function, '+') /* or the name's end would be taken for the offset */
                          ? parse_text(p, "%s+%#" PRIx64, function, offset)
                          : function;
        char *shown = whole ? part_print(p, whole, "/") : NULL;
        if (!shown)
            return -ENOMEM;
        item->event.probe = function;
        item->event.config2 = offset;
        item->body = parse_text(p, "%s%s", kind->prefix, shown);
    }
    *ret_end = part.end;
    return item->body ? 0 : -ENOMEM;
}

static int in_file(struct parser *p, const struct kind *kind, const char *at, struct event_item *item,
                   const char **ret_end)
{
    struct part path, part;
    struct place place;
    int rc = part_take(p, at, "the path of a program or library", "", &path);

    if (rc < 0)
        return rc;
    if (*path.end != ':')
        return parse_fail(p, path.end, "expected ':' and a function or an offset in the file");
    rc = part_take(p, path.end + 1, "a function, or an offset in the file", "/", &part);
    char *full = rc == 0 ? place_path(p, &path, &rc) : NULL;
    if (!full)
        return rc;
    if (number_parse(part.text, part.n, &item->event.config2) < 0) {
        uint64_t offset;
        size_t n = part_offset(&part, &offset);
        rc = place_in_file(p, full, at, part.text, n, &place);
        if (rc < 0)
            return rc;
        if (!place.in_file)
            return parse_refuse(p, part.text, -EINVAL, RK_CAUSE_UNSUPPORTED, NULL, "%.*s is data, not code",
                                (int)n, part.text);
        item->event.config2 = place.offset + offset;
    }
    item->event.probe = full;
    char *shown = part_print(p, full, "");
    item->body = shown ? parse_text(p, "%s%s:%#" PRIx64, kind->prefix, shown, item->event.config2) : NULL;
    *ret_end = part.end;
    return item->body ? 0 : -ENOMEM;
}

int read_probe(struct parser *p)
{
    const struct kind *kind = kind_of(p->at);
    const char *end = p->at;
    int rc;

    if (!kind)
        return 0;
    struct event_item *item = parse_add(p, &rc);
    if (!item)
        return rc;
    rc = ask_pmu(p, kind, &item->event);
    if (rc == 0)
        rc = (kind->user ? in_file : in_kernel)(p, kind, p->at + strlen(kind->prefix), item, &end);
    if (rc < 0)
        return rc;
    p->at = end;
    return 1;
}

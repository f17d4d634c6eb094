#include "profile/chain.h"

#define MODE_USER 2u

/* The mode, as header.misc says it, of what follows a marker; 0: not known. */
static uint32_t marker_mode(uint64_t marker)
{
    switch (marker) {
    case RK_CHAIN_KERNEL:
        return 1;
    case RK_CHAIN_USER:
        return MODE_USER;
    case RK_CHAIN_HYPERVISOR:
        return 3;
    case RK_CHAIN_GUEST_KERNEL:
        return 4;
    case RK_CHAIN_GUEST_USER:
        return 5;
    default:
        return 0;
    }
}

size_t chain_of_branches(const struct rk_sample *sample, uint64_t *ret)
{
    uint64_t chain_n = sample->present & RK_SAMPLE_CALLCHAIN ? sample->chain_n : 0, user = 0;
    size_t n = 0;

    if (!(sample->present & RK_SAMPLE_BRANCH_STACK) || !sample->branches || sample->branch_n == 0)
        return 0;
    while (user < chain_n && sample->chain[user] != RK_CHAIN_USER)
        ret[n++] = sample->chain[user++];
    ret[n++] = RK_CHAIN_USER;
    /* Where it was; a kernel that followed no chain says no more than where its function begins. */
    bool known = user + 1 < chain_n && sample->chain[user + 1] < RK_CHAIN_MAX;
    ret[n++] = known ? sample->chain[user + 1] : sample->branches[0].to;
    for (uint64_t i = 0; i < sample->branch_n; i++)
        if (sample->branches[i].from != 0)
            ret[n++] = sample->branches[i].from;
    return n;
}

size_t chain_addresses(const struct rk_sample *sample, uint16_t misc, bool unwound, bool raw, uint64_t *ret)
{
    uint64_t chain_n = sample->present & RK_SAMPLE_CALLCHAIN ? sample->chain_n : 0;
    bool has_ip = sample->present & RK_SAMPLE_IP;
    uint32_t own = misc & RK_MISC_MODE, mode = 0;
    bool first = true;       /* of its mode */
    bool innermost = has_ip; /* the next entry may be the sampled address again */
    size_t n = 0;

    if (has_ip)
        ret[n++] = sample->ip;
    for (uint64_t i = 0; i < chain_n; i++) {
        uint64_t at = sample->chain[i];
        if (at >= RK_CHAIN_MAX) {
            mode = marker_mode(at);
            first = true;
            i += at == RK_CHAIN_USER_DEFERRED; /* a cookie follows, for the stack that comes later */
        } else if (first) {
            if (!innermost || (mode && own && mode != own))
                ret[n++] = at;
            first = innermost = false;
        } else if (at != 0) { /* nothing returns to 0: it ends a chain */
            ret[n++] = at - !(raw || (unwound && mode == MODE_USER));
        }
    }
    return n;
}

/* An SPE buffer: packets, then operations. Each walk ends, in as many steps as there are bytes. */
#include "fuzz.h"

#include <reckon/record.h>

#include <errno.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct rk_spe_packet packet;
    struct rk_spe spe = {.size = sizeof spe};
    uint64_t at = 0, steps = 0, before = 0;
    char text[256];
    int r;

    while ((r = rk_spe_packet(data, size, &at, &packet)) != 0 && r != -ENODATA) {
        HOLDS(r == 1 || r == -EBADMSG);
        HOLDS(at > before && at <= size && ++steps <= size);
        HOLDS(r < 0 || packet.bytes == at - before);
        before = at;
    }
    for (at = before = steps = 0; (r = rk_spe_next(data, size, &at, &spe)) != 0 && r != -ENODATA;
         before = at) {
        HOLDS(r == 1 || r == -EBADMSG);
        HOLDS(at > before && at <= size && ++steps <= size);
        if (r == 1)
            HOLDS(spe.present && rk_spe_events_text(spe.events, text, sizeof text) >= 0);
    }
    return 0;
}

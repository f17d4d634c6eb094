/*
 * Arm's Statistical Profiling Extension: what its PMU writes to the AUX area.
 *
 *     packet     header (1 byte, or 0x20 … 0x23 and a second) | payload of 0, 1, 2, 4 or 8 bytes
 *
 *     0000 0000              padding                  0111 0001   timestamp, 8 bytes
 *     0000 0001              end                      01ss 0010   events      ss: payload of 1 << ss bytes
 *     0010 ssss 0000 0000    up to an alignment       01ss 0011   data source
 *     0110 01ii              context i, 4 bytes       0100 10cc   operation of class c, 1 byte
 *     1011 0iii              address i, 8 bytes       1001 1iii   counter i, 2 bytes
 *     0010 00ii 1011 0iii    address, its index's upper two bits first; so with a counter
 *
 * An operation's packets end with a timestamp or an end. Alignment counts from the buffer's beginning.
 */
#include "base/cursor.h"
#include "base/error.h"
#include "record/say.h"

#include <reckon/record.h>

#include <errno.h>

/* What a header says: the packet's kind, index and the sizes of header and payload. False: it is none. */
struct shape {
    uint32_t kind, index, header;
    uint64_t payload;
};

static bool short_shape(uint8_t h, struct shape *ret)
{
    uint64_t sized = UINT64_C(1) << (h >> 4 & 3);

    if (h == 0x00)
        *ret = (struct shape){RK_SPE_PADDING, 0, 1, 0};
    else if (h == 0x01)
        *ret = (struct shape){RK_SPE_END, 0, 1, 0};
    else if (h == 0x71)
        *ret = (struct shape){RK_SPE_TIMESTAMP, 0, 1, 8};
    else if ((h & 0xcf) == 0x42)
        *ret = (struct shape){RK_SPE_EVENTS, 0, 1, sized};
    else if ((h & 0xcf) == 0x43)
        *ret = (struct shape){RK_SPE_SOURCE, 0, 1, sized};
    else if ((h & 0xfc) == 0x64)
        *ret = (struct shape){RK_SPE_CONTEXT, h & 3u, 1, 4};
    else if ((h & 0xfc) == 0x48)
        *ret = (struct shape){RK_SPE_OPERATION, h & 3u, 1, 1};
    else if ((h & 0xf8) == 0xb0)
        *ret = (struct shape){RK_SPE_ADDRESS, h & 7u, 1, 8};
    else if ((h & 0xf8) == 0x98)
        *ret = (struct shape){RK_SPE_COUNTER, h & 7u, 1, 2};
    else
        return false;
    return true;
}

/* The second byte of a long header; `at` is where the packet begins. */
static bool long_shape(uint8_t first, uint8_t second, uint64_t at, struct shape *ret)
{
    if (second == 0) {
        uint64_t alignment = UINT64_C(1) << ((first & 0xfu) + 1);
        uint64_t bytes = alignment - (at & (alignment - 1));
        *ret = (struct shape){RK_SPE_PADDING, 0, 2, bytes < 2 ? 0 : bytes - 2};
        return true;
    }
    if ((first & 0xfc) != 0x20 || ((second & 0xf8) != 0xb0 && (second & 0xf8) != 0x98))
        return false;
    short_shape(second, ret);
    ret->index |= (first & 3u) << 3;
    ret->header = 2;
    return true;
}

int rk_spe_packet(const unsigned char *bytes, uint64_t n, uint64_t *at, struct rk_spe_packet *ret)
{
    if (!bytes || !at || !ret)
        return -EINVAL;
    if (*at >= n)
        return 0;
    struct cursor c = cursor_of(bytes + *at, (size_t)(n - *at));
    struct shape shape;
    uint8_t first = cursor_u8(&c);

    if (!short_shape(first, &shape)) {
        bool extended = (first & 0xf0) == 0x20;
        if (extended && !cursor_left(&c))
            return -ENODATA;
        if (!extended || !long_shape(first, cursor_u8(&c), *at, &shape)) {
            ++*at;
            return -EBADMSG;
        }
    }
    uint64_t left = cursor_left(&c);
    if (shape.payload > left) {
        if (shape.kind != RK_SPE_PADDING)
            return -ENODATA;
        shape.payload = left; /* a buffer may end inside its padding */
    }
    uint64_t value = 0;
    const unsigned char *payload = cursor_bytes(&c, shape.payload);
    if (shape.kind != RK_SPE_PADDING)
        memcpy(&value, payload, shape.payload);
    *ret = (struct rk_spe_packet){shape.kind, shape.index, value, shape.header + shape.payload};
    *at += ret->bytes;
    return 1;
}

#define ADDRESS_BITS UINT64_C(0x00ffffffffffffff)

/* 56 bits of a virtual address: the kernel's half has its bit 55 set. */
static uint64_t virtual_address(uint64_t value)
{
    value &= ADDRESS_BITS;
    return value >> 55 & 1 ? value | ~ADDRESS_BITS : value;
}

static void take_address(struct rk_spe *spe, const struct rk_spe_packet *packet)
{
    switch (packet->index) {
    case 0:
        spe->pc = virtual_address(packet->value);
        spe->level = (uint32_t)(packet->value >> 61 & 3);
        spe->present |= RK_SPE_HAS_PC;
        break;
    case 1:
        spe->target = virtual_address(packet->value);
        spe->present |= RK_SPE_HAS_TARGET;
        break;
    case 2: /* its top byte is a tag, which the program put there */
        spe->address = virtual_address(packet->value);
        spe->present |= RK_SPE_HAS_ADDRESS;
        break;
    case 3:
        spe->physical = packet->value & ADDRESS_BITS;
        spe->present |= RK_SPE_HAS_PHYSICAL;
        break;
    case 4:
        spe->previous_target = virtual_address(packet->value);
        spe->present |= RK_SPE_HAS_PREVIOUS;
        break;
    default:
        break;
    }
}

static void take_counter(struct rk_spe *spe, const struct rk_spe_packet *packet)
{
    uint32_t value = (uint32_t)packet->value;

    switch (packet->index) {
    case 0:
        spe->latency = value;
        spe->present |= RK_SPE_HAS_LATENCY;
        break;
    case 1:
        spe->issue = value;
        spe->present |= RK_SPE_HAS_ISSUE;
        break;
    case 2:
        spe->translation = value;
        spe->present |= RK_SPE_HAS_TRANSLATION;
        break;
    default:
        break;
    }
}

/* True: the operation is complete. */
static bool take_packet(struct rk_spe *spe, const struct rk_spe_packet *packet)
{
    switch (packet->kind) {
    case RK_SPE_ADDRESS:
        take_address(spe, packet);
        break;
    case RK_SPE_COUNTER:
        take_counter(spe, packet);
        break;
    case RK_SPE_EVENTS:
        spe->events = packet->value;
        spe->present |= RK_SPE_HAS_EVENTS;
        break;
    case RK_SPE_SOURCE:
        spe->source = packet->value;
        spe->present |= RK_SPE_HAS_SOURCE;
        break;
    case RK_SPE_CONTEXT:
        spe->context = packet->value;
        spe->present |= RK_SPE_HAS_CONTEXT;
        break;
    case RK_SPE_OPERATION:
        spe->operation_class = packet->index;
        spe->operation = (uint32_t)packet->value;
        spe->present |= RK_SPE_HAS_OPERATION;
        break;
    case RK_SPE_TIMESTAMP:
        spe->time = packet->value;
        spe->present |= RK_SPE_HAS_TIME;
        return true;
    case RK_SPE_END:
        return spe->present != 0;
    default:
        break;
    }
    return false;
}

int rk_spe_next(const unsigned char *bytes, uint64_t n, uint64_t *at, struct rk_spe *ret)
{
    struct rk_spe spe = {0};
    struct rk_spe_packet packet;
    int r;

    if (!bytes || !at || !ret)
        return -EINVAL;
    uint64_t place = *at;

    while ((r = rk_spe_packet(bytes, n, &place, &packet)) == 1)
        if (take_packet(&spe, &packet)) {
            *at = place;
            r = result_give(ret, &spe, sizeof spe);
            return r < 0 ? r : 1;
        }
    if (r == 0 && spe.present == 0) {
        *at = place;
        return 0;
    }
    if (r == -EBADMSG)
        *at = place;
    return r == -EBADMSG ? r : -ENODATA;
}

int rk_spe_events_text(uint64_t events, char *buffer, size_t n)
{
    static const char *const names[] = {"exception",
                                        "retired",
                                        "L1D-access",
                                        "L1D-refill",
                                        "TLB-access",
                                        "TLB-walk",
                                        "not-taken",
                                        "mispredicted",
                                        "LLC-access",
                                        "LLC-miss",
                                        "remote-access",
                                        "unaligned",
                                        NULL,
                                        NULL,
                                        NULL,
                                        NULL,
                                        NULL,
                                        "partial-predicate",
                                        "empty-predicate"};
    if (!buffer && n)
        return -EINVAL;
    struct say say = say_begin(buffer, n);

    say_bits(&say, events, names, sizeof names / sizeof *names);
    return say_end(&say);
}

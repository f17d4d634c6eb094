#include "stream/ledger.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

/* The next word of a line; 0: there is none. */
static size_t word(const char **at, const char *end, const char **ret)
{
    while (*at < end && **at == ' ')
        ++*at;
    *ret = *at;
    while (*at < end && **at != ' ')
        ++*at;
    return (size_t)(*at - *ret);
}

static bool word_is(const char *at, size_t n, const char *text)
{
    return n == strlen(text) && memcmp(at, text, n) == 0;
}

static bool number(const char **at, const char *end, uint64_t *ret)
{
    const char *digits;
    size_t n = word(at, end, &digits);
    uint64_t value = 0;

    if (n == 0)
        return false;
    for (size_t i = 0; i < n; i++) {
        unsigned digit = (unsigned)(digits[i] - '0');
        if (digit > 9 || __builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, digit, &value))
            return false;
    }
    *ret = value;
    return true;
}

static int event_line(struct ledger *ledger, const char *at, const char *end, size_t n_events)
{
    struct rk_loss loss = {.size = sizeof loss};
    uint64_t index, value;
    const char *key;
    size_t n;

    if (!number(&at, end, &index) || index >= n_events)
        return 0;
    while ((n = word(&at, end, &key)) && number(&at, end, &value)) {
        if (word_is(key, n, "kept")) {
            loss.kept = value;
        } else if (word_is(key, n, "lost")) {
            loss.lost = value;
            loss.present |= RK_LOSS_LOST;
        } else if (word_is(key, n, "skipped")) {
            loss.skipped = value;
            loss.present |= RK_LOSS_SKIPPED;
        } else if (word_is(key, n, "throttled")) {
            loss.throttled = value;
        } else if (word_is(key, n, "records-lost")) {
            loss.records_lost = value;
        }
    }
    while (ledger->events.n <= index)
        if (!vector_push(&ledger->events))
            return -ENOMEM;
    ledger->events.items[index] = (struct ledger_event){true, loss};
    return 0;
}

static void stacks_line(struct ledger_stacks *stacks, const char *at, const char *end)
{
    uint64_t value;
    const char *key;
    size_t n;

    while ((n = word(&at, end, &key)) && number(&at, end, &value)) {
        uint64_t *to = word_is(key, n, "whole")    ? &stacks->whole
                       : word_is(key, n, "cut")    ? &stacks->cut
                       : word_is(key, n, "broken") ? &stacks->broken
                       : word_is(key, n, "joined") ? &stacks->joined
                                                   : NULL;
        if (to)
            *to = value;
    }
}

int ledger_read(struct ledger *ledger, const char *text, size_t n_events)
{
    ledger->clean = ledger->ordered = false;
    ledger->stacks = (struct ledger_stacks){0};
    ledger->events.n = 0;
    ledger->made = 0;
    while (*text) {
        const char *end = strchrnul(text, '\n'), *at = text, *key;
        size_t n = word(&at, end, &key);
        uint64_t value;

        if (word_is(key, n, "event")) {
            int r = event_line(ledger, at, end, n_events);
            if (r < 0)
                return r;
        } else if (word_is(key, n, "stacks")) {
            stacks_line(&ledger->stacks, at, end);
        } else if (word_is(key, n, "clean")) {
            ledger->clean = number(&at, end, &value) && value;
        } else if (word_is(key, n, "ordered")) {
            ledger->ordered = number(&at, end, &value) && value;
        } else if (word_is(key, n, "made")) {
            ledger->made = number(&at, end, &value) ? value : 0;
        }
        text = *end ? end + 1 : end;
    }
    return 0;
}

void ledger_free(struct ledger *ledger)
{
    vector_free(&ledger->events);
}

void ledger_event_print(uint32_t event, const struct rk_loss *loss, char buffer[static LEDGER_LINE_MAX])
{
    char lost[32] = "", skipped[32] = "";

    if (loss->present & RK_LOSS_LOST)
        snprintf(lost, sizeof lost, " lost %" PRIu64, loss->lost);
    if (loss->present & RK_LOSS_SKIPPED)
        snprintf(skipped, sizeof skipped, " skipped %" PRIu64, loss->skipped);
    snprintf(buffer, LEDGER_LINE_MAX,
             "%" PRIu32 " kept %" PRIu64 "%s%s throttled %" PRIu64 " records-lost %" PRIu64, event,
             loss->kept, lost, skipped, loss->throttled, loss->records_lost);
}

/*
 * The ledger of a recording: what was kept and what was not, as the recorder knew it at the end. It stands in
 * the file's feature bit 255 as lines of text, after perfdata's own first line:
 *
 *     clean 1                            the recording was closed properly
 *     ordered 1                          its records are in the order of time
 *     made 1790000000000000000           ns since 1970, when the recorder opened the file
 *     stacks whole 3950 cut 12 broken 3 joined 7     of those that the recorder unwound
 *     event 0 kept 3965 lost 12 skipped 20 throttled 0 records-lost 14
 *
 * A word that is missing from an event's line is not known. Lines and words that a reader does not know are skipped.
 */
#ifndef STREAM_LEDGER_H
#define STREAM_LEDGER_H

#include "base/vector.h"

#include <reckon/stream.h>
#include <stdbool.h>

struct ledger_event {
    bool told; /* the ledger has a line for it */
    struct rk_loss loss;
};

struct ledger {
    bool clean, ordered;
    uint64_t made; /* 0: it does not say */
    struct ledger_stacks {
        uint64_t whole, cut, broken, joined;
    } stacks;
    VECTOR(struct ledger_event) events; /* by index, at most as many as the file has events */
};

/* Reads the lines; what makes no sense is skipped. `n_events`: lines of later events are skipped. 0 or -ENOMEM. */
int ledger_read(struct ledger *ledger, const char *text, size_t n_events);
void ledger_free(struct ledger *ledger);

/* The value of an event's line, behind "event ". The buffer holds the longest. */
#define LEDGER_LINE_MAX 200
void ledger_event_print(uint32_t event, const struct rk_loss *loss, char buffer[static LEDGER_LINE_MAX]);

#endif

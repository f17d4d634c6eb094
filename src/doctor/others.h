/*
 * Processes of other users.
 */
#ifndef DOCTOR_OTHERS_H
#define DOCTOR_OTHERS_H

#include <reckon/host.h>

/* Up to `room` process ids, as /proc lists them, whose user is not ours; how many. */
size_t others_find(struct rk_host *host, int32_t *ret, size_t room);

#endif

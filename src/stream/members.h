/*
 * Leader sampling ({a,b}:S): of a group the leader alone is sampled, and its samples carry the counts of all. Read from a
 * file, each member that counted since the sample before becomes a sample of its own, with the leader's fields and the
 * difference as its period, as perf has it. A live stream gives what the kernel writes.
 */
#ifndef STREAM_MEMBERS_H
#define STREAM_MEMBERS_H

#include <reckon/stream.h>

struct rk_stream;
struct members;

/* The next sample of a member; NULL: none is left. Valid until the next call. */
const struct rk_record *members_next(struct members *members);

/* Looks at a record of the file that is due. Returns 1 and *ret, which is to go out: the record itself, or the same with
 * the leader's difference; 0: it counted nothing; -ENOMEM. */
int members_take(struct rk_stream *stream, const struct rk_record *record, const struct rk_record **ret);

/* Gives a sample that came from here its period and id. */
void members_sample(const struct members *members, const struct rk_record *record, struct rk_sample *sample);

struct members *members_free(struct members *members);

#endif

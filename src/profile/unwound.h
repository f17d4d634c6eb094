/*
 * Samples whose user part is registers and stack bytes (perf record --call-graph dwarf, reckon record --keep-stacks):
 * unwound when they are read. One unwinder, opened for the first of them, for the machine that the recording says.
 */
#ifndef PROFILE_UNWOUND_H
#define PROFILE_UNWOUND_H

#include "profile/builder.h"

/* Whether the user part of the sample's chain is addresses ready to be looked up: 1; 0: return addresses; or -errno.
 * A stored stack becomes the sample's chain, in memory of the builder's. */
int unwound_chain(struct rk_profile_builder *builder, const struct rk_stream *stream,
                  const struct rk_record *record, struct rk_sample *sample);

/* How stacks ended, whoever unwound them, for the summary. */
void unwound_summarise(const struct rk_profile_builder *builder, const struct rk_stream *stream,
                       struct rk_profile_summary *ret);

#endif

/*
 * Samples without a name, and why.
 */
#ifndef COMMAND_UNNAMED_H
#define COMMAND_UNNAMED_H

#include <reckon/profile.h>

/* Prints how many there are of a profile, by module and reason; nothing where all are named. `whose`: "before: " and the
 * like, or "". */
void unnamed_print(const struct rk_profile *profile, const char *whose);

/* Prints what can be done about it: the packages with the names of stripped files that have at least a hundredth of the
 * samples, the options of what makes code at run time. */
void unnamed_fixes(const struct rk_profile *profile);

#endif

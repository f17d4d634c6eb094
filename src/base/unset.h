/*
 * The build sets every variable to zero before its use (-ftrivial-auto-var-init, meson.build). For a large one in a hot
 * function that costs more than the function: UNSET leaves it as it is. Only for what is written before it is read.
 *
 *     UNSET uint64_t addresses[BATCH];
 */
#ifndef BASE_UNSET_H
#define BASE_UNSET_H

#if defined(__has_attribute) && __has_attribute(uninitialized)
#define UNSET __attribute__((uninitialized))
#else
#define UNSET
#endif

#endif

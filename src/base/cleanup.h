/*
 * Leaving a function early without leaking: _cleanup_(function) frees on scope exit, TAKE_PTR and TAKE_FD
 * hand ownership on.
 */
#ifndef BASE_CLEANUP_H
#define BASE_CLEANUP_H

#include <stdlib.h>

#define _cleanup_(function) __attribute__((cleanup(function)))

/* The value, and the variable no longer owns it. */
#define TAKE_PTR(pointer)                           \
    __extension__({                                 \
        __typeof__(pointer) *take_at_ = &(pointer); \
        __typeof__(pointer) take_ = *take_at_;      \
        *take_at_ = NULL;                           \
        take_;                                      \
    })
#define TAKE_FD(fd)            \
    __extension__({            \
        int *take_at_ = &(fd); \
        int take_ = *take_at_; \
        *take_at_ = -1;        \
        take_;                 \
    })

/* Defines NAME_cleanup(TYPE **), for _cleanup_, from a destructor that takes NULL. */
#define CLEANUP_FUNCTION(name, type, destroy)         \
    static inline void name##_cleanup(type **pointer) \
    {                                                 \
        destroy(*pointer);                            \
    }

static inline void free_cleanup(void *pointer)
{
    free(*(void **)pointer);
}
#define _cleanup_free_ _cleanup_(free_cleanup)

#endif

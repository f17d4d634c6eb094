/*
 * Handles of the library, closed when their scope ends:  handle_host struct rk_host *host = NULL;
 */
#ifndef COMMAND_HANDLES_H
#define COMMAND_HANDLES_H

#include <reckon/reckon.h>

#define HANDLE_(name, type, close)                 \
    static inline void name##_close(type **handle) \
    {                                              \
        close(*handle);                            \
    }
HANDLE_(handle_host, struct rk_host, rk_host_free)
HANDLE_(handle_events, struct rk_events, rk_events_free)
HANDLE_(handle_target, struct rk_target, rk_target_free)
HANDLE_(handle_set, struct rk_set, rk_set_free)
HANDLE_(handle_stream, struct rk_stream, rk_stream_free)
HANDLE_(handle_doctor, struct rk_doctor, rk_doctor_free)
HANDLE_(handle_list, struct rk_list, rk_list_free)
#undef HANDLE_

#define handle_host __attribute__((cleanup(handle_host_close)))
#define handle_events __attribute__((cleanup(handle_events_close)))
#define handle_target __attribute__((cleanup(handle_target_close)))
#define handle_set __attribute__((cleanup(handle_set_close)))
#define handle_stream __attribute__((cleanup(handle_stream_close)))
#define handle_doctor __attribute__((cleanup(handle_doctor_close)))
#define handle_list __attribute__((cleanup(handle_list_close)))

#endif

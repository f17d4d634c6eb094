/*
 * reckon._native: the library's handles as Python objects, over the public headers and the stable ABI (3.11).
 *
 * Thin on purpose: an object per handle, a method per call; manners are in Python (../reckon). What is here:
 *
 *     bell.c      Bell        waits that signals end; Flag
 *     host.c      Host        what the machine has: PMUs, events, doctor
 *     target.c    Target      who is measured
 *     set.c       Set         open counters
 *     reading.c   Reading     what a read gave; Estimate, of many
 *     stream.c    Stream      records as columns
 *     capture.c   Capture     a recording
 *     profile.c   Profile     where the time goes
 *     builder.c   Builder     a live stream's records become a Profile
 *     symbol.c    Symbolizer  names for addresses
 *     region.c    Region      what parts of a program cost
 *     stats.c     what repeated measurements say
 *
 * An object keeps alive what its handle stands on (a Set its Host). A call that waits releases the interpreter's lock and
 * marks its object busy: another thread that uses it meanwhile gets RuntimeError, since a handle is for one thread at a
 * time. No type can be subclassed but Reading. A profile is immutable: threads
 * share it.
 */
#ifndef NATIVE_H
#define NATIVE_H

#include <Python.h>

#include <reckon/reckon.h>

struct state {
    PyObject *fail;    /* reckon._error.make */
    uint64_t began_ns; /* when the module was loaded, of CLOCK_REALTIME */
    uint64_t sets;     /* that were made */
    PyTypeObject *bell, *host, *target, *set, *reading, *estimate, *stream, *capture, *profile, *column,
        *symbolizer, *region;
};

struct host {
    PyObject_HEAD struct rk_host *handle;
};

struct target {
    PyObject_HEAD struct rk_target *handle;
    PyObject *host; /* NULL: needs none */
    int busy;
    Py_ssize_t users; /* recordings that wait for its end */
};

struct set {
    PyObject_HEAD struct rk_set *handle;
    PyObject *host, *names, *units, *scales;
    int on_cpus;           /* 1: its slots are CPUs, whoever runs there */
    PyTypeObject *reading; /* what read() makes: Reading or one made of it */
    Py_ssize_t n;          /* events */
    uint32_t *states;      /* of each, as it was read last */
    uint64_t serial;       /* of this process's sets */
    int32_t maker;         /* that process */
    Py_ssize_t users;      /* streams and captures that read it */
    int busy;              /* … one of them just now, without the interpreter's lock */
};

struct reading {
    PyObject_VAR_HEAD PyObject *set; /* whose events they are; of a pickled one, an object like it */
    uint64_t time;                   /* CLOCK_MONOTONIC, or of a difference how long, ns */
    Py_ssize_t shape[2];             /* for the buffer: events, 3 */
    struct rk_value value[];         /* … and behind them a byte for each event: its state */
};

/* A reading of n events of a set, zeroed, of a type that is Reading or made of it; NULL with MemoryError. */
struct reading *reading_make(PyTypeObject *type, PyObject *set, Py_ssize_t n);
/* The enum rk_state of each event. */
void reading_states(struct reading *reading, const uint32_t *from);

/* The stream's handle; NULL with an exception: it is closed, or in use. */
struct rk_stream *stream_usable(PyObject *o);
/* While it is read without the interpreter's lock (busy 1), nobody else uses it or its set. */
void stream_lend(PyObject *o, int busy);

/* A Profile of what a call has made; or raises what it says. */
PyObject *profile_wrap(struct state *state, int rc, const struct rk_error *e, struct rk_profile *handle);

/* CLOCK_MONOTONIC. */
uint64_t now_ns(void);

/* Waits until `fd` is readable (1) or it is time (0): -errno; -EINTR too where `bell` is readable. -1: no such descriptor. */
int wait_readable(int fd, int bell, uint64_t deadline);
/* What a Bell polls, -1 for None, NULL and one that is not entered; and what comes after it was readable. */
int bell_fd(PyObject *o);
void bell_hush(PyObject *o);

/* The value of the object's type's module. */
struct state *state_of(PyObject *self);
struct state *state_of_type(PyTypeObject *type);

/* Raises what `e` says (may be NULL: of `code`, -errno, alone); returns NULL. */
PyObject *raise_error(struct state *state, int code, const struct rk_error *e);
/* Raises ValueError: "… is closed". */
PyObject *raise_closed(const char *what);
/* Raises RuntimeError: used by two threads at once. */
PyObject *raise_busy(const char *what);

/* Text from outside: what is no UTF-8 is replaced. NULL gives None. */
PyObject *text(const char *s);
/* A number that `loss` has, or None where it does not know it; `bit`: RK_LOSS_… */
PyObject *loss_number(const struct rk_loss *loss, uint32_t bit, uint64_t value);
/* Text for the library, borrowed from the string; NULL with an exception: no string, or one with a null character. */
const char *plain(PyObject *string);
/* For PyArg_ParseTuple's O&: bytes without a null in them, or None, as a char *. */
int take_path(PyObject *from, void *ret);

/* Readies types with their methods; each adds its own to the module. 0 or -1 with an exception. */
int bell_ready(PyObject *module, struct state *state);
int host_ready(PyObject *module, struct state *state);
int target_ready(PyObject *module, struct state *state);
int reading_ready(PyObject *module, struct state *state);
int set_ready(PyObject *module, struct state *state);
int stream_ready(PyObject *module, struct state *state);
int capture_ready(PyObject *module, struct state *state);
int profile_ready(PyObject *module, struct state *state);
int builder_ready(PyObject *module, struct state *state);
int symbol_ready(PyObject *module, struct state *state);
int region_ready(PyObject *module, struct state *state);
int stats_ready(PyObject *module, struct state *state);

/* Makes a type of a spec, adds it to the module. */
PyTypeObject *add_type(PyObject *module, PyType_Spec *spec);

/* A new, zeroed object of a type; NULL with MemoryError. */
void *make(PyTypeObject *type);
/* Frees the memory of one: the last step of a tp_dealloc. */
void unmake(PyObject *self);

/* A bytes object that a sink fills, as export() functions do: bytes_sink() makes the sink, bytes_take() the object. */
struct gathered {
    char *data;
    size_t n, room;
};
struct rk_sink gathered_sink(struct gathered *to);
PyObject *gathered_take(struct gathered *from);

#endif
